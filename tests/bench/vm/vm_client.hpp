#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "tests/bench/vm/medium.hpp"
#include "tests/bench/vm/wire_batch.hpp"
#include "transport/error.hpp"

namespace vmswitch::bench {

/// A simulated VM at the other end of a medium. One thread may send while another one receives.
class vm_client {
public:
  vm_client(std::unique_ptr<medium> wire, mac_address address)
      : wire_{std::move(wire)}, address_{address} {}

  mac_address address() const noexcept { return address_; }
  int fd() const noexcept { return wire_->fd(); }

  /// Sends all frames of `batch`, in wire form; returns false when the switch has hung up.
  bool send(std::span<const std::byte> batch) { return wire_->send(batch); }

  /// Waits for one read and calls `visit(std::span<const std::byte> frame)` for each whole frame
  /// of the benchmark in it. Returns false when the switch has hung up or the time of
  /// `set_patience` is over without a byte; `hung_up()` tells which.
  template <class Visit>
  bool receive(Visit&& visit) {
    const auto got = wire_->receive();
    if (got.status != medium::outcome::received) {
      hung_up_ = got.status == medium::outcome::hung_up;
      return false;
    }
    std::size_t at = 0;
    while (got.wire.size() - at >= prefix_size) {
      const std::uint32_t length = read_prefix(got.wire.data() + at);
      if (length > got.wire.size() - at - prefix_size)
        break;
      const auto frame = got.wire.subspan(at + prefix_size, length);
      if (is_ours(frame))
        visit(frame);
      at += prefix_size + (got.stride == 0 ? length : got.stride - prefix_size);
    }
    wire_->consumed(at);
    return true;
  }
  bool hung_up() const noexcept { return hung_up_; }

  /// How long receive() waits; 0 is for ever.
  void set_patience(int milliseconds) { wire_->set_patience(milliseconds); }
  /// Ends both directions: whoever is in send() or receive() returns.
  void shut_down() noexcept { wire_->shut_down(); }

private:
  static bool is_ours(std::span<const std::byte> frame) noexcept {
    return frame.size() >= smallest_frame &&
           ethernet_view::unchecked(frame).type() == bench_ethertype;
  }

  std::unique_ptr<medium> wire_;
  mac_address address_;
  bool hung_up_ = false;
};

inline frame_kind kind_of(std::span<const std::byte> frame) noexcept {
  return static_cast<frame_kind>(frame[kind_offset]);
}
inline std::uint64_t sequence_of(std::span<const std::byte> frame) noexcept {
  std::uint64_t value;
  std::memcpy(&value, frame.data() + sequence_offset, sizeof value);
  return value;
}

/// Lets the switch learn both addresses: each announces itself until the other one's answer has
/// come. Fails after `seconds`.
result<void> introduce(vm_client& a, vm_client& b, int seconds = 10);

} // namespace vmswitch::bench
