#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "app/config_error.hpp"
#include "app/settings.hpp"

namespace vmswitch {

/// Parses a configuration file (config/vmswitch.toml shows every key), reporting all mistakes at
/// once, in the order of the file.
///
/// `file` is the name for messages, and its folder is where relative paths of sockets and pidfile
/// start: a file means the same wherever the daemon was started. Pure: nothing is looked up on the
/// system. A network without a gateway gets the first address of its subnet; IPv6, which needs an
/// MTU of 1280 (RFC 8200, section 5), is off below that unless it is asked for, which is an error.
/// Two networks may use the same subnet: each has a NAT of its own.
tl::expected<daemon_settings, std::vector<config_error>> parse_config(std::string_view text,
                                                                      const std::string& file);

} // namespace vmswitch
