#include "tests/bench/contenders/one_socket.hpp"

#include "transport/connect.hpp"

namespace vmswitch::bench {

result<std::unique_ptr<medium>> at_a_socket::plug_in() {
  if (socket_type_ == SOCK_STREAM) {
    auto connected = connect_stream(socket_in(folder_));
    if (!connected)
      return tl::unexpected{connected.error()};
    return stream_medium(std::move(*connected));
  }
  const std::string own = folder_.file("vm" + std::to_string(++vms_));
  auto connected = connect_datagram(socket_in(folder_), own);
  if (!connected)
    return tl::unexpected{connected.error()};
  return datagram_medium(std::move(*connected), own);
}

} // namespace vmswitch::bench
