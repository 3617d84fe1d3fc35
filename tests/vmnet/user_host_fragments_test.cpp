#include <algorithm>
#include <map>

#include <poll.h>

#include "tests/support/seeded_random.hpp"
#include "tests/vmnet/fragments.hpp"
#include "tests/vmnet/loopback_peer.hpp"
#include "tests/vmnet/nat_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

std::vector<std::byte> data_of(std::size_t size) {
  std::vector<std::byte> data(size);
  for (std::size_t i = 0; i < size; ++i)
    data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

bool answers_ping(nat_fixture& nat) {
  nat.guest.send(icmp_echo(nat.way_to_gateway(), {}));
  return nat.guest
      .await([](const frame& bare) {
        const auto packet = parse_ipv4(bare);
        return packet && parse_icmp_echo(*packet);
      })
      .has_value();
}

} // namespace

TEST_SUITE("fragments through the user host") {
  TEST_CASE("a ping of 4000 bytes in fragments is answered, in whatever order they come") {
    nat_fixture nat;
    nat.introduce();
    const auto data = data_of(4000);
    auto all = in_fragments(icmp_echo(nat.way_to_gateway(), {false, 7, 3, data}), 1480);
    std::vector<std::size_t> order{0, 1, 2};
    do {
      CAPTURE(order[0]);
      CAPTURE(order[1]);
      for (const auto each : order)
        CHECK(nat.guest.send(all[each]) == 0);
      std::map<unsigned, frame> answer; // by the offset, in 8 bytes
      std::size_t bytes = 0;
      REQUIRE(nat.guest.await([&](const frame& bare) {
        if (bare.size() < fragment_headers || bare[12] != std::byte{8} || bare[13] != std::byte{0})
          return false;
        byte_reader in{std::span{bare}.subspan(20)};
        const auto data_bytes = std::span{bare}.subspan(fragment_headers);
        answer[in.u16() & 0x1fff].assign(data_bytes.begin(), data_bytes.end());
        bytes += data_bytes.size();
        return bytes == 8 + data.size();
      }));
      frame whole;
      for (const auto& [offset, part] : answer)
        whole.insert(whole.end(), part.begin(), part.end());
      CHECK(whole[0] == std::byte{0}); // a reply
      CHECK(std::ranges::equal(std::span{whole}.subspan(8), data));
    } while (std::ranges::next_permutation(order).found);
  }

  TEST_CASE("the largest UDP datagram reaches the host in shuffled fragments") {
    constexpr std::uint32_t seed = 4;
    CAPTURE(seed);
    seeded_random random{seed};
    nat_fixture nat;
    nat.introduce();
    loopback_peer server{loopback_peer::kind::udp};
    auto all = in_fragments(udp(nat.way_to_gateway(), 40000, server.port(), data_of(65'507)), 1480);
    for (auto& one : all)
      std::swap(one, all[random.below(static_cast<std::uint32_t>(all.size()))]);
    CHECK(nat.guest.send(all) == 0);
    CHECK(server.has_visitor());
    CHECK(nat.host.open_sockets() == 1);
  }

  TEST_CASE("a fragment that comes before the first one does not end the process") {
    nat_fixture nat;
    nat.introduce();
    for (const std::size_t to : {1U, 7U, 8U, 76U})
      for (const std::size_t from : {8U, 16U, 64'000U, 65'528U})
        nat.guest.send(with_fragmentation(
            ipv4(nat.way_to_gateway(), protocol_icmp, std::vector<std::byte>(to)),
            static_cast<unsigned>(from / 8)));
    CHECK(answers_ping(nat));
  }

  TEST_CASE("the reserved flag between two fragments does not end the process") {
    nat_fixture nat;
    nat.introduce();
    const auto whole = icmp_echo(nat.way_to_gateway(), {false, 1, 1, std::vector<std::byte>(8)});
    CHECK(nat.guest.send(fragment_of(whole, 0, 8)) == 0);
    CHECK(nat.guest.send(with_fragmentation(whole, 0x8000)) == 1);
    CHECK(nat.guest.send(fragment_of(whole, 8, 16)) == 0);
    CHECK(answers_ping(nat));
  }

  TEST_CASE("TFTP does not get through in fragments, and all of them are counted") {
    nat_fixture nat;
    nat.introduce();
    const auto whole = udp(nat.way_to_gateway(), 40000, 69, data_of(3000));
    CHECK(nat.guest.send(in_fragments(whole, 1480)) == 3);
    CHECK(nat.host.open_sockets() == 0);
  }

  TEST_CASE("fragments that become no packet are counted, and nothing wakes it for them") {
    static std::chrono::seconds passed{0};
    nat_fixture nat{{}, [] { return user_host::clock::now() + passed; }};
    nat.introduce();
    const auto all = in_fragments(icmp_echo(nat.way_to_gateway(), {false, 1, 1, data_of(64)}), 16);
    CHECK(nat.guest.send(all[0]) == 0);
    CHECK(nat.guest.send(all[2]) == 0);
    nat.guest.settle();
    pollfd watched{nat.host.fd(), POLLIN, 0};
    CHECK(::poll(&watched, 1, 700) == 0); // longer than libslirp's tick for fragments
    passed = std::chrono::seconds{60};
    const std::vector<frame> pings(3, icmp_echo(nat.way_to_gateway(), {}));
    CHECK(nat.guest.send(pings) == 2);
    CHECK(nat.guest.send(pings) == 0);
  }
}
