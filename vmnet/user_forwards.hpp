#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "vmnet/forward/forward_carrier.hpp"
#include "vmnet/forward/socket_address.hpp"

struct Slirp;

namespace vmswitch {

/// Forwards by libslirp, which listens and accepts by itself (slirp_add_hostxfwd).
///
/// Theory of operation. libslirp's forward has an address from the beginning, so it exists only
/// while ours is aimed at one, and is made anew when that changes. In between, and before, a socket
/// of ours keeps the place: for TCP it is bound and does not listen, so that the kernel refuses
/// connections, and stays beside libslirp's, which shares the place. A UDP socket cannot be shared:
/// the two take turns.
///
/// Answers to UDP leave libslirp by the first of its sockets that is for the VM's address and port.
/// So two forwards may not lead there.
class user_forwards final : public forward_carrier {
public:
  /// Called with the lock held.
  struct callbacks {
    std::function<void(int fd)> listens; ///< libslirp has made this socket, and listens there
    /// This TCP forward has gone, which led to the same port of these addresses in turn: ends the
    /// connections that have come through it.
    std::function<void(const forward_rule& rule, std::span<const ip_address> led_to)> has_gone;
    std::function<void()> changed; ///< libslirp's sockets have
  };

  /// `library` is held around all calls of libslirp, and by the caller of start() and stop().
  user_forwards(std::mutex& library, callbacks calls) : library_{library}, on_{std::move(calls)} {}

  /// libslirp is there: gives it the forwards that are aimed.
  void start(Slirp& slirp);
  /// It goes, and its sockets with it.
  void stop() noexcept { slirp_ = nullptr; }

  result<void> open(const forward_rule& rule) override;
  result<void> aim(const forward_listen& which, std::optional<ip_address> address) override;
  void close(const forward_listen& which, std::function<void()> closed) override;
  std::optional<forward_traffic> traffic(const forward_listen&) const override { return {}; }

private:
  struct entry {
    forward_rule rule;
    std::optional<ip_address> address;
    owned_fd place;             // keeps it
    bool with_libslirp = false; // it listens there
    std::vector<ip_address> led_to{};
  };
  result<void> give(entry& forward);
  void take(entry& forward);

  std::mutex& library_;
  const callbacks on_;
  static constexpr std::size_t most_led_to = 8;
  Slirp* slirp_ = nullptr;
  std::map<forward_listen, entry> forwards_;
};

} // namespace vmswitch
