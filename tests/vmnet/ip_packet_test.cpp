#include "vmnet/ip_packet.hpp"

#include <doctest/doctest.h>

#include "tests/support/frames.hpp"
#include "tests/vmnet/fragments.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr auto vm_mac = mac_address::from_integer(0x5254'0000'0001);
constexpr auto own_mac = mac_address::from_integer(0x5255'c0a8'6901);

route way() {
  return {vm_mac, own_mac, {0xc0a86909}, {0xc0a86901}};
}
std::vector<std::byte> text(std::size_t size) {
  return std::vector<std::byte>(size, std::byte{'x'});
}
ip_path path6() {
  ipv6_address from, to;
  from.octets = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0, 0, 1};
  to.octets = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  return {vm_mac, own_mac, packet_address{from}, packet_address{to}, 40000, 53};
}
// Swaps the ends, as whoever receives a frame of ours sees it.
ip_path seen_by_peer(const ip_path& path) {
  return {path.own_mac, path.peer_mac, path.own, path.peer, path.own_port, path.peer_port};
}

} // namespace

TEST_SUITE("IP packet") {
  TEST_CASE("UDP over IPv4 is read, padding left out") {
    auto bare = udp(way(), 40000, 53, text(5));
    bare.resize(60);
    const auto packet = parse_ip_packet(bare);
    REQUIRE(packet);
    CHECK(packet->protocol == protocol_of_udp);
    CHECK(packet->content.size() == 5);
    CHECK(packet->path.peer_mac == vm_mac);
    CHECK(packet->path.peer == packet_address{ipv4_address{0xc0a86909}});
    CHECK(packet->path.own == packet_address{ipv4_address{0xc0a86901}});
    CHECK(packet->path.peer_port == 40000);
    CHECK(packet->path.own_port == 53);
    CHECK(look_at_port(bare).port == 53);
  }

  TEST_CASE("what was made is read by others, and by us: both families, UDP and TCP, odd sizes") {
    for (const std::size_t size : {0, 1, 2, 511, 1472}) {
      const ip_path path{vm_mac,
                         own_mac,
                         packet_address{ipv4_address{0xc0a86909}},
                         packet_address{ipv4_address{0xc0a86901}},
                         40000,
                         53};
      const auto made = make_udp_frame(path, text(size));
      const auto packet = parse_ipv4(made);
      REQUIRE(packet);
      const auto datagram = parse_udp(*packet);
      REQUIRE(datagram);
      CHECK(datagram->payload.size() == size);
      CHECK(datagram->source_port == 53);
      CHECK(packet->way.destination_mac == vm_mac);
      for (const auto& one : {path, path6()}) {
        const auto made_udp = make_udp_frame(one, text(size));
        const auto back = parse_ip_packet(made_udp);
        REQUIRE(back);
        CHECK(back->path == seen_by_peer(one));
        CHECK(back->content.size() == size);
        const auto made_tcp = make_tcp_frame(one, text(20 + size));
        const auto segment = parse_ip_packet(made_tcp);
        REQUIRE(segment);
        CHECK(segment->protocol == protocol_of_tcp);
        CHECK(segment->content.size() == 20 + size);
      }
    }
  }

  TEST_CASE("an IPv4 datagram may come without a checksum, an IPv6 one may not") {
    auto bare = udp(way(), 40000, 53, text(5));
    bare[40] = bare[41] = std::byte{0};
    CHECK(parse_ip_packet(bare));
    auto six = make_udp_frame(path6(), text(5));
    six[14 + 40 + 6] = six[14 + 40 + 7] = std::byte{0};
    CHECK_FALSE(parse_ip_packet(six));
  }

  TEST_CASE("a changed octet anywhere behind the Ethernet header is noticed") {
    for (const auto& good : {udp(way(), 40000, 53, text(5)), make_udp_frame(path6(), text(5)),
                             make_tcp_frame(path6(), text(30))}) {
      REQUIRE(parse_ip_packet(good));
      const bool is_ipv6 = good[12] == std::byte{0x86};
      for (std::size_t at = 14; at < good.size(); ++at) {
        if (is_ipv6 && (at < 18 || at == 21))
          continue; // traffic class, flow label and hop limit are in no checksum
        auto bad = good;
        bad[at] ^= std::byte{0x5a};
        CHECK_MESSAGE(!parse_ip_packet(bad), at);
      }
    }
  }

  TEST_CASE("fragments, groups as senders, and what is cut are refused") {
    const auto good = udp(way(), 40000, 53, text(5));
    for (std::size_t size = 0; size < good.size(); ++size)
      CHECK_FALSE(parse_ip_packet(std::span{good}.first(size)));
    auto from_group = way();
    from_group.source = {0xe0000001};
    CHECK_FALSE(parse_ip_packet(udp(from_group, 40000, 53, {})));
    from_group.source = {0};
    CHECK_FALSE(parse_ip_packet(udp(from_group, 40000, 53, {})));
    CHECK_FALSE(parse_ip_packet(udp(way(), 0, 53, {})));
    CHECK(parse_ip_packet(with_fragmentation(good, 0x4000)));
    for (const unsigned field : {0x2000U, 0x0001U, 0x1fffU, 0x8000U})
      CHECK_FALSE(parse_ip_packet(with_fragmentation(good, field)));
    CHECK_FALSE(parse_ip_packet(arp_request(vm_mac, {1}, {2})));
    CHECK(look_at_port(arp_request(vm_mac, {1}, {2})).port == 0);
    CHECK(look_at_port(icmp_echo(way(), {})).port == 0);
  }
}
