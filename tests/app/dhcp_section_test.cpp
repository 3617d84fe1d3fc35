#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

namespace {

/// A right network whose `[network.dhcp]`, which begins in line 4, has these lines.
std::string dhcp_with(const std::string& lines) {
  return "[[network]]\n[[network.listen]]\npath = \"/run/a.sock\"\n[network.dhcp]\n" + lines + "\n";
}

std::string reserving(const std::string& lines) {
  return "[[network]]\n[[network.listen]]\npath = \"/run/a.sock\"\n[[network.reservation]]\n" +
         lines + "\n";
}

} // namespace

TEST_CASE("DHCP: every setting arrives") {
  const auto dhcp = parsed(dhcp_with(R"(range = ["192.168.105.100", "192.168.105.199"]
lease_time = 600
domain = "vm.internal"
search = ["vm.internal", "example.org"]
dns = ["9.9.9.9"]
lease_file = "leases"
options = [{ code = 66, text = "boot" }, { code = 43, hex = "01:02 ff" },
           { code = 42, addresses = ["1.2.3.4", "5.6.7.8"] }]
[[network.reservation]]
mac = "52:54:00:00:00:01"
address = "192.168.105.20"
name = "web"
[[network.reservation]]
mac = "52:54:00:00:00:02"
name = "db")"),
                           "/etc/vm.toml")
                        .networks[0]
                        .dhcp;
  CHECK(dhcp.enabled);
  CHECK(dhcp.range == dhcp_range{{0xc0a86964}, {0xc0a869c7}});
  CHECK(dhcp.lease_time == std::chrono::seconds{600});
  CHECK(dhcp.domain == "vm.internal");
  CHECK(dhcp.search == strings{"vm.internal", "example.org"});
  CHECK(dhcp.dns == std::vector{ipv4_address{0x09090909}});
  CHECK(dhcp.lease_file == "/etc/leases");
  CHECK(dhcp.options == std::vector<dhcp_option>{{66, "boot"},
                                                 {43, "\x01\x02\xff"},
                                                 {42, "\x01\x02\x03\x04\x05\x06\x07\x08"}});
  REQUIRE(dhcp.reservations.size() == 2);
  CHECK(dhcp.reservations[0] == dhcp_reservation{mac_address::from_integer(0x5254'0000'0001),
                                                 ipv4_address{0xc0a86914}, "web"});
  CHECK_FALSE(dhcp.reservations[1].address.has_value());
}

TEST_CASE("DHCP: all mistakes are named at once, where they stand") {
  CHECK(places(dhcp_with("enabled = 1\nrange = [\"192.168.105.100\"]\nlease_time = 9\n"
                         "domain = \"-\"\nsearch = [\"a\", \"b c\"]\ndns = [\"9\", \"1.1.1.1\"]\n"
                         "lease_file = \"\"\noption = []")) ==
        strings{"5:11 network.dhcp.enabled", "6:9 network.dhcp.range",
                "7:14 network.dhcp.lease_time", "8:10 network.dhcp.domain",
                "9:16 network.dhcp.search", "10:8 network.dhcp.dns",
                "11:14 network.dhcp.lease_file", "12:1 network.dhcp.option"});
}

TEST_CASE("DHCP: a range outside of the subnet is refused, with one that is right") {
  const auto text = mistakes(dhcp_with("range = [\"192.168.104.1\", \"192.168.105.9\"]"));
  CHECK(contains(text, "192.168.104.1 is not an address for a host in 192.168.105.0/24"));
  CHECK(contains(text, "[\"192.168.105.4\", \"192.168.105.254\"]"));
  CHECK(places(dhcp_with("range = [\"192.168.105.9\", \"192.168.105.8\"]")).size() == 1);
  // What follows from a wrong subnet is not told.
  CHECK(places("[[network]]\nsubnet = \"x\"\n[[network.listen]]\npath = \"/a\"\n"
               "[network.dhcp]\nrange = [\"10.0.0.1\", \"10.0.0.9\"]\n") ==
        strings{"2:10 network.subnet"});
}

TEST_CASE("DHCP: options that the server sets itself, and values that are none") {
  const auto of = [](const std::string& option) {
    return mistakes(dhcp_with("options = [" + option + "]"));
  };
  CHECK(of("{ code = 66, text = \"x\" }").empty());
  CHECK(contains(of("{ code = 6, hex = \"01020304\" }"), "is set by another key: dns"));
  CHECK(contains(of("{ code = 53, hex = \"01\" }"), "is set by the server itself"));
  CHECK(contains(of("{ code = 255, hex = \"01\" }"), "out of range"));
  CHECK(contains(of("{ code = 66 }"), "one value: text, hex or addresses"));
  CHECK(contains(of("{ code = 66, text = \"a\", hex = \"00\" }"), "one value"));
  CHECK(contains(of("{ text = \"a\" }"), "needs its number"));
  CHECK(contains(of("{ code = 66, text = \"\" }"), "0 bytes"));
  CHECK(contains(of("{ code = 66, text = \"" + std::string(256, 'x') + "\" }"), "256 bytes"));
  CHECK(contains(of("{ code = 66, hex = \"123\" }"), "not hexadecimal"));
  CHECK(contains(of("{ code = 66, hex = \"zz\" }"), "not hexadecimal"));
  CHECK(contains(of("{ code = 66, text = \"a\" }, { code = 66, text = \"b\" }"), "already used"));
}

TEST_CASE("DHCP: a reservation has a MAC address, and an address or a name of its own") {
  CHECK(places(reserving("mac = \"52:54:00:00:00:01\"\nname = \"web\"")).empty());
  CHECK(contains(mistakes(reserving("name = \"web\"")), "needs the MAC address"));
  CHECK(contains(mistakes(reserving("mac = \"52:54:00:00:00:01\"")), "nothing is reserved"));
  CHECK(contains(mistakes(reserving("mac = \"01:54:00:00:00:01\"\nname = \"web\"")),
                 "not the MAC address of a VM"));
  CHECK(contains(mistakes(reserving("mac = \"52:54:00:00:00\"\nname = \"web\"")),
                 "not a MAC address"));
  CHECK(contains(mistakes(reserving("mac = \"52:54:00:00:00:01\"\nname = \"a.b\"")),
                 "not a host name"));
  for (const auto* address : {"192.168.105.1", "192.168.105.3", "192.168.105.255", "10.0.0.1"})
    CHECK(places(reserving("mac = \"52:54:00:00:00:01\"\naddress = \"" + std::string{address} +
                           "\"")) == strings{"6:11 network.reservation.address"});
  CHECK(places(reserving("mac = \"52:54:00:00:00:01\"\naddress = \"192.168.105.9\"\nname = \"a\"\n"
                         "[[network.reservation]]\nmac = \"52-54-00-00-00-01\"\n"
                         "address = \"192.168.105.9\"\nname = \"A\"")) ==
        strings{"9:7 network.reservation.mac", "10:11 network.reservation.address",
                "11:8 network.reservation.name"});
}

TEST_CASE("DHCP: an isolated network has none, and says so where it is asked for") {
  const std::string isolated = "mode = \"isolated\"\n";
  CHECK(places(network_with(isolated)).empty());
  CHECK(places(network_with(isolated + "dhcp = { enabled = false }")).empty());
  CHECK(places(network_with(isolated + "dhcp = { enabled = true }")).size() == 1);
}

TEST_CASE("DHCP: two networks do not share a lease file, nor does a socket") {
  CHECK(places(dhcp_with("lease_file = \"/run/a.sock\"")).size() == 1);
  CHECK(places(dhcp_with("lease_file = \"/l\"") +
               "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/b.sock\"\n"
               "[network.dhcp]\nlease_file = \"/l\"\n") ==
        strings{"11:14 network.dhcp.lease_file"});
}

TEST_CASE("hostile: more reservations, options and names than a network takes") {
  std::string many;
  for (int i = 0; i < 4097; ++i)
    many +=
        "[[network.reservation]]\nmac = \"52:54:00:00:" + std::string{"0123456789abcdef"[i >> 12]} +
        std::string{"0123456789abcdef"[i >> 8 & 15]} + ":" +
        std::string{"0123456789abcdef"[i >> 4 & 15]} + std::string{"0123456789abcdef"[i & 15]} +
        "\"\nname = \"n" + std::to_string(i) + "\"\n";
  CHECK(places("[[network]]\n[[network.listen]]\npath = \"/a\"\n" + many).size() == 1);
  std::string search;
  for (int i = 0; i < 65; ++i)
    search += "\"a\",";
  CHECK(places(dhcp_with("search = [" + search + "]")) == strings{"5:10 network.dhcp.search"});
}
