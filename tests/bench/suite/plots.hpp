#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/comparison.hpp"
#include "transport/error.hpp"

namespace vmswitch::bench {

/// Writes throughput.svg (how much of the relay each switch reaches) and round-trip.svg into
/// `folder`, with gnuplot. The error says what is missing.
result<void> plot(const std::vector<comparison_result>& results, const std::string& folder);

} // namespace vmswitch::bench
