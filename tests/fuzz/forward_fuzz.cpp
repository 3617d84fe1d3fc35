// Any bytes as a forward: refused with a reason, or rules that are printed and parsed again as
// they are.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "vmnet/forward/forward_rule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmswitch;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto rules = parse_forward(text);
  if (!rules && rules.error().text.empty())
    std::abort();
  if (rules)
    for (const auto& rule : *rules)
      if (const auto again = parse_forward(to_string(rule)); !again || again->front() != rule)
        std::abort();
  if (const auto listen = parse_forward_listen(text))
    if (parse_forward_listen(to_string(*listen)) != *listen)
      std::abort();
  return 0;
}
