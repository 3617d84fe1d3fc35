#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>

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
  /// What is to be done with libslirp's listening sockets: called when one has been made.
  using listening = std::function<void(int fd)>;

  /// `library` is held around all calls of libslirp, and by the caller of start() and stop().
  /// `changed` is called, with the lock held, after libslirp's sockets have changed.
  user_forwards(std::mutex& library, listening made, std::function<void()> changed)
      : library_{library}, made_{std::move(made)}, changed_{std::move(changed)} {}

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
  };
  result<void> give(entry& forward);
  void take(entry& forward);

  std::mutex& library_;
  const listening made_;
  const std::function<void()> changed_;
  Slirp* slirp_ = nullptr;
  std::map<forward_listen, entry> forwards_;
};

} // namespace vmswitch
