#pragma once

#include <cstdint>
#include <string>

namespace vmswitch {

/// Something that a network's services have to say. Whoever writes the log limits it by kind.
struct service_note {
  enum class level : std::uint8_t { debug, info, warning } severity = level::info;
  const char* kind = ""; ///< one of a few names from the program text
  std::string text;
};

} // namespace vmswitch
