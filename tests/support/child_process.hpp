#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch::test {

/// Asks `done` every few milliseconds. False when the deadline has passed first.
bool poll_until(const std::function<bool()>& done, std::chrono::steady_clock::time_point until);

/// A program, or a function, that runs as a process of its own and ends with its owner. One thread.
class child_process {
public:
  using clock = std::chrono::steady_clock;

  struct plan {
    std::vector<std::string> command;       ///< path of the program, then its arguments
    std::vector<std::string> environment{}; ///< "NAME=value", beside what is inherited
    std::function<void()> prepare{};        ///< called in the child: only what fork() allows
    bool keep_output = true;                ///< else it goes where ours goes
  };
  /// Errors: fork() or a file for the output. A program that cannot be run exits with 126 (no
  /// permission) or 127.
  static result<child_process> start(const plan& how);
  /// Forks; the child calls `body` and exits with 1, should it return. The caller has one thread.
  static result<child_process> run(const std::function<void()>& body);

  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&&) = delete;
  /// SIGTERM, and SIGKILL for who has not ended 5 s later.
  ~child_process();

  /// 0 once it has been waited for.
  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const noexcept;
  /// Its exit code, or 128 and the number of the signal that ended it; none while it still runs
  /// when the deadline has passed.
  std::optional<int> wait(clock::time_point until = clock::now());

  /// What it has written to stdout and stderr so far.
  std::string output() const;
  std::string error_output() const;

private:
  explicit child_process(pid_t pid) : pid_{pid} {}

  pid_t pid_;
  std::optional<int> code_;
  owned_fd output_; // unnamed files: nothing has to be read for the child to go on
  owned_fd error_;
};

} // namespace vmswitch::test
