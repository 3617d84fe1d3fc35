#include "vmnet/dns/dns_name.hpp"

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_SUITE("DNS name") {
  TEST_CASE("text is parsed with and without its last dot, in any letter case, and printed small") {
    for (const char* text : {"web.vm.internal", "WEB.vm.Internal", "web.vm.internal."}) {
      CAPTURE(text);
      const auto name = name_of(text);
      CHECK(to_string(name) == "web.vm.internal");
      CHECK(name.labels() == 3);
      CHECK(name.first_label() == "web");
      CHECK(to_string(name.parent()) == "vm.internal");
    }
    CHECK(to_string(name_of("_http._tcp.web")) == "_http._tcp.web");
    CHECK(name_of(".").is_root());
    CHECK(to_string(dns_name{}) == ".");
  }

  TEST_CASE("labels that are empty, too long or odd are refused, and so are names over 255 bytes") {
    const std::string longest(63, 'a');
    for (const auto& text :
         {std::string{}, std::string{".."}, std::string{"a..b"}, std::string{".a"},
          std::string{"a b"}, std::string{"a\xc3\xa4"}, longest + "a",
          longest + "." + longest + "." + longest + "." + longest})
      CHECK_FALSE(dns_name::parse(text));
    CHECK(dns_name::parse(longest + "." + longest + "." + longest + "." + std::string(61, 'a')));
  }

  TEST_CASE("within means whole labels") {
    const auto domain = name_of("vm.internal");
    CHECK(name_of("web.vm.internal").is_within(domain));
    CHECK(domain.is_within(domain));
    CHECK(domain.is_within(dns_name{}));
    CHECK_FALSE(name_of("webvm.internal").is_within(domain));
    CHECK_FALSE(name_of("internal").is_within(domain));
  }

  TEST_CASE("on the wire: octets of any kind, but no pointers, and never past the end") {
    dns_bytes wire;
    add_octets(wire, std::string_view{"\x03"
                                      "W b\x01.\0x",
                                      7});
    std::size_t at = 0;
    const auto name = dns_name::read(wire, at);
    REQUIRE(name);
    CHECK(to_string(*name) == "w\\032b.\\.");
    CHECK(at == 7);
    for (const std::string_view bad : {std::string_view{"\xc0\x00", 2},
                                       std::string_view{"\x03"
                                                        "ab"},
                                       std::string_view{"\x01"
                                                        "a"},
                                       std::string_view{"\x40"}, std::string_view{}}) {
      dns_bytes octets;
      add_octets(octets, bad);
      at = 0;
      CHECK_FALSE(dns_name::read(octets, at));
    }
  }

  TEST_CASE("names of addresses, there and back") {
    const ipv4_address address{0xc0a86914};
    CHECK(to_string(dns_name::reverse(address)) == "20.105.168.192.in-addr.arpa");
    const auto whole = reverse_block_of(dns_name::reverse(address));
    REQUIRE(whole);
    CHECK(whole->first == address);
    CHECK(whole->octets == 4);
    const auto part = reverse_block_of(name_of("168.192.in-addr.arpa"));
    REQUIRE(part);
    CHECK(part->first == ipv4_address{0xc0a80000});
    CHECK(part->octets == 2);
    CHECK(reverse_block_of(name_of("x.20.105.168.192.in-addr.arpa"))->is_below);
    for (const char* text : {"256.168.192.in-addr.arpa", "01.1.1.1.in-addr.arpa", "x.in-addr.arpa",
                             "1.168.192.ip6.arpa", "arpa"})
      CHECK_FALSE(reverse_block_of(name_of(text)));
    ipv6_address six;
    six.octets[0] = 0xfd;
    six.octets[15] = 2;
    CHECK(to_string(dns_name::reverse(six)) ==
          "2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa");
  }
}
