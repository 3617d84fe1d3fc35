#include "app/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace vmswitch {

namespace {

constexpr std::size_t longest_word = 64;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Optimal string alignment distance: a swap of neighbours counts as one mistake, since that is how
// people type.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + !same});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

} // namespace

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > longest_word)
    return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto candidate : candidates) {
    const auto mistakes = distance(word, candidate);
    if (mistakes < least) {
      least = mistakes;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const auto best = closest(word, candidates);
  return best.empty() ? std::string{} : fmt::format("; did you mean \"{}\"?", best);
}

} // namespace vmswitch
