#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/control/access.hpp"
#include "app/control/loopback_endpoint.hpp"
#include "transport/listening_socket.hpp"

namespace vmswitch {

/// Where clients of an http_server come in. One thread.
class http_door {
public:
  struct visitor {
    control_caller caller;
    control_role role = control_role::none;
  };

  virtual ~http_door() = default;
  /// Readable when somebody waits; non-blocking.
  virtual int fd() const noexcept = 0;
  virtual int family() const noexcept = 0; // AF_UNIX, AF_INET, AF_INET6
  virtual accept_result accept() noexcept = 0;
  virtual visitor identify(int connection) const = 0;
  /// Nobody is to come any more; idempotent.
  virtual void withdraw() noexcept = 0;
  /// For the log: a path, or address and port.
  virtual const std::string& name() const noexcept = 0;
};

/// A Unix socket, where the kernel says who has come.
std::unique_ptr<http_door> make_unix_door(listening_socket socket, access_rules access);

/// A port of this machine. Anybody may come, and has no role unless his request shows otherwise.
struct loopback_door {
  std::unique_ptr<http_door> door;
  loopback_endpoint bound; // the port that the system has chosen
};
/// Errors are for people, with their errno as code.
result<loopback_door> open_loopback_door(const loopback_endpoint& endpoint);

} // namespace vmswitch
