#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/frame_socket.hpp"
#include "tests/support/temporary_folder.hpp"

namespace vmswitch::test {

/// Enough for a machine that is busy with other things; a test that works never waits so long.
inline frame_socket::deadline soon() {
  return frame_socket::clock::now() + std::chrono::seconds{30};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Sends until `to` has heard `from`. Ports are made after connect() has returned, so that first
/// frames may come too early.
inline bool hears(frame_socket& to, frame_socket& from) {
  const auto until = soon();
  bool heard = false;
  while (!heard && frame_socket::clock::now() < until) {
    if (!from.send(tagged_frame(broadcast_mac, vm_mac(1), 111), until) ||
        !to.receive(frame_socket::clock::now() + std::chrono::milliseconds{20},
                    [&](std::span<const std::byte> bare) { heard = heard || tag_of(bare) == 111; }))
      return false;
  }
  return heard;
}

/// Reads until the other side hangs up. False if it never does.
inline bool is_hung_up(frame_socket& vm) {
  const auto until = soon();
  while (frame_socket::clock::now() < until)
    if (!vm.receive(until, [](std::span<const std::byte>) {}))
      return true;
  return false;
}

/// vmswitchd in a folder of its own, with the socket "s" and the pidfile "pid".
class daemon_lab {
public:
  using words = std::vector<std::string>;

  std::string socket() const { return folder / "s"; }
  std::string pidfile() const { return folder / "pid"; }

  /// Starts vmswitchd with exactly these arguments.
  child_process start_with(words arguments, child_process::plan how = {}) const {
    how.command = std::move(arguments);
    how.command.insert(how.command.begin(), VMSWITCH_BIN_DIR "/vmswitchd");
    how.environment.push_back("VMSWITCH_CONTROL=none"); // unless told otherwise
    auto started = child_process::start(how);
    REQUIRE(started);
    return std::move(*started);
  }
  /// Starts it at socket() and waits until it is ready, which it says by the pidfile.
  child_process start(const words& more = {"--vmnet-mode=isolated"},
                      child_process::plan how = {}) const {
    words arguments{"--pidfile=" + pidfile(), socket()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto daemon = start_with(std::move(arguments), std::move(how));
    await_ready(daemon);
    return daemon;
  }
  void await_ready(child_process& daemon) const {
    poll_until([&] { return folder.has("pid") || daemon.wait(); }, soon());
    INFO(daemon.error_output());
    REQUIRE_FALSE(daemon.wait());
    REQUIRE(folder.has("pid"));
  }

  /// A daemon that is expected to end by itself: its exit code and what it said.
  struct outcome {
    int code = -1;
    std::string output;
    std::string error;
  };
  outcome run(words arguments, child_process::plan how = {}) const {
    auto daemon = start_with(std::move(arguments), std::move(how));
    const auto code = daemon.wait(soon());
    return {code.value_or(-1), daemon.output(), daemon.error_output()};
  }

  /// A VM at socket(), or at the socket of this name.
  frame_socket connect(const std::string& name = "s") const {
    auto made = frame_socket::stream(folder / name);
    REQUIRE(made);
    return std::move(*made);
  }

  const temporary_folder folder;
};

} // namespace vmswitch::test
