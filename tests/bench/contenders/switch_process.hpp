#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/child_process.hpp"
#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch::bench {

/// A Unix socket of `type` bound to `path` (a stale one is replaced); a stream socket listens.
result<owned_fd> bind_at(const std::string& path, int type);

/// A private folder (0700) with room for a socket and a pidfile, removed with its owner.
class private_folder {
public:
  static result<private_folder> create();
  private_folder(private_folder&& other) noexcept : path_{std::exchange(other.path_, {})} {}
  private_folder& operator=(private_folder&&) = delete;
  ~private_folder();
  std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
  explicit private_folder(std::string path) : path_{std::move(path)} {}
  std::string path_;
};

/// A switch under test in a process of its own, which ends with its owner.
using switch_process = test::child_process;

/// Runs a program and waits until all `signs` of being ready, files, are there.
result<switch_process> start_ready(const switch_process::plan& how,
                                   const std::vector<std::string>& signs);

/// Where a program is, looked for as a shell does; empty if it is not installed.
std::string program_path(const std::string& name);

} // namespace vmswitch::bench
