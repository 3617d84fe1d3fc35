#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vmswitch {

/// One mistake in a configuration file, and where it stands.
struct config_error {
  std::string file;
  std::size_t line = 0;   // from 1
  std::size_t column = 0; // from 1
  std::string key;        // "network.limits.macs"; empty where there is none
  std::string text;       // what is wrong and what would be right
};

/// "vm.toml:12:3: network.mtu: 100 is not ..."
std::string to_string(const config_error& mistake);

} // namespace vmswitch
