#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "vmnet/ip_packet.hpp"

namespace vmswitch {

/// What makes libslirp let go of a TCP connection with a VM: to be given to it as if the VM had
/// sent it. `from_vm.own` is the VM's side, `from_vm.peer` the other one as the VM sees it. Pure.
///
/// Theory of operation. libslirp has no call that ends a connection, and looks at sockets only that
/// it wants something from. It takes a reset from the VM with any sequence number up to 2^31 behind
/// the one that it expects (tcp_input.c trims what is old, then looks at RST), and drops it with
/// one ahead. Of two numbers that are 2^31 apart one is behind. A connection that there is no more
/// is none of the frames' concern: a reset is never answered.
std::array<std::vector<std::byte>, 2> forged_resets(const ip_path& from_vm);

} // namespace vmswitch
