#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/dhcp.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/tcp_segment.hpp"
#include "transport/frame/burst_builder.hpp"
#include "vmnet/host_interface.hpp"

namespace vmswitch::test {

/// Keeps what a host interface delivers, without limits.
class frame_log final : public frame_sink {
public:
  bool deliver(std::span<const std::byte> bare) override {
    frames.emplace_back(bare.begin(), bare.end());
    return true;
  }
  bool has_room() const noexcept override { return room; }

  std::vector<frame> frames;
  bool room = true;
};

/// One VM in front of a host interface, driven by the test: it sends frames in bursts, lets the
/// interface work when its descriptor is readable, and looks at what was delivered.
class nat_guest {
public:
  explicit nat_guest(host_interface& host, frame_log& log) : host_{host}, log_{log} {}

  /// Returns how many the interface refused.
  std::size_t send(std::span<const frame> frames);
  std::size_t send(const frame& one) { return send(std::span{&one, 1}); }

  /// Lets the interface work on events until a delivered frame satisfies `wanted`, and returns that
  /// frame. Nothing after five seconds without any. Frames before it are forgotten.
  std::optional<frame> await(const std::function<bool(const frame&)>& wanted);
  /// Lets the interface work until its descriptor has been silent; then nothing is on its way that
  /// needs no further event from outside.
  void settle();

  /// Sends a TCP segment from `port` to the given destination, and awaits one for that port.
  std::optional<tcp_segment> exchange(const route& way, const tcp_segment& segment);
  std::optional<tcp_segment> await_tcp(std::uint16_t port);
  /// DISCOVER and REQUEST; the ACK, or nothing.
  std::optional<dhcp_message> get_address();

  mac_address mac = mac_address::from_integer(0x5254'0012'3456);

private:
  host_interface& host_;
  frame_log& log_;
  std::shared_ptr<slab_pool> pool_ = slab_pool::create(std::make_shared<slab_stock>(4), 64, [] {});
  burst_builder builder_{pool_};
};

} // namespace vmswitch::test
