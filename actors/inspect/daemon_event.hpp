#pragma once

#include <string>

namespace vmswitch {

/// Something that happened, for those who watch. Plain data without CAF. Fields that have no
/// meaning are empty.
struct daemon_event {
  /// One of a few names from the program text, which openapi.json lists: "port_up".
  const char* type = "";
  std::string network;
  std::string port;
  std::string mac;
  std::string text;    ///< for people
  std::string alias{}; ///< of the port
};

} // namespace vmswitch
