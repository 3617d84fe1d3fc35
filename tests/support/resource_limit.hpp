#pragma once

#include <sys/resource.h>

namespace vmswitch::test {

/// Lowers one of this process's limits while it exists: RLIMIT_AS and RLIMIT_NOFILE at 0 have the
/// system refuse all new memory and descriptors, and take away none.
class resource_limit {
public:
  // The type of RLIMIT_... is one thing in C and another in C++.
  resource_limit(int which, rlim_t most) : which_{which} {
    ::getrlimit(static_cast<decltype(RLIMIT_NOFILE)>(which_), &before_);
    const rlimit lowered{most, before_.rlim_max};
    ::setrlimit(static_cast<decltype(RLIMIT_NOFILE)>(which_), &lowered);
  }
  resource_limit(const resource_limit&) = delete;
  resource_limit& operator=(const resource_limit&) = delete;
  ~resource_limit() { ::setrlimit(static_cast<decltype(RLIMIT_NOFILE)>(which_), &before_); }

private:
  const int which_;
  rlimit before_{};
};

} // namespace vmswitch::test
