#pragma once

#include <string>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/daemon_lab.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch::test {

/// The service manager's part: it has one socket before the daemon runs, and keeps it.
class service_manager {
public:
  service_manager(std::string path, int type)
      : path_{std::move(path)}, socket_{::socket(AF_UNIX, type, 0)} {
    const auto address = unix_address::from_path(path_);
    REQUIRE(::bind(socket_.get(), address->data(), address->length()) == 0);
    REQUIRE((type != SOCK_STREAM || ::listen(socket_.get(), 64) == 0));
    REQUIRE(::chmod(path_.c_str(), 0640) == 0);
  }
  /// vmswitchd with the socket and these arguments.
  child_process start(daemon_lab::words arguments) const {
    child_process::plan how;
    std::string line = "exec env LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=vm.socket "
                       "VMSWITCH_CONTROL=none";
    arguments.insert(arguments.begin(), VMSWITCH_BIN_DIR "/vmswitchd");
    for (const auto& word : arguments)
      line += " '" + word + "'";
    how.command = {"/bin/sh", "-c", line};
    how.prepare = [fd = socket_.get()] {
      if (fd == 3 || ::dup2(fd, 3) == 3)
        return;
      ::_exit(99);
    };
    auto started = child_process::start(how);
    REQUIRE(started);
    return std::move(*started);
  }
  struct stat file() const {
    struct stat found {};
    REQUIRE(::lstat(path_.c_str(), &found) == 0);
    return found;
  }
  /// The daemon's socket: what is set here is set there.
  int fd() const noexcept { return socket_.get(); }

private:
  std::string path_;
  owned_fd socket_;
};

} // namespace vmswitch::test
