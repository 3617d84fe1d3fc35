#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/frames.hpp"
#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch::test {

/// How slow a client is on purpose, in one direction. Zero means no limit.
struct pace {
  std::size_t bytes_per_call = 0;   ///< at most so many per read or write: 1 splits everything
  std::size_t bytes_per_second = 0; ///< spread evenly; datagrams are never split, only delayed
};

/// A VM's end of a Unix socket that carries frames, made to be told what to do: a test says when it
/// reads, when it writes and how slowly. Calls block, at most until the deadline that they are
/// given. A client that never reads is one whose `receive` nobody calls. One thread may send while
/// another receives.
class frame_socket {
public:
  using clock = std::chrono::steady_clock;
  using deadline = clock::time_point;
  using visitor = std::function<void(std::span<const std::byte> bare)>;

  static constexpr std::size_t most_per_receive = 64 * 1024;

  /// Connects as `-netdev stream` does.
  static result<frame_socket> stream(const std::string& server_path);
  /// Takes a connected SOCK_STREAM socket, such as one end of a socketpair.
  static frame_socket stream(owned_fd connected);
  /// Binds `own_path` (removed at the end), then connects, as `-netdev dgram` does.
  static result<frame_socket> datagram(const std::string& own_path, const std::string& server_path);

  frame_socket(frame_socket&&) noexcept = default;
  frame_socket& operator=(frame_socket&&) = delete;
  ~frame_socket();

  result<void> send(std::span<const std::byte> bare, deadline until);
  /// Sends a batch in wire form, in as few calls as its medium allows. On a stream any bytes go,
  /// malformed ones too; a datagram socket sends the frames between the prefixes.
  result<void> send_wire(std::span<const std::byte> wire, deadline until);

  /// Waits for at least one whole frame and visits all that one read brought, but not more than
  /// `most`: the others wait for the next call. Returns how many; 0 when the deadline has passed. A
  /// peer that hung up, or a length that cannot be one, is an error.
  result<std::size_t> receive(deadline until, const visitor& visit,
                              std::size_t most = most_per_receive);

  void write_pace(pace limits) noexcept { write_pace_ = limits; }
  void read_pace(pace limits) noexcept { read_pace_ = limits; }
  /// For what is not here: odd socket options, raw bytes, shutdown().
  int fd() const noexcept { return fd_.get(); }
  /// Hangs up. Nothing may be sent or received afterwards.
  void close() noexcept { fd_.reset(); }

private:
  enum class medium : std::uint8_t { stream, datagram };
  frame_socket(owned_fd fd, medium kind, std::string own_path);

  result<void> send_bytes(std::span<const std::byte> bytes, deadline until);
  result<std::size_t> visit_whole_frames(const visitor& visit, std::size_t most);

  owned_fd fd_;
  medium medium_;
  std::string own_path_; // to be removed; empty for a stream
  pace write_pace_;
  pace read_pace_;
  std::vector<std::byte> buffer_; // received, [0, filled_) not yet visited
  std::size_t filled_ = 0;
};

} // namespace vmswitch::test
