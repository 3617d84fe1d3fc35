#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <unistd.h>

#include "app/control/metrics.hpp"

namespace vmswitch {

process_usage measure_process() {
  process_usage found;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    for (const auto& time : {usage.ru_utime, usage.ru_stime})
      found.cpu_seconds +=
          static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  if (std::ifstream{"/proc/self/statm"} >> pages >> resident)
    found.resident_bytes = resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::error_code failure;
  for (std::filesystem::directory_iterator each{"/proc/self/fd", failure}, end;
       !failure && each != end; each.increment(failure))
    ++found.open_descriptors;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    found.most_descriptors = limit.rlim_cur;
  return found;
}

} // namespace vmswitch
