#pragma once

#include <sys/socket.h>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/contenders/switch_process.hpp"

namespace vmswitch::bench {

/// A process behind one socket, to which all VMs connect.
class at_a_socket final : public running_switch {
public:
  at_a_socket(private_folder folder, switch_process process, int socket_type)
      : folder_{std::move(folder)}, process_{std::move(process)}, socket_type_{socket_type} {}

  static std::string socket_in(const private_folder& folder) { return folder.file("switch.sock"); }

  result<std::unique_ptr<medium>> plug_in() override;
  pid_t process() const noexcept override { return process_.pid(); }

private:
  private_folder folder_;
  switch_process process_;
  const int socket_type_;
  int vms_ = 0;
};

} // namespace vmswitch::bench
