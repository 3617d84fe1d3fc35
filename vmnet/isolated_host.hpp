#pragma once

#include "vmnet/host_interface.hpp"

namespace vmswitch {

/// No host at all: VMs reach each other only. What is sent to it counts as accepted, since nobody
/// expects an answer; so a switch need not attach it.
class isolated_host final : public host_interface {
public:
  result<void> start(frame_sink&) override { return {}; }
  void stop() noexcept override {}
  int fd() const noexcept override { return -1; }
  result<bool> process() override { return false; }
  frame_tally write(const burst&) override { return {}; }
  mac_address address() const noexcept override { return {}; }
  std::string describe() const override;
};

} // namespace vmswitch
