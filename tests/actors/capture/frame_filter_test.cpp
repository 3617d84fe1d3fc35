#include "actors/capture/frame_filter.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

const route way{vm_mac(1), vm_mac(2), {0x0a000001}, {0x0a000002}};

frame dns_query() {
  return udp(way, 5000, 53, {});
}
frame ping() {
  return icmp_echo(way, {});
}
frame arp() {
  return arp_request(vm_mac(1), {0x0a000001}, {0x0a000002});
}

frame_filter compiled(const char* text) {
  CAPTURE(text);
  const auto made = frame_filter::compile(text);
  REQUIRE(made.has_value());
  return *made;
}

} // namespace

TEST_SUITE("frame_filter") {

  TEST_CASE("a filter cuts what it should") {
    struct row {
      const char* text;
      bool dns, ping, arp;
    };
    for (const auto& [text, dns, icmp, address] : {
             row{"arp", false, false, true},
             row{"not arp", true, true, false},
             row{"icmp", false, true, false},
             row{"udp port 53", true, false, false},
             row{"host 10.0.0.2", true, true, true},
             row{"ip host 10.0.0.2", true, true, false},
             row{"ether src 02:00:00:00:00:01 and not icmp", true, false, true},
             row{"ether dst 02:00:00:00:00:01", false, false, false},
             row{"broadcast", false, false, true},
             row{"greater 43", false, false, false},
             row{"less 41", false, false, false},
         }) {
      const auto filter = compiled(text);
      CHECK(filter.passes(dns_query()) == dns);
      CHECK(filter.passes(ping()) == icmp);
      CHECK(filter.passes(arp()) == address);
      CHECK_FALSE(filter.passes_all());
    }
  }

  TEST_CASE("tagged frames are seen behind \"vlan\"") {
    const auto inside = tagged(ping(), 7);
    CHECK(compiled("vlan 7 and icmp").passes(inside));
    CHECK_FALSE(compiled("icmp").passes(inside));
  }

  TEST_CASE("no text, or a blank one, lets everything pass") {
    for (const char* text : {"", " ", "\t\n"}) {
      const auto filter = compiled(text);
      CHECK(filter.passes_all());
      CHECK(filter.passes(arp()));
    }
    CHECK(frame_filter{}.passes(arp()));
  }

  TEST_CASE("a text that is no filter is refused with libpcap's words") {
    struct row {
      const char* text;
      const char* reason;
    };
    for (const row& each : {row{"tcp prt 80", "syntax error"}, row{"host", "syntax error"},
                            row{"(arp", "syntax error"}, row{"ether host 1.2.3.4", "link layer"},
                            row{"inbound", "direction"}, row{"ip6 host 10.0.0.1", "applied to"},
                            row{"port 70000", "port"}}) {
      CAPTURE(each.text);
      const auto made = frame_filter::compile(each.text);
      REQUIRE_FALSE(made.has_value());
      CHECK(made.error().text.find(each.text) != std::string::npos);
      CAPTURE(made.error().text);
      CHECK(made.error().text.find(each.reason) != std::string::npos);
    }
  }

  TEST_CASE("what only a kernel knows of a frame is refused, instead of matching nothing") {
    for (const char* text : {"inbound", "outbound and arp", "not inbound"}) {
      CAPTURE(text);
      CHECK_FALSE(frame_filter::compile(text).has_value());
    }
  }

  TEST_CASE("a hostile text is refused: endless, with a character 0, deep, or senseless") {
    CHECK_FALSE(frame_filter::compile(std::string(frame_filter::max_text + 1, ' ') + "arp"));
    CHECK_FALSE(frame_filter::compile(std::string_view{"arp\0or udp", 10}));
    CHECK_FALSE(frame_filter::compile(std::string(frame_filter::max_text, '(')));
    CHECK_FALSE(frame_filter::compile("\xff\xfe%n%s"));
  }

  TEST_CASE("a frame that is shorter than the filter looks is not wanted, and not read beyond") {
    const auto filter = compiled("udp port 53");
    const auto whole = dns_query();
    for (std::size_t size = 14; size < whole.size(); ++size)
      static_cast<void>(filter.passes(frame{whole.begin(), whole.begin() + size})); // under ASan
    CHECK_FALSE(filter.passes(frame{whole.begin(), whole.begin() + 14}));
  }

} // TEST_SUITE
