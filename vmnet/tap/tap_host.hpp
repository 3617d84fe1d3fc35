#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vmnet/host_config.hpp"
#include "vmnet/host_interface.hpp"
#include "vmnet/poll_set.hpp"
#include "vmnet/service_note.hpp"
#include "vmnet/tap/device_plan.hpp"
#include "vmnet/tap/kernel_router.hpp"
#include "vmnet/tap/network_watch.hpp"
#include "vmnet/tap/router_advertiser.hpp"
#include "vmnet/tap/rules_watch.hpp"
#include "vmnet/tap/tap_device.hpp"

namespace vmswitch {

/// The host's side by a network device: modes `host`, `shared` and `bridged`.
///
/// Theory of operation. The kernel does everything that a host does (ARP, ping, TCP, routing,
/// translation); we move frames between the device's descriptor and the switch. A TAP carries one
/// frame a call, in both directions: a batch is a loop to EAGAIN. Frames for VMs are read straight
/// into the sink's memory, a bounded share a call, so that other work is not kept waiting.
///
/// start() opens the device, does the steps of plan_device(), in mode `shared` makes the kernel
/// route (and follow the host's default routes), and announces the IPv6 prefix. Without
/// CAP_NET_ADMIN it works on a device that somebody had ready. stop() undoes it all. The device's
/// end is an error of process(), and may be followed by another start(). Rules and addresses of
/// ours that somebody removes meanwhile are made again, with a warning.
///
/// A frame that the kernel does not take (device down, queue full) is refused and counted. Offloads
/// (whole TCP segments, open checksums) would need metadata beside a frame, which a burst does not
/// have yet: the kernel is asked for plain frames.
class tap_host final : public host_interface {
public:
  explicit tap_host(const host_config& config) : config_{config} {}
  ~tap_host() override { stop(); }

  result<void> start(frame_sink& out) override;
  void stop() noexcept override;
  int fd() const noexcept override;
  result<bool> process() override;
  frame_tally write(const burst& frames) override;
  mac_address address() const noexcept override;
  std::string describe() const override;
  void on_notes(const std::function<void(const service_note&)>& tell) override { tell_ = tell; }

private:
  struct running {
    running(frame_sink& out, tap_device opened, poll_set set)
        : sink{out}, device{std::move(opened)}, polls{std::move(set)} {}
    frame_sink& sink;
    tap_device device;
    poll_set polls;
    mac_address mac;
    kernel_router router;
    std::optional<network_watch> network; // but in mode bridged
    std::optional<rules_watch> rules;     // where the router has some
    std::vector<device_step> undo;        // on someone's device, in order of execution
    std::optional<router_advertiser> advertiser;
    std::vector<std::byte> spare; // where a frame is read to when the sink has no memory
    bool vanished = false;
  };

  result<void> configure();
  result<void> perform(const std::vector<device_step>& steps, bool ours);
  result<void> route();
  bool watch(int fd) { return running_->polls.change(fd, 0, poll_set::readable); }
  result<void> keep_up();
  void restore_addresses();
  void warn(const char* kind, std::string text) const;
  void announce();
  void rearm();
  void advertise_in_time();
  void advertise(const std::optional<router_advertiser::frame>& frame);
  bool read_some();

  const host_config config_;
  std::function<void(const service_note&)> tell_ = [](const service_note&) {};
  std::optional<running> running_;
  std::string described_; // the last start's
};

} // namespace vmswitch
