#include "tests/support/frames.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr auto vm_a = mac_address::from_integer(0x5254'0000'000a);
constexpr auto vm_b = mac_address::from_integer(0x5254'0000'000b);
const route a_to_b{vm_a, vm_b, {0x0a000001}, {0x0a000002}};

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const unsigned value : values)
    out.push_back(static_cast<std::byte>(value));
  return out;
}

} // namespace

TEST_CASE("the checksum of RFC 1071's own example is right") {
  // Section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
  const auto example = bytes({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7});
  CHECK(internet_checksum(example) == static_cast<std::uint16_t>(~0xddf2));
}

TEST_CASE("an odd last byte counts as the high half of a word") {
  CHECK(internet_checksum(bytes({0x12})) == static_cast<std::uint16_t>(~0x1200));
}

TEST_CASE("an ARP request is, byte by byte, what RFC 826 says") {
  const auto request = arp_request(vm_a, {0x0a000001}, {0x0a000002});
  CHECK(request == bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x52, 0x54, 0, 0, 0, 0x0a, // Ethernet
                          0x08, 0x06, 0,    1,    0x08, 0,    6,    4,    0, 1,          // header
                          0x52, 0x54, 0,    0,    0,    0x0a, 10,   0,    0, 1,          // sender
                          0,    0,    0,    0,    0,    0,    10,   0,    0, 2}));       // target
}

TEST_CASE("an ARP packet that is cut short is not parsed, wherever it is cut") {
  const auto whole = arp_reply(vm_a, {1}, vm_b, {2});
  REQUIRE(parse_arp(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(parse_arp(std::span{whole}.first(size)));
}

TEST_CASE("an ICMP echo comes back as it was built") {
  const auto built = icmp_echo(a_to_b, {false, 0x1234, 7, bytes({1, 2, 3})});
  const auto packet = parse_ipv4(built);
  REQUIRE(packet);
  CHECK(packet->way.source == a_to_b.source);
  CHECK(packet->way.destination_mac == vm_b);
  const auto message = parse_icmp_echo(*packet);
  REQUIRE(message);
  CHECK_FALSE(message->is_reply);
  CHECK(message->identifier == 0x1234);
  CHECK(message->sequence == 7);
  CHECK(message->data == bytes({1, 2, 3}));
}

TEST_CASE("one flipped bit anywhere in an echo, or in its IPv4 header, is noticed") {
  const auto sound = icmp_echo(a_to_b, {false, 0x1234, 7, bytes({1, 2, 3})});
  for (std::size_t at = ethernet_header_size; at < sound.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto damaged = sound;
      damaged[at] ^= static_cast<std::byte>(1u << bit);
      const auto packet = parse_ipv4(damaged);
      CAPTURE(at);
      CAPTURE(bit);
      CHECK_FALSE((packet && parse_icmp_echo(*packet)));
    }
}

TEST_CASE("one flipped bit anywhere in a UDP datagram is noticed") {
  const auto sound = udp(a_to_b, 1000, 2000, bytes({1, 2, 3}));
  for (std::size_t at = ethernet_header_size + 20; at < sound.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto damaged = sound;
      damaged[at] ^= static_cast<std::byte>(1u << bit);
      const auto packet = parse_ipv4(damaged);
      REQUIRE(packet);
      CAPTURE(at);
      CAPTURE(bit);
      CHECK_FALSE(parse_udp(*packet));
    }
}

TEST_CASE("padding behind a short IPv4 packet is not part of it") {
  auto padded = udp(a_to_b, 1, 2, bytes({9}));
  padded.resize(60);
  const auto packet = parse_ipv4(padded);
  REQUIRE(packet);
  REQUIRE(parse_udp(*packet));
  CHECK(parse_udp(*packet)->payload.size() == 1);
}

TEST_CASE("an IPv4 packet whose length field reaches past the frame is not parsed") {
  auto whole = udp(a_to_b, 1, 2, bytes({9}));
  whole.pop_back();
  CHECK_FALSE(parse_ipv4(whole));
}

TEST_CASE("wire form is a big-endian length and the frame") {
  CHECK(wire_form(bytes({0xaa, 0xbb})) == bytes({0, 0, 0, 2, 0xaa, 0xbb}));
}

TEST_CASE("a tag stands between addresses and type") {
  const auto plain = ethernet(vm_b, vm_a, type_arp, bytes({1}));
  CHECK(tagged(plain, 5) == bytes({0x52, 0x54, 0, 0, 0, 0x0b, 0x52, 0x54, 0, 0, 0, 0x0a, //
                                   0x81, 0x00, 0, 5, 0x08, 0x06, 1}));
}

TEST_CASE("a router solicitation comes from the link-local address of its MAC") {
  const auto solicitation = router_solicitation(mac_address::from_integer(0x5254'0012'3456));
  const auto source = std::span{solicitation}.subspan(ethernet_header_size + 8, 16);
  const auto expected =
      bytes({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56});
  CHECK(std::vector(source.begin(), source.end()) == expected);
  CHECK(solicitation.size() == ethernet_header_size + 40 + 16);
}
