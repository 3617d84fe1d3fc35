#pragma once

#include <vector>

#include "tests/bench/report/comparison.hpp"

namespace vmswitch::bench {

/// The comparisons that there are: what `contenders` do under `work`, or under variations of it.
/// @pre contenders is not empty
comparison throughput_of(const std::vector<contender>& contenders, const workload& work);
comparison latency_of(const std::vector<contender>& contenders, const workload& work);
/// One VM broadcasts to work.receivers others.
comparison fanout_of(const std::vector<contender>& contenders, const workload& work);
/// Each alone, then beside so many idle VMs, then beside so many that never read.
comparison neighbours_of(const std::vector<contender>& contenders, const workload& work,
                         const std::vector<int>& idle, const std::vector<int>& stuck);
/// The same number of frames a second, spread over so many ports.
comparison scale_of(const std::vector<contender>& contenders, const workload& work,
                    const std::vector<int>& ports);
/// From the host to one VM, and the same with a second, idle one. Contenders with a host's model.
comparison from_host_of(const std::vector<contender>& contenders, const workload& work);
/// Idle with so many ports.
comparison idle_of(const std::vector<contender>& contenders, const workload& work,
                   const std::vector<int>& ports);

} // namespace vmswitch::bench
