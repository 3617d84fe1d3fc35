#include <sys/socket.h>

#include "app/control/access.hpp"
#include "transport/unix_socket.hpp"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 // asm-generic/socket.h, since Linux 4.13
#endif

namespace vmswitch {

control_caller identify_caller(int fd) {
  control_caller caller;
  const auto peer = identify_peer(fd);
  caller.pid = peer.pid;
  caller.uid = peer.uid;
  ucred own{};
  socklen_t size = sizeof own;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &own, &size) == 0)
    caller.groups.push_back(own.gid);
  std::vector<gid_t> more(64);
  size = static_cast<socklen_t>(more.size() * sizeof(gid_t));
  int done = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, more.data(), &size);
  if (done != 0 && size > more.size() * sizeof(gid_t)) { // ERANGE: it says how much there is
    more.resize(size / sizeof(gid_t));
    done = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, more.data(), &size);
  }
  if (done == 0)
    caller.groups.insert(caller.groups.end(), more.begin(),
                         more.begin() + static_cast<std::ptrdiff_t>(size / sizeof(gid_t)));
  return caller;
}

} // namespace vmswitch
