#include "app/control/capture_query.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace vmswitch {

namespace {

constexpr std::uint64_t most_seconds = 366 * 24 * 3600;

result<std::uint64_t> number(const std::string& name, const std::string& text, std::uint64_t least,
                             std::uint64_t most) {
  std::uint64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem != std::errc{} || stop != end || value < least || value > most)
    return fail(fmt::format("{} must be a number from {} to {}", name, least, most));
  return value;
}

} // namespace

result<capture_query>
parse_capture_query(const std::map<std::string, std::string, std::less<>>& parameters) {
  capture_query query;
  for (const auto& [name, value] : parameters) {
    result<std::uint64_t> read = 0;
    if (name == "network") {
      query.network = value;
    } else if (name == "port") {
      query.port = value;
    } else if (name == "filter") {
      query.filter = value;
    } else if (name == "snaplen") {
      if ((read = number(name, value, 14, query.snaplen)))
        query.snaplen = static_cast<std::uint32_t>(*read);
    } else if (name == "count") {
      if ((read = number(name, value, 1, std::numeric_limits<std::uint64_t>::max())))
        query.count = *read;
    } else if (name == "duration") {
      if ((read = number(name, value, 1, most_seconds)))
        query.duration = std::chrono::seconds{*read};
    } else {
      return fail("a capture has no such parameter; there are network, port, filter, snaplen, "
                  "count, duration");
    }
    if (!read)
      return tl::unexpected{read.error()};
  }
  return query;
}

} // namespace vmswitch
