#pragma once

#include <cstdint>
#include <random>

namespace vmswitch::test {

/// Random numbers that a failing test can be run with again: CAPTURE(random.seed()).
class seeded_random {
public:
  seeded_random() : seeded_random{std::random_device{}()} {}
  explicit seeded_random(std::uint32_t seed) : seed_{seed}, engine_{seed} {}

  std::uint32_t seed() const noexcept { return seed_; }
  /// 0 .. end-1
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(engine_() % end); }

private:
  std::uint32_t seed_;
  std::mt19937 engine_;
};

} // namespace vmswitch::test
