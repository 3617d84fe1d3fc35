#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "vmnet/poll_set.hpp"
#include "vmnet/user_filter.hpp"

namespace vmswitch {

/// libslirp's sockets: which of them exist, and what for, and which are to be watched.
///
/// Theory of operation. libslirp tells when a socket opens and closes, and when asked lists all of
/// those that it wants polled, as a list that is new each time. Most of the time that list is what
/// it was, so `begin`, `add`..., `commit` compare it with the last one and tell the kernel the
/// differences only. A position in the list is how libslirp asks for the result later.
class user_sockets {
public:
  using socket_kind = user_filter::socket_kind;

  /// `polls` must outlive it.
  explicit user_sockets(poll_set& polls) noexcept : polls_{polls} {}

  /// Whose sockets are: a VM's MAC address as an integer, or this, which is none.
  static constexpr std::uint64_t from_forwards = 1ULL << 48;

  /// What the next sockets that open are for, and whose.
  void expect(socket_kind kind, std::uint64_t flow, std::uint64_t owner) noexcept {
    kind_ = kind;
    flow_ = flow;
    owner_ = owner;
  }
  void opened(int fd);
  /// Must come before the descriptor is closed.
  void closed(int fd);
  std::size_t open(socket_kind kind) const noexcept {
    return open_[static_cast<std::size_t>(kind)];
  }
  std::size_t open_of(std::uint64_t owner, socket_kind kind) const;
  /// Tells a socket from all that had its descriptor before; 0 if it is closed.
  std::uint64_t serial_of(int fd) const;
  /// Those of this owner. Nothing may open or close meanwhile.
  void for_each_of(std::uint64_t owner, const std::function<void(int fd)>& visit) const;
  bool knows_flow(std::uint64_t flow) const { return flow != 0 && flows_.contains(flow); }

  /// This one, which libslirp does not tell of, accepts connections: it is watched while
  /// accept_more.
  void listens(int fd) { of(fd).is_listener = true; }
  void accept_more(bool yes) noexcept { accepts_ = yes; }
  /// Whether one of them is ready now.
  bool has_caller() const;
  /// Counts sockets that have opened.
  std::uint64_t ever_opened() const noexcept { return ever_opened_; }

  void begin() { wanted_.clear(); }
  /// Lists a descriptor with what it is to be watched for (poll_set::event). Returns its position.
  int add(int fd, unsigned events);
  void commit();

  /// What was collected. Valid until the next call or commit.
  void set_ready(std::span<const poll_set::ready> ready);
  void clear_ready();
  /// What libslirp may be told of the descriptor at this position.
  unsigned ready_at(int position) const;

private:
  struct wish {
    int fd;
    unsigned events;
    friend bool operator==(wish, wish) = default;
  };
  struct state {
    std::uint64_t flow = 0;
    std::uint64_t owner = 0;
    std::uint64_t serial = 0;
    unsigned watched = 0; // as the kernel knows it
    unsigned wanted = 0;  // in the list under construction
    unsigned ready = 0;
    socket_kind kind = socket_kind::none;
    bool is_open = false;
    bool is_listener = false;
    bool was_readable_wanted = false;
  };
  state& of(int fd);

  poll_set& polls_;
  std::vector<state> states_; // by descriptor
  std::vector<wish> wanted_;
  std::vector<wish> watched_;
  std::vector<int> ready_;
  bool accepts_ = true;
  std::uint64_t ever_opened_ = 0;
  bool is_stale_ = false;                    // watched_ is not what the kernel knows
  using counts = std::array<std::size_t, 4>; // by kind
  counts open_{};
  std::unordered_map<std::uint64_t, counts> owned_; // by owner, who has at least one
  std::unordered_map<std::uint64_t, std::size_t> flows_;
  socket_kind kind_ = socket_kind::none;
  std::uint64_t flow_ = 0;
  std::uint64_t owner_ = 0;
};

} // namespace vmswitch
