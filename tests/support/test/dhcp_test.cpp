#include "tests/support/dhcp.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr std::size_t first_option = 240; // behind the magic cookie

dhcp_message sample_ack() {
  dhcp_message ack;
  ack.kind = dhcp_message::ack;
  ack.transaction = 0xdeadbeef;
  ack.client = mac_address::from_integer(0x5254'0000'000a);
  ack.your_address = {0xc0a8690f};
  ack.server = ipv4_address{0xc0a86902};
  ack.mask = ipv4_address{0xffffff00};
  ack.routers = {{0xc0a86901}};
  ack.dns = {{0xc0a86903}, {0x08080808}};
  ack.lease = std::chrono::seconds{86400};
  ack.mtu = 1400;
  ack.host_name = "alpha";
  return ack;
}

// The fixed part of a message, then these options instead of its own.
std::vector<std::byte> with_options(std::initializer_list<unsigned> options) {
  auto bytes = encode_dhcp(sample_ack());
  bytes.resize(first_option);
  for (const unsigned octet : options)
    bytes.push_back(static_cast<std::byte>(octet));
  return bytes;
}

} // namespace

TEST_CASE("an acknowledgement comes back as it was built") {
  const auto parsed = parse_dhcp(encode_dhcp(sample_ack()));
  REQUIRE(parsed);
  CHECK(parsed->kind == dhcp_message::ack);
  CHECK(parsed->transaction == 0xdeadbeef);
  CHECK(parsed->client == sample_ack().client);
  CHECK(parsed->your_address == sample_ack().your_address);
  CHECK(parsed->server == sample_ack().server);
  CHECK(parsed->mask == sample_ack().mask);
  CHECK(parsed->routers == sample_ack().routers);
  CHECK(parsed->dns == sample_ack().dns);
  CHECK(parsed->lease == sample_ack().lease);
  CHECK(parsed->mtu == sample_ack().mtu);
  CHECK(parsed->host_name == "alpha");
}

TEST_CASE("the fixed part lies where RFC 2131 puts it") {
  const auto bytes = encode_dhcp(sample_ack());
  CHECK(bytes[0] == std::byte{2}); // BOOTREPLY
  CHECK(bytes[4] == std::byte{0xde});
  CHECK(bytes[16] == std::byte{0xc0}); // yiaddr
  CHECK(bytes[28] == std::byte{0x52}); // chaddr
  CHECK(bytes[236] == std::byte{0x63});
  CHECK(bytes[first_option] == std::byte{53});
}

TEST_CASE("a message that is cut short is refused, wherever it is cut") {
  auto whole = encode_dhcp(sample_ack());
  while (whole.back() == std::byte{0}) // padding behind the end option
    whole.pop_back();
  REQUIRE(parse_dhcp(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(parse_dhcp(std::span{whole}.first(size)));
  }
}

TEST_CASE("options that cannot be right are refused") {
  REQUIRE(parse_dhcp(with_options({53, 1, 5, 255})));
  SUBCASE("a length that reaches past the end") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 12, 200, 'a', 255})));
  }
  SUBCASE("a code without a length") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 12})));
  }
  SUBCASE("no message type, as in plain BOOTP") {
    auto question = with_options({255});
    question[0] = std::byte{1};
    CHECK_FALSE(parse_dhcp(question));
  }
  SUBCASE("message type 0") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 0, 255})));
  }
  SUBCASE("message type 9") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 9, 255})));
  }
  SUBCASE("a question's type in an answer") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 1, 255})));
  }
  SUBCASE("two message types") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 53, 1, 5, 255})));
  }
  SUBCASE("a mask of three bytes") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 1, 3, 255, 255, 255, 255})));
  }
  SUBCASE("an empty list of routers") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 3, 0, 255})));
  }
  SUBCASE("a list of five bytes of DNS servers") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5, 6, 5, 1, 2, 3, 4, 5, 255})));
  }
  SUBCASE("no end option") {
    CHECK_FALSE(parse_dhcp(with_options({53, 1, 5})));
  }
}

TEST_CASE("padding between options and unknown options are skipped") {
  const auto parsed = parse_dhcp(with_options({0, 0, 119, 1, 7, 119, 1, 7, 53, 1, 5, 0, 255}));
  REQUIRE(parsed);
  CHECK(parsed->kind == dhcp_message::ack);
}

TEST_CASE("a frame for the server is no answer for a client, and the other way round") {
  auto question = sample_ack();
  question.kind = dhcp_message::discover;
  const auto asked = dhcp_from_client(question);
  CHECK(parse_dhcp_request(asked));
  CHECK_FALSE(parse_dhcp_reply(asked));
  const auto answered = dhcp_from_server(sample_ack(), mac_address::from_integer(2), {3});
  CHECK(parse_dhcp_reply(answered));
  CHECK_FALSE(parse_dhcp_request(answered));
}
