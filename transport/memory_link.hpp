#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/link.hpp"

namespace vmswitch {

struct memory_pipe;

/// The port's end of a stream that never leaves the process: a link whose peer is a test, a
/// simulated VM or a service. Both ends are used by one thread at a time; a notification may be
/// given from within any call on either end, as its last act.
///
/// It behaves like a socket that is watched edge-triggered: readiness is told when something
/// changes and, first of all, when `on_ready` is given. After a transfer that a scripted fault cut
/// short, readiness is told anew, as if the rest had come just then.
class memory_link final : public link {
public:
  explicit memory_link(std::shared_ptr<memory_pipe> pipe);
  memory_link(const memory_link&) = delete;
  memory_link& operator=(const memory_link&) = delete;
  /// The peer sees it as `closed()`.
  ~memory_link() override;

  io_result read(std::span<std::byte> space) override;
  io_result write(std::span<const iovec> wire) override;
  int fd() const noexcept override { return -1; }
  void on_ready(std::function<void(readiness)> notify) override;
  std::string peer() const override;

private:
  const std::shared_ptr<memory_pipe> pipe_;
};

/// The other end, with the faults that a socket can show.
class memory_peer {
public:
  explicit memory_peer(std::shared_ptr<memory_pipe> pipe);
  memory_peer(memory_peer&&) noexcept = default;
  memory_peer& operator=(memory_peer&&) = delete;
  /// Hangs up.
  ~memory_peer();

  /// Bytes for the link to read, without limit. Returns false if the link is closed.
  bool send(std::span<const std::byte> bytes);
  /// All that the link has written since the last call; makes room for more.
  std::vector<std::byte> receive();
  /// Bytes that receive() would return.
  std::size_t unread() const noexcept;
  /// Calls `notify` after each write of the link's, and when it closes. It must only send or wake.
  void on_output(std::function<void()> notify);
  /// The link reads what was sent before, then `closed`; its writes are `closed` at once.
  void hang_up();
  /// The link has been destroyed.
  bool closed() const noexcept;

  /// Bytes that the link may write before receive(); 0 is a peer that does not read at all.
  /// Default: unlimited. A larger capacity makes a full link writable.
  void set_capacity(std::size_t bytes);
  /// The next reads (writes) transfer at most so many bytes, in order; 0 is a read (write) that
  /// would block. Appends to what is still scripted.
  void script_reads(std::initializer_list<std::size_t> bytes);
  void script_writes(std::initializer_list<std::size_t> bytes);
  /// Every read (write) that is not scripted transfers at most so many bytes, at least 1.
  void limit_reads(std::size_t bytes);
  void limit_writes(std::size_t bytes);
  /// The next read (write) fails with this errno value, once.
  void fail_next_read(int code);
  void fail_next_write(int code);

private:
  std::shared_ptr<memory_pipe> pipe_;
};

/// A connected pair. `name` is what the link's peer() says.
std::pair<std::unique_ptr<memory_link>, memory_peer> make_memory_link(std::string name = "memory");

} // namespace vmswitch
