#include <random>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"
#include "vmnet/dhcp/dhcp_request.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

/// A message with these options; `file` and `server_name` fill the fields of that name.
std::vector<std::byte> message_with(std::span<const std::byte> options,
                                    std::span<const std::byte> file = {},
                                    std::span<const std::byte> server_name = {}) {
  byte_writer out;
  out.u8(1).u8(1).u8(6).u8(0).u32(0x1234).u16(0).u16(0x8000).u32(0).u32(0).u32(0).u32(0);
  out.mac(vm(1)).zeros(10);
  out.bytes(server_name).zeros(64 - server_name.size());
  out.bytes(file).zeros(128 - file.size());
  out.u32(0x63825363).bytes(options);
  return out.take();
}

std::optional<dhcp_request> parse(byte_writer options) {
  return vmswitch::parse_dhcp_request(message_with(options.take()));
}

byte_writer discover() {
  byte_writer out;
  out.u8(53).u8(1).u8(1);
  return out;
}

} // namespace

TEST_SUITE("dhcp request") {
  TEST_CASE("what a client says is read") {
    const auto request = parse(discover()
                                   .u8(50)
                                   .u8(4)
                                   .ip(ip("192.168.105.9"))
                                   .u8(54)
                                   .u8(4)
                                   .ip(ip("192.168.105.1"))
                                   .u8(57)
                                   .u8(2)
                                   .u16(1400)
                                   .u8(55)
                                   .u8(3)
                                   .u8(1)
                                   .u8(3)
                                   .u8(119)
                                   .u8(61)
                                   .u8(3)
                                   .u8(1)
                                   .u8(2)
                                   .u8(3)
                                   .u8(12)
                                   .u8(3)
                                   .u8('w')
                                   .u8('e')
                                   .u8('b')
                                   .u8(255));
    REQUIRE(request);
    CHECK(request->kind == dhcp_kind::discover);
    CHECK(request->transaction == 0x1234);
    CHECK(request->wants_broadcast);
    CHECK(request->client == vm(1));
    CHECK(request->requested == ip("192.168.105.9"));
    CHECK(request->server == ip("192.168.105.1"));
    CHECK(request->largest_reply == 1400);
    CHECK(request->wanted == std::vector<std::uint8_t>{1, 3, 119});
    CHECK(request->client_id == "\1\2\3");
    CHECK(request->host_name == "web");
  }

  TEST_CASE("a client that gives its whole name only (option 81) has its first label as a name") {
    const auto with_name = [](unsigned flags, std::string_view name) {
      auto out = discover();
      out.u8(81).u8(static_cast<unsigned>(3 + name.size())).u8(flags).u16(0);
      out.bytes(std::as_bytes(std::span{name}));
      const auto request = parse(std::move(out));
      return request ? request->host_name : "nothing";
    };
    CHECK(with_name(0, "web.example.org") == "web");
    CHECK(with_name(4, std::string_view{"\3web\7example\0", 13}) == "web");
    CHECK(with_name(4, "\xffweb") == "web");
    CHECK(with_name(0, "") == "");
    CHECK(with_name(4, "\4a b!") == "");
  }

  TEST_CASE("padding between options, and garbage behind the end, are no options") {
    CHECK(parse(byte_writer{}.zeros(5).u8(53).u8(1).u8(1).zeros(3).u8(255).u8(50).u8(99)));
    CHECK(parse(discover())); // no end at all: old clients do that
  }

  TEST_CASE("an option that is split is joined (RFC 3396)") {
    const auto request =
        parse(discover().u8(61).u8(2).u8(1).u8(2).u8(55).u8(1).u8(1).u8(61).u8(1).u8(3).u8(255));
    REQUIRE(request);
    CHECK(request->client_id == "\1\2\3");
  }

  TEST_CASE("options may go on in the fields for file and server name (option 52)") {
    const auto in_file = byte_writer{}.u8(50).u8(4).ip(ip("192.168.105.9")).u8(255).take();
    const auto in_name = byte_writer{}.u8(12).u8(1).u8('a').u8(255).take();
    const auto with_overload = [&](unsigned fields) {
      return vmswitch::parse_dhcp_request(
          message_with(discover().u8(52).u8(1).u8(fields).u8(255).take(), in_file, in_name));
    };
    CHECK(with_overload(3)->requested == ip("192.168.105.9"));
    CHECK(with_overload(3)->host_name == "a");
    CHECK_FALSE(with_overload(2)->requested);
    CHECK(with_overload(1)->host_name.empty());
    CHECK_FALSE(with_overload(0));
    CHECK_FALSE(with_overload(4));
  }

  TEST_CASE("hostile: options that reach past the end of their field") {
    CHECK_FALSE(parse(discover().u8(61).u8(4).u8(1).u8(2).u8(3)));
    CHECK_FALSE(parse(discover().u8(61)));
    CHECK_FALSE(parse(discover().u8(255).zeros(0).u8(0)) == std::nullopt); // that is fine
    const auto all_of_it = std::vector<std::byte>(128, std::byte{200});    // 200 bytes in 126
    CHECK_FALSE(vmswitch::parse_dhcp_request(
        message_with(discover().u8(52).u8(1).u8(1).u8(255).take(), all_of_it)));
  }

  TEST_CASE("hostile: options with a length that they cannot have") {
    CHECK_FALSE(parse(byte_writer{}.u8(53).u8(0).u8(255)));
    CHECK_FALSE(parse(byte_writer{}.u8(53).u8(2).u8(1).u8(1).u8(255)));
    CHECK_FALSE(parse(discover().u8(53).u8(1).u8(1).u8(255))); // joined to two bytes
    CHECK_FALSE(parse(discover().u8(50).u8(3).zeros(3).u8(255)));
    CHECK_FALSE(parse(discover().u8(50).u8(0).u8(255)));
    CHECK_FALSE(parse(discover().u8(54).u8(8).zeros(8).u8(255)));
  }

  TEST_CASE("a client that says it takes next to nothing gets what every client must take") {
    CHECK(parse(discover().u8(57).u8(2).u16(0).u8(255))->largest_reply == 576);
    CHECK(parse(discover().u8(57).u8(1).u8(9).u8(255))->largest_reply == 576);
  }

  TEST_CASE("not for us: BOOTP, replies, relays, other hardware, impossible clients") {
    CHECK_FALSE(parse(byte_writer{}.u8(255))); // BOOTP has no message type
    for (const unsigned kind : {0U, 2U, 5U, 6U, 9U, 255U})
      CHECK_FALSE(parse(byte_writer{}.u8(53).u8(1).u8(kind).u8(255)));
    const auto right = message_with(discover().take());
    REQUIRE(vmswitch::parse_dhcp_request(right));
    const auto changed = [&](std::size_t at, unsigned value) {
      auto wrong = right;
      wrong[at] = static_cast<std::byte>(value);
      return vmswitch::parse_dhcp_request(wrong);
    };
    CHECK_FALSE(changed(0, 2));   // a reply
    CHECK_FALSE(changed(1, 6));   // IEEE 802
    CHECK_FALSE(changed(2, 16));  // a hardware address of 16 bytes
    CHECK_FALSE(changed(27, 1));  // a relay
    CHECK_FALSE(changed(28, 1));  // a group
    CHECK_FALSE(changed(236, 0)); // no magic cookie
    auto nobody = right;
    std::fill_n(nobody.begin() + 28, 6, std::byte{});
    CHECK_FALSE(vmswitch::parse_dhcp_request(nobody));
  }

  TEST_CASE("hostile: any length, and a message of megabytes") {
    const auto right = message_with(discover().take());
    for (std::size_t size = 0; size < right.size(); ++size)
      CHECK_FALSE(vmswitch::parse_dhcp_request(std::span{right}.first(size)));
    CHECK_FALSE(vmswitch::parse_dhcp_request(message_with(discover().zeros(60'000).take())));
  }

  TEST_CASE("hostile: right messages with random changes never end the process") {
    constexpr std::uint32_t seed = 4711;
    CAPTURE(seed);
    std::mt19937 random{seed};
    dhcp_bench b;
    dhcp_message right = b.message(dhcp_message::request, vm(1));
    right.requested = ip("192.168.105.9");
    right.client_id = {std::byte{1}, std::byte{2}};
    right.host_name = "alpha";
    std::size_t answers = 0;
    for (int round = 0; round < 20'000; ++round) {
      auto bare = dhcp_from_client(right);
      for (auto changes = random() % 4; changes > 0; --changes)
        bare[14 + random() % (bare.size() - 14)] = static_cast<std::byte>(random());
      if (b.server.is_for_server(bare))
        answers += b.server.receive(bare, b.now).frames.size();
      b.now += std::chrono::milliseconds{2};
    }
    CHECK(answers > 1000);
    CHECK(answers < 20'000);
  }
}
