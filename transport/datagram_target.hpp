#pragma once

#include <memory>
#include <optional>

#include <sys/types.h>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// The socket that a datagram peer is answered at.
///
/// Theory of operation. All that a datagram tells of its sender is the name that the sender has
/// bound, and its user, for whom the system vouches. The name proves nothing: by now, or in our
/// file system, it may lead to a socket that we may send to and the sender may not. So the name is
/// looked up once. What is there has to be a socket, not a symbolic link to one, that belongs to
/// the sender's user, and from then on this very socket is meant, whatever becomes of the name.
/// Root is no exception: who has a socket may have root write to it (sudo does). An abstract name
/// has no file: the system is asked whose socket has it.
class datagram_target {
public:
  /// `sender` is the user that has sent from `name`. Costs a descriptor where there is a file, and
  /// for an abstract name reads a list of all sockets. The error says what to change.
  static result<std::shared_ptr<const datagram_target>> find(const unix_address& name,
                                                             std::optional<uid_t> sender);

  /// What the peer is called.
  const unix_address& name() const noexcept { return name_; }
  /// For connect and sendmsg, as long as this object lives.
  const unix_address& address() const noexcept { return address_; }

private:
  datagram_target(const unix_address& name, const unix_address& address, owned_fd file)
      : name_{name}, address_{address}, file_{std::move(file)} {}

  const unix_address name_;
  const unix_address address_;
  const owned_fd file_; // which `address_` leads through
};

} // namespace vmswitch
