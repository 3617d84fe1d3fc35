#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vmswitch {

/// The candidate that `word` is most likely a misspelling of (letters inserted, left out, replaced
/// or swapped; case does not matter), or "" if none is close. For words of people, not for bulk.
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

/// "; did you mean "mode"?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

} // namespace vmswitch
