#include "tests/support/process_usage.hpp"

#include <vector>

#include <libproc.h>
#include <mach/mach_time.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace vmswitch::test {

std::optional<process_usage> usage_of(pid_t process) {
  rusage_info_v4 info{};
  if (::proc_pid_rusage(process, RUSAGE_INFO_V4, reinterpret_cast<rusage_info_t*>(&info)) != 0)
    return std::nullopt;
  mach_timebase_info_data_t base{};
  ::mach_timebase_info(&base);
  const double nanoseconds = static_cast<double>(info.ri_user_time + info.ri_system_time) *
                             static_cast<double>(base.numer) / static_cast<double>(base.denom);
  return process_usage{nanoseconds / 1e9,
                       static_cast<double>(info.ri_lifetime_max_phys_footprint) / 1048576.0};
}

std::optional<thread_usage> threads_of(pid_t process) {
  proc_taskinfo info{};
  if (::proc_pidinfo(process, PROC_PIDTASKINFO, 0, &info, sizeof info) != sizeof info)
    return std::nullopt;
  return thread_usage{static_cast<std::size_t>(info.pti_threadnum),
                      static_cast<std::uint64_t>(info.pti_csw)};
}

std::size_t descriptors_of(pid_t process) {
  std::vector<proc_fdinfo> all(4096);
  const int bytes = ::proc_pidinfo(process, PROC_PIDLISTFDS, 0, all.data(),
                                   static_cast<int>(all.size() * sizeof(proc_fdinfo)));
  return bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(proc_fdinfo) : 0;
}

pid_t peer_process(int fd) {
  pid_t peer = 0;
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &peer, &size) == 0 ? peer : 0;
}

} // namespace vmswitch::test
