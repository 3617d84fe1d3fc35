#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "vmnet/host_config.hpp"
#include "vmnet/host_interface.hpp"
#include "vmnet/poll_set.hpp"
#include "vmnet/user_filter.hpp"
#include "vmnet/user_forwards.hpp"
#include "vmnet/user_fragments.hpp"
#include "vmnet/user_limits.hpp"
#include "vmnet/user_sockets.hpp"

struct Slirp;

namespace vmswitch {

/// User-mode NAT: VMs reach through sockets of this process whatever the host reaches (libslirp
/// 4.7 or later, with its DNS forwarder).
///
/// Theory of operation. libslirp is a library without a loop of its own. It takes frames in
/// (slirp_input), hands frames out (a callback, at any time), and wants to be told when its sockets
/// are ready and its timers due. All of its sockets are gathered in one poll_set together with one
/// timer, so that the host actor watches one descriptor. A turn asks libslirp what it waits for,
/// tells the kernel what has changed of it, collects what is ready and lets libslirp work on that.
/// write() feeds frames and then takes turns, for a connection is often ready at once.
///
/// Frames pass `user_filter` first, fragments `user_fragments` as well. The filter also says which
/// of them may open sockets, whose number `user_limits` limits by kind and VM. A limit reached
/// refuses new flows, not those that exist, and is told.
///
/// Timers. libslirp ticks every half second while it has a connection or a UDP flow (kept for 10 s
/// after a DNS answer, else 240 s); without them nothing wakes it, but for one router advertisement
/// in 200 to 600 s where there is IPv6. Its own clock stands still between turns, so it is set
/// before frames are fed. It would tick for a listening forward as well, for which there is nothing
/// to count; that is left out. Fragments that have waited for too long go when the next frame
/// comes.
///
/// libslirp keeps that clock and the resolver's address in process-wide variables. One lock around
/// each call lets several networks run on several threads.
///
/// The process must ignore SIGPIPE: libslirp writes to sockets whose peer may have gone.
///
/// Forwards. Connections that come in count as those of one more VM: at its limit none is accepted,
/// and callers wait in the kernel's queue. If accepting fails, which is a lack of descriptors, it
/// is tried again after a pause. See user_forwards for the rest.
///
/// Speed. libslirp scales no TCP window, so a connection has at most 64 KiB under way: its rate is
/// that for each round trip, in which six threads wake up. Where they find a core at once, an MTU
/// of 65520 serves: to a VM 3.5 Gbit/s, after 2.5 at 1500, from it 5.4 after 2.8, with 1.8 and 0.5
/// sleeps of our threads for 64 KiB, after 2.9 and 0.8. Where each has to wait for a core it is
/// some 100 Mbit/s with any MTU. With 65520 that begins sooner: the window is two segments, and all
/// stand still until both are acknowledged, while with 1500 there are acknowledgements throughout.
/// A smaller MSS (4000 to 32000 were tried) gains nothing there, and costs the way from the VM.
///
/// Not here: DHCP (see serviced_host), multicast to the outside.
class user_host final : public host_interface {
public:
  using clock = std::chrono::steady_clock;

  /// `now` is for tests that let hours pass; it only ever grows.
  explicit user_host(const host_config& config, clock::time_point (*now)() = clock::now);
  ~user_host() override;

  /// Fails for a configuration that check_host_config refuses, and when descriptors run out.
  result<void> start(frame_sink& out) override;
  void stop() noexcept override;
  int fd() const noexcept override;
  result<bool> process() override;
  /// Refuses frames that `user_filter` refuses, all frames while stopped, those that would open a
  /// socket beyond the limits, and fragments that become no packet, some of which are told later.
  frame_tally write(const burst& frames) override;
  mac_address address() const noexcept override;
  std::string describe() const override;
  forward_carrier* forwards() noexcept override { return &forwards_; }
  /// Told when a VM has reached a limit.
  void on_notes(const std::function<void(const service_note&)>& tell) override { tell_ = tell; }

  /// Sockets that libslirp has open, but for those that wait for forwards.
  std::size_t open_sockets() const noexcept;

private:
  struct callbacks; // what libslirp calls; in user_host.cpp
  struct running;   // what exists between start and stop

  bool take(std::span<const std::byte> frame, const user_filter::judgement& judged,
            const frame_tally& came_as);
  void work();
  bool turn();
  void refresh();
  void set_clock();
  void end_connections(const forward_rule& through, std::span<const ip_address> led_to);
  void end_overdue();
  bool may_open(const user_filter::judgement& judged, mac_address sender);

  const host_config config_;
  clock::time_point (*const now_)();
  std::function<void(const service_note&)> tell_;
  std::unique_ptr<running> running_;
  user_forwards forwards_;
};

} // namespace vmswitch
