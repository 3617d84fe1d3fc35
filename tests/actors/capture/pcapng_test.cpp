// Blocks, byte by byte, as draft-ietf-opsawg-pcapng draws them.

#include "actors/capture/pcapng.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tests/support/bytes.hpp"

using namespace vmswitch;

namespace {

// What a block looks like in little-endian; `fields` is a hexadecimal text with spaces.
std::string hex(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0)
      text += i % 4 == 0 ? " " : "";
    text += digits[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += digits[std::to_integer<unsigned>(bytes[i]) & 15];
  }
  return text;
}

std::vector<std::byte> packet_block(const pcapng::packet& value) {
  std::vector<std::byte> block(pcapng::packet_block_size(value.bytes.size(), value.lost_before > 0),
                               std::byte{0xee});
  pcapng::write_block(block.data(), value);
  return block;
}

const test::frame five_bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
constexpr std::uint64_t a_time = 0x1122'3344'5566'7788;

} // namespace

TEST_SUITE("pcapng") {

  TEST_CASE("4.1: the section header tells byte order, version and an unknown length") {
    CHECK(hex(pcapng::section_header("me", "net1")) ==
          "0a0d0d0a 30000000 4d3c2b1a 01000000 ffffffff ffffffff "
          "01000400 6e657431 " // opt_comment
          "04000200 6d650000 " // shb_userappl, padded
          "00000000 30000000");
  }

  TEST_CASE("a text that is empty is left out, one that is too long is cut") {
    CHECK(hex(pcapng::section_header("", "")) ==
          "0a0d0d0a 20000000 4d3c2b1a 01000000 ffffffff ffffffff 00000000 20000000");
    const std::string endless(100'000, 'x');
    CHECK(pcapng::section_header("", endless).size() == 32 + 4 + pcapng::max_text);
  }

  TEST_CASE("4.2: an interface has its name, its filter, and times in nanoseconds") {
    CHECK(hex(to_block(pcapng::interface_description{"vm.1", "arp", 262'144})) ==
          "01000000 30000000 01000000 00000400 "
          "02000400 766d2e31 " // if_name
          "09000100 09000000 " // if_tsresol: 10^-9
          "0b000400 00617270 " // if_filter: 0, a libpcap text
          "00000000 30000000");
    CHECK(to_block(pcapng::interface_description{"vm.1", "", 64}).size() == 0x30 - 8);
  }

  TEST_CASE("4.3: a packet is padded to 32 bits, and carries its direction") {
    const auto block = packet_block({3, a_time, pcapng::direction::inbound, 60, five_bytes, 0});
    CHECK(hex(block) == "06000000 34000000 03000000 44332211 88776655 05000000 3c000000 "
                        "01020304 05000000 "
                        "02000400 01000000 " // epb_flags: inbound
                        "00000000 34000000");
  }

  TEST_CASE("frames that were lost stand in the next one that was not") {
    const auto block = packet_block(
        {0, a_time, pcapng::direction::outbound, 4, std::span{five_bytes}.first(4), 258});
    CHECK(hex(block) == "06000000 3c000000 00000000 44332211 88776655 04000000 04000000 "
                        "01020304 "
                        "02000400 02000000 "          // epb_flags: outbound
                        "04000800 02010000 00000000 " // epb_dropcount
                        "00000000 3c000000");
  }

  TEST_CASE("no frame is too short for a block") {
    for (std::size_t size = 0; size <= 5; ++size) {
      CAPTURE(size);
      const auto block =
          packet_block({0, 0, pcapng::direction::inbound, 5, std::span{five_bytes}.first(size), 0});
      CHECK(block.size() % 4 == 0);
      CHECK(hex(std::span{block}.last(4)) == hex(std::span{block}.subspan(4, 4)));
    }
  }

  TEST_CASE("4.6: statistics tell what was received, accepted, delivered and dropped") {
    CHECK(hex(to_block(pcapng::interface_statistics{2, a_time, a_time + 1, 9, 8, 5, 3}, "why")) ==
          "05000000 6c000000 02000000 44332211 89776655 "
          "01000300 77687900 "          // opt_comment
          "02000800 44332211 88776655 " // isb_starttime
          "03000800 44332211 89776655 " // isb_endtime
          "04000800 09000000 00000000 " // isb_ifrecv
          "05000800 03000000 00000000 " // isb_ifdrop
          "06000800 08000000 00000000 " // isb_filteraccept
          "08000800 05000000 00000000 " // isb_usrdeliv
          "00000000 6c000000");
  }

} // TEST_SUITE
