#include "transport/descriptor_reserve.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/resource.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

bool only_reserve_left(int fd) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return false;
  // The system gives the lowest number that is free: all below are in use.
  const owned_fd lowest{::fcntl(fd, F_DUPFD_CLOEXEC, 0)};
  const auto reserve = std::min<rlim_t>(descriptor_reserve, limit.rlim_cur / 4);
  return !lowest || static_cast<rlim_t>(lowest.get()) >= limit.rlim_cur - reserve;
}

} // namespace vmswitch
