#pragma once

#include <cstdint>
#include <deque>

#include "tests/bench/vm/vm_client.hpp"
#include "tests/bench/work/workload.hpp"

namespace vmswitch::bench {

/// The simulated VMs of one run, each with a connection of its own.
struct lab {
  std::deque<vm_client> pairs;    // two neighbours talk to each other; or one to all others
  std::deque<vm_client> troubled; // a stuck VM, one that talks to it, and so on
  std::deque<vm_client> idle;

  /// Connects them all and lets the switch learn who will receive.
  result<void> plug_in(running_switch& tested, const workload& work);
  /// Ends every connection, so that threads in send() and receive() return.
  void shut_down() noexcept;

private:
  void settle();
  result<void> add(running_switch& tested, std::deque<vm_client>& group, std::size_t count);
  std::uint64_t next_address_ = 0x5254'00be'0001; // 52:54:00 is what QEMU's users take
};

} // namespace vmswitch::bench
