#include "app/config_error.hpp"

#include <fmt/format.h>

namespace vmswitch {

std::string to_string(const config_error& mistake) {
  return fmt::format("{}:{}:{}: {}{}{}", mistake.file, mistake.line, mistake.column, mistake.key,
                     mistake.key.empty() ? "" : ": ", mistake.text);
}

} // namespace vmswitch
