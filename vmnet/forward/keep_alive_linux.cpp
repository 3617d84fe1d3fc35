#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "vmnet/forward/tcp_connection.hpp"

namespace vmswitch {

void keep_alive(int socket) noexcept {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 300);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 60);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 300'000); // of data that nobody acknowledges
}

} // namespace vmswitch
