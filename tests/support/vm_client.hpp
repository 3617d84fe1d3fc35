#pragma once

#include <functional>
#include <span>

#include "tests/support/frame_socket.hpp"
#include "tests/support/simulated_vm.hpp"

namespace vmswitch::test {

/// A simulated VM on a real socket.
class vm_client {
public:
  vm_client(simulated_vm vm, frame_socket socket)
      : vm_{std::move(vm)}, socket_{std::move(socket)} {}

  simulated_vm& vm() noexcept { return vm_; }
  const simulated_vm& vm() const noexcept { return vm_; }
  frame_socket& socket() noexcept { return socket_; }

  /// Called with every frame for this VM's own address or a group, after the VM has had it.
  void on_frame(frame_socket::visitor visit) { visit_ = std::move(visit); }

  /// Sends what a call of the VM returned: `client.send(client.vm().ping(target, vm_clock()))`.
  result<void> send(const simulated_vm::frames& frames);
  /// Hands the VM what has arrived, without waiting, and sends what it answers and what is due.
  result<void> serve();

private:
  simulated_vm vm_;
  frame_socket socket_;
  frame_socket::visitor visit_;
};

/// The time that simulated VMs on real sockets live by.
simulated_vm::time vm_clock();

/// Serves all clients until `done`, which is asked again whenever something has happened. False
/// when the deadline has passed first.
result<bool> serve_until(std::span<vm_client* const> clients, const std::function<bool()>& done,
                         frame_socket::deadline until);

} // namespace vmswitch::test
