#include <doctest/doctest.h>

#include "tests/support/frames.hpp"
#include "tests/vmnet/nat_guest.hpp"
#include "vmnet/user_addresses.hpp"
#include "vmnet/user_filter.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using verdict = user_filter::verdict;
using socket_kind = user_filter::socket_kind;

namespace {

const auto vm_mac = mac_address::from_integer(0x5254'0012'3456);

ipv4_address ip(const char* text) {
  return ipv4_address::parse(text).value();
}

struct filter_fixture {
  host_config config;
  user_filter filter{config};

  route way(const char* to, const char* from = "192.168.105.20") const {
    return {vm_mac, user_mac_for(config.gateway), ip(from), ip(to)};
  }
  user_filter::judgement judge(const frame& bare) const { return filter.judge(bare); }
  verdict verdict_of(const frame& bare) const { return judge(bare).what; }
};

frame set16(frame bare, std::size_t at, unsigned value) {
  bare[at] = static_cast<std::byte>(value >> 8);
  bare[at + 1] = static_cast<std::byte>(value & 0xff);
  return bare;
}

/// A UDP packet to the outside with other flags and fragment offset (in 8 bytes).
frame fragment(const route& way, unsigned field, std::uint8_t protocol = protocol_udp) {
  const std::vector<std::byte> payload(64);
  return set16(ipv4(way, protocol, payload), 14 + 6, field);
}

/// An IPv6 packet to the gateway's MAC address; addresses by their two halves.
frame ipv6(std::uint64_t from, std::uint64_t from_number, std::uint64_t to, std::uint64_t to_number,
           std::uint8_t next, std::span<const std::byte> payload,
           mac_address destination = mac_address::from_integer(0x5256'0000'0002)) {
  byte_writer packet;
  packet.u32(0x6000'0000).u16(static_cast<unsigned>(payload.size())).u8(next).u8(255);
  for (const auto half : {from, from_number, to, to_number})
    packet.u32(static_cast<std::uint32_t>(half >> 32)).u32(static_cast<std::uint32_t>(half));
  packet.bytes(payload);
  return ethernet(destination, vm_mac, type_ipv6, packet.take());
}

constexpr std::uint64_t ula = 0xfd00ULL << 48;
constexpr std::uint64_t link_local = 0xfe80ULL << 48;
constexpr std::uint64_t global = 0x2001'0db8ULL << 32;

frame icmp6_to(std::uint64_t to, std::uint64_t number, std::uint8_t type) {
  std::vector<std::byte> payload(16);
  payload[0] = std::byte{type};
  return ipv6(ula, 0x99, to, number, 58, payload);
}

} // namespace

TEST_SUITE("user filter") {
  TEST_CASE_FIXTURE(filter_fixture, "traffic to the outside passes, and says what it may open") {
    const tcp_segment syn{40000, 80, 1, 0, tcp_segment::syn, 65535, ""};
    const tcp_segment data{40000, 80, 2, 1, tcp_segment::ack, 65535, "x"};
    CHECK(judge(tcp(way("1.1.1.1"), syn)).opens == socket_kind::tcp);
    CHECK(judge(tcp(way("1.1.1.1"), data)).opens == socket_kind::none);
    CHECK(verdict_of(tcp(way("1.1.1.1"), data)) == verdict::pass);
    CHECK(judge(udp(way("1.1.1.1"), 40000, 53, {})).opens == socket_kind::udp);
    CHECK(judge(icmp_echo(way("1.1.1.1"), {})).opens == socket_kind::icmp);
    CHECK(judge(icmp_echo(way("192.168.105.1"), {})).opens == socket_kind::none);
  }

  TEST_CASE_FIXTURE(filter_fixture,
                    "a UDP flow is a sender's address and port, not where it goes") {
    const auto flow = judge(udp(way("1.1.1.1"), 40000, 53, {})).flow;
    CHECK(flow != 0);
    CHECK(judge(udp(way("8.8.8.8"), 40000, 123, {})).flow == flow);
    CHECK(judge(udp(way("1.1.1.1"), 40001, 53, {})).flow != flow);
    CHECK(judge(udp(way("1.1.1.1", "192.168.105.21"), 40000, 53, {})).flow != flow);
  }

  TEST_CASE_FIXTURE(filter_fixture, "frames to other MAC addresses are not ours") {
    auto elsewhere = way("1.1.1.1");
    for (const std::uint64_t mac :
         {0x5254'0000'0001ULL, 0x5255'c0a8'6902ULL, 0x5256'0000'0004ULL}) {
      elsewhere.destination_mac = mac_address::from_integer(mac);
      CHECK(verdict_of(icmp_echo(elsewhere, {})) == verdict::ignore);
    }
    auto to_nameserver = way("192.168.105.3");
    to_nameserver.destination_mac = user_mac_for(ip("192.168.105.3"));
    CHECK(verdict_of(udp(to_nameserver, 40000, 53, {})) == verdict::pass);
  }

  TEST_CASE_FIXTURE(filter_fixture, "broadcast and multicast stay inside, DHCP too") {
    dhcp_message discover;
    discover.client = vm_mac;
    CHECK(verdict_of(dhcp_from_client(discover)) == verdict::ignore);
    for (const auto* group : {"255.255.255.255", "192.168.105.255", "224.0.0.251"}) {
      auto broadcast = way(group);
      CHECK(verdict_of(udp(broadcast, 5353, 5353, {})) == verdict::ignore);
      broadcast.destination_mac = broadcast_mac;
      CHECK(verdict_of(udp(broadcast, 5353, 5353, {})) == verdict::ignore);
    }
    auto in_broadcast = way("1.1.1.1");
    in_broadcast.destination_mac = broadcast_mac;
    CHECK(verdict_of(icmp_echo(in_broadcast, {})) == verdict::ignore);
  }

  TEST_CASE_FIXTURE(filter_fixture, "addresses that nobody may send to or from are refused") {
    for (const auto* to : {"127.0.0.1", "127.255.0.9", "0.0.0.0", "0.1.2.3", "240.0.0.1",
                           "192.168.105.2", "192.168.105.99", "192.168.105.0"})
      CHECK_MESSAGE(verdict_of(icmp_echo(way(to), {})) == verdict::refuse, to);
    for (const auto* from : {"10.0.0.1", "0.0.0.0", "127.0.0.1", "224.0.0.1", "192.168.105.1",
                             "192.168.105.3", "192.168.105.255", "255.255.255.255"})
      CHECK_MESSAGE(verdict_of(icmp_echo(way("1.1.1.1", from), {})) == verdict::refuse, from);
  }

  TEST_CASE_FIXTURE(filter_fixture,
                    "TFTP to the gateway is refused, if it came in fragments as well") {
    CHECK(verdict_of(udp(way("192.168.105.1"), 40000, 69, {})) == verdict::refuse);
    const auto whole = udp(way("192.168.105.1"), 40000, 69, std::vector<std::byte>(4000));
    CHECK(filter.judge_whole(set16(whole, 14 + 6, 0)).what == verdict::refuse);
    CHECK(verdict_of(udp(way("1.1.1.1"), 40000, 69, {})) == verdict::pass);
  }

  TEST_CASE_FIXTURE(filter_fixture, "malformed IPv4 is refused") {
    const auto good = udp(way("1.1.1.1"), 40000, 53, {});
    CHECK(verdict_of(good) == verdict::pass);
    CHECK(verdict_of(frame(good.begin(), good.begin() + 33)) == verdict::refuse);
    CHECK(verdict_of(set16(good, 14 + 2, 19)) == verdict::refuse);
    CHECK(verdict_of(set16(good, 14 + 2, 27)) == verdict::refuse);
    CHECK(verdict_of(set16(good, 14 + 2, 29)) == verdict::refuse);
    for (const unsigned first : {0x4400U, 0x4600U, 0x4f00U, 0x5500U, 0x0500U})
      CHECK_MESSAGE(verdict_of(set16(good, 14, first)) == verdict::refuse, first);
    const std::vector<std::byte> too_short(19);
    CHECK(verdict_of(ipv4(way("1.1.1.1"), 6, too_short)) == verdict::refuse);
    CHECK(verdict_of(frame(13)) == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "a packet of the mtu passes, a larger one is refused") {
    CHECK(verdict_of(udp(way("1.1.1.1"), 1, 2, std::vector<std::byte>(1472))) == verdict::pass);
    CHECK(verdict_of(udp(way("1.1.1.1"), 1, 2, std::vector<std::byte>(1473))) == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "no fragment passes, whichever comes first") {
    for (const unsigned field : {0x2000U, 0x2001U, 0x0001U, 0x1fffU, 0x3fffU, 0x4001U})
      for (const std::uint8_t protocol : {protocol_icmp, protocol_udp})
        CHECK(verdict_of(fragment(way("192.168.105.1"), field, protocol)) == verdict::fragment);
    CHECK(verdict_of(fragment(way("1.1.1.1"), 1, 47)) == verdict::ignore);
    CHECK(verdict_of(fragment(way("127.0.0.1"), 1)) == verdict::refuse);
    CHECK(verdict_of(fragment(way("1.1.1.1", "10.0.0.1"), 1)) == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "the reserved flag, a fragment to libslirp, is refused") {
    for (const unsigned field : {0x8000U, 0xc000U, 0xa000U, 0x8001U})
      CHECK(verdict_of(fragment(way("1.1.1.1"), field)) == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "what came in fragments may be larger than the mtu") {
    const auto whole = udp(way("1.1.1.1"), 1, 2, std::vector<std::byte>(65'507));
    CHECK(verdict_of(whole) == verdict::refuse);
    CHECK(filter.judge_whole(whole).opens == socket_kind::udp);
  }

  TEST_CASE_FIXTURE(filter_fixture, "TCP in fragments is refused, however it is cut") {
    for (const unsigned field : {0x2000U, 0x2001U, 0x0001U, 0x1fffU})
      CHECK(verdict_of(fragment(way("1.1.1.1"), field, 6)) == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "IPv6 to us and to the outside passes") {
    CHECK(verdict_of(icmp6_to(ula, 2, 128)) == verdict::pass);
    CHECK(verdict_of(icmp6_to(link_local, 2, 135)) == verdict::pass);
    CHECK(verdict_of(icmp6_to(ula, 3, 128)) == verdict::pass);
    CHECK(verdict_of(router_solicitation(vm_mac)) == verdict::pass);
    const std::vector<std::byte> datagram(8);
    CHECK(judge(ipv6(ula, 0x99, global, 1, 17, datagram)).opens == socket_kind::udp);
    std::vector<std::byte> syn(20);
    syn[13] = std::byte{tcp_segment::syn};
    CHECK(judge(ipv6(ula, 0x99, global, 1, 6, syn)).opens == socket_kind::tcp);
    syn[13] = std::byte{tcp_segment::urg | tcp_segment::ack};
    CHECK(verdict_of(ipv6(ula, 0x99, global, 1, 6, syn)) == verdict::refuse);
  }

  TEST_CASE("IPv6 is that of the configured prefix, and no other") {
    host_config config;
    config.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
    user_filter filter{config};
    constexpr std::uint64_t own = 0xfd12'3456'789a'0001ULL;
    const auto syn_from = [&](std::uint64_t from) {
      std::vector<std::byte> segment(20);
      segment[13] = std::byte{2};
      return filter.judge(ipv6(from, 0x99, 0x2001'0db8ULL << 32, 1, 6, segment));
    };
    CHECK(syn_from(own).opens == socket_kind::tcp);
    CHECK(syn_from(ula).what == verdict::refuse);
    CHECK(syn_from(own + 1).what == verdict::refuse);
  }

  TEST_CASE_FIXTURE(filter_fixture, "IPv6 to the host's loopback under any name is refused") {
    const std::vector<std::byte> datagram(8);
    const auto to = [&](std::uint64_t half, std::uint64_t number) {
      return verdict_of(ipv6(ula, 0x99, half, number, 17, datagram));
    };
    CHECK(to(0, 1) == verdict::refuse);                // ::1
    CHECK(to(0, 0) == verdict::refuse);                // ::
    CHECK(to(0, 0xffff'7f00'0001) == verdict::refuse); // ::ffff:127.0.0.1
    CHECK(to(0, 0x7f00'0001) == verdict::refuse);      // ::127.0.0.1
    CHECK(to(ula, 0x1234) == verdict::refuse);         // libslirp takes all of it for itself
    CHECK(to(link_local, 0x1234) == verdict::refuse);
    CHECK(to(ula, 2) == verdict::pass);
  }

  TEST_CASE_FIXTURE(filter_fixture, "IPv6 that is malformed, foreign or not served goes nowhere") {
    const std::vector<std::byte> datagram(8);
    CHECK(verdict_of(ipv6(global, 1, global, 2, 17, datagram)) == verdict::refuse);
    CHECK(verdict_of(ipv6(0, 0, global, 2, 17, datagram)) == verdict::refuse);
    CHECK(verdict_of(ipv6(ula, 9, global, 2, 17, {})) == verdict::refuse);
    CHECK(verdict_of(icmp6_to(global, 1, 128)) == verdict::refuse);
    CHECK(verdict_of(ipv6(ula, 9, global, 2, 44, datagram)) == verdict::refuse); // a fragment
    CHECK(verdict_of(ipv6(ula, 9, global, 2, 43, datagram)) == verdict::ignore);
    CHECK(verdict_of(ipv6(ula, 9, 0xff02ULL << 48, 0xfb, 17, datagram,
                          mac_address::from_integer(0x3333'0000'00fb))) == verdict::ignore);
    auto longer = ipv6(ula, 9, global, 2, 17, datagram);
    CHECK(verdict_of(set16(longer, 14 + 4, 9)) == verdict::refuse);
    longer.resize(14 + 39);
    CHECK(verdict_of(longer) == verdict::refuse);
  }

  TEST_CASE("without IPv6 its packets are ignored") {
    host_config config;
    config.ipv6 = false;
    user_filter filter{config};
    CHECK(filter.judge(router_solicitation(vm_mac)).what == verdict::ignore);
  }

  TEST_CASE_FIXTURE(filter_fixture, "other protocols and tagged frames are ignored") {
    CHECK(verdict_of(ethernet(broadcast_mac, vm_mac, 0x88cc, {})) == verdict::ignore);
    CHECK(verdict_of(ethernet(user_mac_for(config.gateway), vm_mac, 0x88f8, {})) ==
          verdict::ignore);
    CHECK(verdict_of(tagged(udp(way("1.1.1.1"), 1, 2, {}), 5)) == verdict::ignore);
    CHECK(verdict_of(ipv4(way("1.1.1.1"), 47, std::vector<std::byte>(20))) == verdict::ignore);
  }

  TEST_CASE_FIXTURE(filter_fixture, "ARP passes if it is whole and does not claim our addresses") {
    const auto good = arp_request(vm_mac, ip("192.168.105.20"), ip("192.168.105.1"));
    CHECK(verdict_of(good) == verdict::pass);
    CHECK(verdict_of(frame(good.begin(), good.begin() + 41)) == verdict::refuse);
    CHECK(verdict_of(arp_request(vm_mac, ip("192.168.105.3"), ip("192.168.105.3"))) ==
          verdict::refuse);
  }
}
