#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

namespace vmswitch::test {

struct process_usage {
  double cpu_seconds = 0;  // user and system time of all its threads so far
  double resident_mib = 0; // now
  double peak_resident_mib = 0;
};

/// Nothing if the process has gone or the system does not tell.
std::optional<process_usage> usage_of(pid_t process);

struct thread_usage {
  std::size_t threads = 0;
  std::uint64_t context_switches = 0; // of all of them so far, willing or not
};

/// Nothing if the process has gone or the system does not tell.
std::optional<thread_usage> threads_of(pid_t process);

/// How many descriptors it has open; 0 if it has gone or the system does not tell.
std::size_t descriptors_of(pid_t process);

/// The process that listens behind a connected Unix socket, or 0.
pid_t peer_process(int fd);

} // namespace vmswitch::test
