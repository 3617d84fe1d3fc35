#include "app/suggestion.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_CASE("the nearest word is suggested for a letter too many, too few, wrong or swapped") {
  constexpr std::array<std::string_view, 3> words{"subnet", "gateway", "mtu"};
  CHECK(closest("subnett", words) == "subnet");
  CHECK(closest("subet", words) == "subnet");
  CHECK(closest("subnat", words) == "subnet");
  CHECK(closest("gatewya", words) == "gateway");
  CHECK(closest("mut", words) == "mtu");
  CHECK(closest("MTU", words) == "mtu");
}

TEST_CASE("nothing is suggested for a word that resembles none") {
  constexpr std::array<std::string_view, 2> words{"subnet", "mtu"};
  CHECK(closest("colour", words).empty());
  CHECK(closest("", words).empty());
  CHECK(closest("x", words).empty());
  CHECK(closest("mac", words).empty());
  CHECK(closest(std::string(100'000, 's'), words).empty());
  CHECK(did_you_mean("colour", words).empty());
}
