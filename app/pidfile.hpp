#pragma once

#include <string>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// The file by which others find and stop the daemon, and see that it is ready.
///
/// Theory of operation. People poll for this file and read it the moment it is there, so it appears
/// in one step, complete ("4711\n"), when the daemon is ready: it is written beside its place and
/// then linked there, which also never replaces anything. A running daemon holds flock() on it; a
/// file that nobody locks was left by one that was killed. Only such a file, with nothing but a
/// process id in it, is removed; a symbolic link is not followed.
class pidfile {
public:
  /// Makes sure, early, that the path is free and its folder ours to write to: fails (naming the
  /// process) if a daemon holds it or if something else is there, and removes a stale file, so that
  /// nobody takes it for readiness.
  static result<pidfile> acquire(std::string path);

  /// Writes the file, last of all. Fails if another daemon was faster or the folder is not
  /// writable; `code` is errno then.
  result<void> publish();

  pidfile(pidfile&&) noexcept = default;
  pidfile& operator=(pidfile&&) = delete;
  /// Removes the file if it was published and is still ours.
  ~pidfile();

private:
  explicit pidfile(std::string path) : path_{std::move(path)} {}

  std::string path_;
  owned_fd lock_; // of the published file
};

} // namespace vmswitch
