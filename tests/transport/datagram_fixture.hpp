#pragma once

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/transport/wire.hpp"
#include "transport/connect.hpp"
#include "transport/datagram_socket.hpp"
#include "transport/datagram_target.hpp"

namespace vmswitch::test {

using datagram_status = datagram_socket::receive_status;

/// A bound socket and its clients.
struct datagram_fixture {
  explicit datagram_fixture(std::uint32_t max_frame = 1518)
      : socket{
            datagram_socket::create(
                listening_socket::open({.type = listen_type::dgram, .path = folder / "s"}).value(),
                max_frame)
                .value()} {}

  owned_fd client(const std::string& name) {
    return connect_datagram(folder / "s", folder / name).value();
  }
  datagram_status receive() { return socket->receive(memory, used, batch).status; }
  // A client that has introduced itself and has its endpoint.
  owned_fd met_client(const std::string& name) {
    owned_fd met = client(name);
    REQUIRE(::send(met.get(), "VFKT", 4, 0) == 4);
    REQUIRE(receive() == datagram_status::more);
    endpoint = socket->claim();
    return met;
  }
  std::shared_ptr<const datagram_target> target(const std::string& name) const {
    return datagram_target::find(unix_address::from_path(folder / name).value(), ::getuid())
        .value();
  }
  const datagram_arrival& from(const std::string& name) {
    for (const auto& arrival : batch.arrivals)
      if (to_string(arrival.from) == folder / name)
        return arrival;
    FAIL("nothing from " << name);
    return batch.arrivals.front();
  }

  temporary_folder folder;
  std::shared_ptr<datagram_socket> socket;
  std::shared_ptr<slab_pool> pool = pool_of(4);
  slab_ref memory = pool->acquire();
  std::uint32_t used = 0;
  datagram_batch batch;
  std::shared_ptr<datagram_endpoint> endpoint; // that answers who was met last
};

inline void send(const owned_fd& client, const bytes& datagram) {
  REQUIRE(::send(client.get(), datagram.data(), datagram.size(), MSG_DONTWAIT) ==
          static_cast<ssize_t>(datagram.size()));
}

inline void send_text(const owned_fd& client, std::string_view text) {
  REQUIRE(::send(client.get(), text.data(), text.size(), MSG_DONTWAIT) ==
          static_cast<ssize_t>(text.size()));
}

// All that waits at a client, in wire form.
inline bytes receive_all(const owned_fd& client) {
  bytes all;
  bytes space(70000);
  for (ssize_t got = 0;
       (got = ::recv(client.get(), space.data(), space.size(), MSG_DONTWAIT)) >= 0;)
    append_wire(all, {space.begin(), space.begin() + got});
  return all;
}

inline io_result send_wire(const datagram_fixture& f, const std::string& to, bytes& data) {
  const iovec range{data.data(), data.size()};
  const auto peer = unix_address::from_path(f.folder / to).value();
  return f.endpoint->send(&peer, {&range, 1});
}

} // namespace vmswitch::test
