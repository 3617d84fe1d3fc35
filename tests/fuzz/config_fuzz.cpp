// Any bytes as a configuration file: they are refused with mistakes that have a place, or accepted
// with settings that survive being printed and parsed again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/config_file.hpp"
#include "app/render_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmswitch;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto settings = parse_config(text, "fuzz.toml");
  if (!settings) {
    if (settings.error().empty())
      std::abort();
    for (const auto& mistake : settings.error())
      if (mistake.line == 0 || mistake.text.empty())
        std::abort();
    return 0;
  }
  const auto printed = render_config(*settings);
  const auto again = parse_config(printed, "fuzz.toml");
  if (!again || render_config(*again) != printed)
    std::abort();
  return 0;
}
