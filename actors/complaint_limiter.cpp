#include "actors/complaint_limiter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmswitch {

complaint_limiter::entry& complaint_limiter::find(std::string_view kind, clock::time_point now) {
  const auto found = std::ranges::find(entries_, kind, &entry::kind);
  if (found != entries_.end())
    return *found;
  if (entries_.size() == most_kinds)
    return entries_.back();
  return entries_.emplace_back(entry{std::string{kind}, now, 0, 0});
}

complaint_limiter::verdict complaint_limiter::judge(std::string_view kind, clock::time_point now) {
  auto& one = find(kind, now);
  if (now - one.begin >= interval_) {
    one.begin = now;
    one.said = 0;
  }
  if (one.said < most_) {
    ++one.said;
    return {true, std::exchange(one.suppressed, 0), false};
  }
  ++one.suppressed;
  return {false, 0, one.suppressed == 1};
}

std::vector<complaint_limiter::summary> complaint_limiter::take_suppressed(clock::time_point now) {
  std::vector<summary> told;
  for (auto& one : entries_) {
    if (one.suppressed > 0 && now - one.begin >= interval_)
      told.push_back({one.kind, std::exchange(one.suppressed, 0)});
  }
  return told;
}

std::string suppressed_note(std::size_t count) {
  return count == 0 ? std::string{} : fmt::format(" ({} more suppressed)", count);
}

} // namespace vmswitch
