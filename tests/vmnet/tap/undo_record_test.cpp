#include "vmnet/tap/undo_record.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using what = device_step::what;

TEST_SUITE("undo_record") {

  TEST_CASE("what was done to someone's device is remembered as text, and read back") {
    for (const auto& [step, text] : {
             std::pair{device_step{what::address4, "192.168.105.1/24", true},
                       "address4 192.168.105.1/24"},
             std::pair{device_step{what::address6, "fd00::1/64", true}, "address6 fd00::1/64"},
             std::pair{device_step{what::mtu, "1400"}, "mtu 1400"},
             std::pair{device_step{what::setting, "ipv4/arp_ignore=0"},
                       "setting ipv4/arp_ignore=0"},
             std::pair{device_step{what::up, "", true}, "up"},
         }) {
      CHECK(to_record(step) == std::string{text});
      CHECK(from_record(text) == step);
    }
  }

  TEST_CASE("a bridge and a MAC address are not remembered") {
    CHECK_FALSE(to_record({what::bridge, "br0", true}));
    CHECK_FALSE(to_record({what::mac, "52:54:00:00:00:01"}));
  }

  TEST_CASE("text that nobody of us wrote is no step") {
    for (const char* text : {"",
                             " ",
                             "up up",
                             "down",
                             "address4",
                             "address4 ",
                             "address4 1.2.3.4/24; reboot",
                             "address6 fd00::1/64\n",
                             "mtu",
                             "mtu -1",
                             "mtu 123456",
                             "mtu 1400 ",
                             "bridge br0",
                             "setting",
                             "setting ipv4/",
                             "setting ipv4/=1",
                             "setting ipv4/arp_ignore",
                             "setting ipv4/../../kernel/x=1",
                             "setting ipv4/a.b=1",
                             "setting net/arp_ignore=1",
                             "setting ipv6/accept_ra=",
                             "setting ipv6/accept_ra=1 2"}) {
      CAPTURE(text);
      CHECK_FALSE(from_record(text));
    }
  }

} // TEST_SUITE
