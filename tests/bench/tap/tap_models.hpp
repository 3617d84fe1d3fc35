#pragma once

#include <string>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch::bench {

/// A new TAP "NAME", or "NAME@PID" in the network namespace of that process.
result<owned_fd> open_tap(const std::string& where);

/// The limit that a switch is compared with: a blocking thread a direction copies frames between
/// two TAPs. Returns only when one of them breaks.
void run_tap_relay(int a, int b);

/// A namespace as a VM: frames of the TAP in wire form on a stream socket, as QEMU sends them, many
/// with one call where there are many.
void run_tap_vm(int tap, int socket);

} // namespace vmswitch::bench
