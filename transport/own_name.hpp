#pragma once

#include "transport/unix_address.hpp"

namespace vmswitch {

/// The name of a datagram socket of this process, known to the whole process while the object
/// lives: what comes from such a name was sent by ourselves, to a client that has made us take one
/// of our sockets for its own. Answered, it would circle for ever.
class own_name {
public:
  /// Of the socket `fd`.
  explicit own_name(int fd);
  own_name(const own_name&) = delete;
  own_name& operator=(const own_name&) = delete;
  ~own_name();

  /// Whether a socket of that name is ours. Thread-safe.
  static bool includes(const unix_address& name);

private:
  unix_address name_;
};

} // namespace vmswitch
