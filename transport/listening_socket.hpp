#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <sys/types.h>

#include "transport/error.hpp"
#include "transport/listen_config.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

enum class accept_status : std::uint8_t {
  accepted,
  would_block, ///< nobody waits; the descriptor becomes readable again
  pressure,    ///< no descriptors or memory just now: try again after a pause, without an event
  failed,      ///< `error` (errno) says why; the socket is of no more use
};

struct accept_result {
  accept_status status = accept_status::would_block;
  owned_fd connection; ///< non-blocking, closed on exec
  int error = 0;       ///< errno of `pressure` and `failed`
};

/// The descriptors that a connection may be one of.
enum class may_take : bool { all, all_but_reserve };

/// A Unix socket with a file that clients connect to. One thread at a time.
class listening_socket {
public:
  /// Binds (see bind_path for what happens to a file of that name), gives the file its group and
  /// mode, and listens. At no moment has the file more permissions than asked for. On failure
  /// nothing of ours is left, and the error tells a person what to do.
  ///
  /// A socket that is inherited is only looked at: it has to be a Unix socket of the right type
  /// that listens. Its file is never touched, neither by withdraw() nor by renew(), which fails.
  static result<listening_socket> open(const listen_config& config);

  listening_socket(listening_socket&& other) noexcept = default;
  listening_socket& operator=(listening_socket&&) = delete;
  /// Calls withdraw().
  ~listening_socket() { withdraw(); }

  /// Takes the next connection of a stream socket. Connections that ended while they waited are
  /// passed over. Without the reserve (descriptor_reserve.hpp) there may be `pressure` earlier.
  accept_result accept(may_take descriptors = may_take::all) noexcept;

  /// For datagrams: gives the descriptor away. The file remains in our care; keep the descriptor
  /// until withdraw() or renew(), since its inode identifies the file.
  owned_fd take_fd() noexcept { return std::move(socket_); }

  /// For datagrams: puts a new, empty socket in the place of this one, with the same group and
  /// mode, such that the path leads to one of them at any moment. Closes the old one unless it was
  /// taken. On failure nothing has changed.
  result<void> renew();

  /// Gives the file another group and mode, those of `access`, whose path and type do not count. At
  /// no moment can anyone connect who could neither before nor after. On failure the file has what
  /// it had before, as far as the system lets us.
  result<void> change_access(const listen_config& access);

  /// Removes the socket's file, provided that it still is the one that was bound, so that no new
  /// client comes; idempotent. The descriptor stays open until destruction.
  void withdraw() noexcept;

  /// Non-blocking; -1 once taken.
  int fd() const noexcept { return socket_.get(); }
  /// As configured.
  const std::string& path() const noexcept { return config_.path; }
  listen_type type() const noexcept { return config_.type; }

private:
  listening_socket(owned_fd socket, const listen_config& config, gid_t group);
  // Listens on what has just been bound to config.path, and sets its permissions.
  static result<listening_socket> set_up(owned_fd bound, const listen_config& config, gid_t group);
  static result<listening_socket> adopt(const listen_config& config);
  bool owns_file() const noexcept;

  owned_fd socket_;
  listen_config config_;
  gid_t group_;      // if one is configured
  std::string file_; // the path, absolute; empty once withdrawn
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

} // namespace vmswitch
