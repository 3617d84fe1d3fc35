#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/comparison.hpp"

namespace vmswitch::bench {

/// The comparisons of the suite, by the names that bars and plots know them by. Contenders that
/// cannot take part on this machine are left out; why is added to `absent`.
std::vector<comparison> plan_suite(const contender_options& switches, double seconds,
                                   std::vector<std::string>& absent);

} // namespace vmswitch::bench
