#include "app/config_file.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

TEST_CASE("the smallest file is a network with a socket") {
  const auto settings = parsed("[[network]]\n[[network.listen]]\npath = \"/run/a.sock\"\n");
  REQUIRE(settings.networks.size() == 1);
  const auto& network = settings.networks[0];
  CHECK(network.name == "default");
  CHECK(network.host.mode == host_mode::user);
  REQUIRE(network.listeners.size() == 1);
  CHECK(network.listeners[0].type == listen_type::stream);
  CHECK(network.listeners[0].path == "/run/a.sock");
  CHECK_FALSE(network.listeners[0].mode.has_value());
  CHECK_FALSE(settings.workers.has_value());
}

TEST_CASE("every setting of the file arrives") {
  const auto settings = parsed(R"(
[daemon]
log_level = "debug"
log_format = "json"
pidfile = "/run/x.pid"
workers = 3
[[network]]
name = "lab"
mode = "isolated"
subnet = "10.1.0.0/16"
gateway = "10.1.0.9"
mtu = 9000
ipv6 = false
host_loopback = false
[network.limits]
ports = 11
macs = 300
macs_per_port = 12
slabs = 13
egress_bursts = 140
egress_deadline_ms = 15
mac_ageing_s = 16
[[network.listen]]
type = "dgram"
path = "/run/lab.sock"
group = "kvm"
mode = "0666"
isolated = true
[[network.listen]]
path = "/run/lab2.sock"
[[network]]
name = "other"
[[network.listen]]
path = "/run/other.sock"
)");
  CHECK(settings.log.level == log_level::debug);
  CHECK(settings.log.format == log_format::json);
  CHECK(settings.pidfile == "/run/x.pid");
  CHECK(settings.workers == 3u);
  REQUIRE(settings.networks.size() == 2);
  const auto& lab = settings.networks[0];
  CHECK(lab.name == "lab");
  CHECK(lab.host.mode == host_mode::isolated);
  CHECK(to_string(lab.host.subnet) == "10.1.0.0/16");
  CHECK(to_string(lab.host.gateway) == "10.1.0.9");
  CHECK(lab.host.mtu == 9000);
  CHECK_FALSE(lab.host.ipv6);
  CHECK_FALSE(lab.host.host_loopback);
  CHECK(lab.limits.ports == 11);
  CHECK(lab.limits.macs == 300);
  CHECK(lab.limits.macs_per_port == 12);
  CHECK(lab.limits.slab_budget == 13);
  CHECK(lab.limits.egress_bursts == 140);
  CHECK(lab.limits.egress_deadline.count() == 15);
  CHECK(lab.limits.mac_ageing.count() == 16);
  REQUIRE(lab.listeners.size() == 2);
  CHECK(lab.listeners[0].type == listen_type::dgram);
  CHECK(lab.listeners[0].group == "kvm");
  CHECK(lab.listeners[0].mode == mode_t{0666});
  CHECK(lab.listeners[0].isolated);
  CHECK_FALSE(lab.listeners[1].isolated);
  CHECK(settings.networks[1].name == "other");
  CHECK(settings.networks[1].listeners.size() == 1);
}

TEST_CASE("a file with ten different mistakes names all ten, with line, column and key") {
  CHECK(places(R"([daemon]
log_levle = "info"
workers = 0
pidfile = 5
[[network]]
name = "two words"
mode = "bridge"
subnet = "10.0.0.1/24"
mtu = 500
[network.limits]
slabs = "16"
[[network.listen]]
path = "a.sock"
mode = 0660
[[network]]
name = "empty"
)") == strings{"2:1 daemon.log_levle", "3:11 daemon.workers", "4:11 daemon.pidfile",
               "6:8 network.name", "7:8 network.mode", "8:10 network.subnet", "9:7 network.mtu",
               "11:9 network.limits.slabs", "14:12 network.listen.mode", "15:1 network.listen"});
}

TEST_CASE("a mistake is told in one line with file, place, key and what would be right") {
  CHECK(mistakes(network_with("mtu = 100")) ==
        "t.toml:2:7: network.mtu: 100 is out of range: write 576 to 65520\n");
}

TEST_CASE("an unknown key is met with the one that was probably meant") {
  CHECK(contains(mistakes("[deamon]\n" + network_with("")), "did you mean \"daemon\"?"));
  CHECK(
      contains(mistakes(network_with("gatewya = \"192.168.105.1\"")), "did you mean \"gateway\"?"));
  CHECK(contains(mistakes(network_with("MTU = 1500")), "did you mean \"mtu\"?"));
}

TEST_CASE("an unknown key that resembles none is met with all that exist") {
  CHECK(contains(mistakes("[daemon]\nzzzzzzzz = 1\n" + network_with("")),
                 "only log_level, log_format, pidfile, workers"));
}

TEST_CASE("a value of the wrong type is named with the type that is meant") {
  CHECK(contains(mistakes(network_with("name = 5")), "a whole number, where text"));
  CHECK(contains(mistakes(network_with("mtu = \"1500\"")), "text, where a whole number"));
  CHECK(contains(mistakes(network_with("mtu = 1500.5")), "a number with a fraction, where"));
  CHECK(contains(mistakes(network_with("ipv6 = 1")), "a whole number, where true or false"));
  CHECK(contains(mistakes(network_with("ipv6 = 2020-01-01")), "a date or time, where"));
  CHECK(contains(mistakes("daemon = true\n" + network_with("")), "a table: [daemon]"));
  CHECK(contains(mistakes("network = [1]\n"), "where a table is meant: [[network]]"));
  CHECK(contains(mistakes("network = 1\n"), "tables, each with [[network]] above"));
}

TEST_CASE("single brackets are corrected, and what stands below is looked at all the same") {
  const auto text = "[network]\nmtu = 1\n[network.listen]\npath = \"\"\n";
  CHECK(places(text) ==
        strings{"1:1 network", "2:7 network.mtu", "3:1 network.listen", "4:8 network.listen.path"});
  CHECK(contains(mistakes(text), "[[network.listen]]"));
}

TEST_CASE("a file without a network, and a network without a socket, are mistakes") {
  CHECK(places("") == strings{"1:1 network"});
  CHECK(places("network = []\n").empty() == false);
  CHECK(places("[[network]]\n") == strings{"1:1 network.listen"});
  CHECK(places("[[network]]\nlisten = []\n").empty() == false);
  CHECK(places("[[network]]\n[[network.listen]]\ntype = \"stream\"\n") ==
        strings{"2:1 network.listen.path"});
}

TEST_CASE("two networks of one name are a mistake that names the first one's line") {
  const auto text = network_with("name = \"a\"") +
                    "[[network]]\nname = \"a\"\n[[network.listen]]\npath = \"/run/b.sock\"\n";
  CHECK(places(text) == strings{"6:8 network.name"});
  CHECK(contains(mistakes(text), "already used in line 2"));
}

TEST_CASE("two networks without a name are a mistake") {
  CHECK(places("[[network]]\n[[network.listen]]\npath = \"/a\"\n"
               "[[network]]\n[[network.listen]]\npath = \"/b\"\n") == strings{"4:1 network.name"});
}

TEST_CASE("a socket path is used once, across networks and whatever detour it is written with") {
  const auto second = [](const std::string& path) {
    return network_with("") +
           "[[network]]\nname = \"b\"\n[[network.listen]]\ntype = \"dgram\"\npath = \"" + path +
           "\"\n";
  };
  CHECK(places(second("/run/b.sock")).empty());
  CHECK(places(second("/run/a.sock")) == strings{"9:8 network.listen.path"});
  CHECK(places(second("/run/../run/./a.sock")) == strings{"9:8 network.listen.path"});
  CHECK(places("[daemon]\npidfile = \"/run//a.sock\"\n" + network_with("")) ==
        strings{"6:8 network.listen.path"});
}

TEST_CASE("relative paths start at the folder of the file") {
  const std::string text =
      "[daemon]\npidfile = \"p\"\n[[network]]\n[[network.listen]]\npath = \"s\"\n";
  const auto there = parsed(text, "/etc/vmswitch/vm.toml");
  CHECK(there.pidfile == "/etc/vmswitch/p");
  CHECK(there.networks[0].listeners[0].path == "/etc/vmswitch/s");
  CHECK(parsed(text, "vm.toml").pidfile == "p");
}

TEST_CASE("a socket path that the system cannot hold says so, with the folder counted in") {
  const auto file = [](std::size_t length) {
    return "[[network]]\n[[network.listen]]\npath = \"" + std::string(length, 'x') + "\"\n";
  };
  const std::string folder = "/f/"; // 3 bytes
  CHECK(parse_config(file(100), folder + "t.toml").has_value());
  const auto longer = parse_config(file(105), folder + "t.toml");
  REQUIRE_FALSE(longer.has_value());
  CHECK(contains(longer.error()[0].text, "108"));
  CHECK(longer.error()[0].line == 3);
}

TEST_CASE("a path with a NUL in it is refused") {
  CHECK(places("[[network]]\n[[network.listen]]\npath = \"/run/a\\u0000b\"\n") ==
        strings{"3:8 network.listen.path"});
}

TEST_CASE("the gateway is the first address of the subnet unless it is given") {
  CHECK(to_string(parsed(network_with("subnet = \"10.7.0.0/16\"")).networks[0].host.gateway) ==
        "10.7.0.1");
}

TEST_CASE("a gateway outside its subnet, or at its edges, is refused") {
  const auto with = [](const std::string& gateway) {
    return places(network_with("subnet = \"10.7.0.0/24\"\ngateway = \"" + gateway + "\""));
  };
  CHECK(with("10.7.0.1").empty());
  CHECK(with("10.7.0.200").empty());
  CHECK(with("10.7.1.1") == strings{"3:11 network.gateway"});
  CHECK(with("10.7.0.0") == strings{"3:11 network.gateway"});
  CHECK(with("10.7.0.255") == strings{"3:11 network.gateway"});
  CHECK(with("gateway") == strings{"3:11 network.gateway"});
}

TEST_CASE("a gateway without a subnet must lie in the default one, which is named") {
  CHECK(contains(mistakes(network_with("gateway = \"10.0.0.1\"")),
                 "the default subnet 192.168.105.0/24"));
}

TEST_CASE("a gateway is not blamed for a subnet that could not be read") {
  CHECK(places(network_with("subnet = \"10.7.0/24\"\ngateway = \"10.7.0.1\"")) ==
        strings{"2:10 network.subnet"});
}

TEST_CASE("a subnet that is nearly right is answered with the right one") {
  CHECK(contains(mistakes(network_with("subnet = \"10.7.3.1/16\"")), "\"10.7.0.0/16\""));
  CHECK(contains(mistakes(network_with("subnet = \"10.7.3.0\"")), "\"10.7.3.0/24\""));
}

TEST_CASE("subnets that leave no room, or are not for hosts, are refused") {
  CHECK(places(network_with("subnet = \"10.0.0.0/27\"")).empty());
  CHECK(places(network_with("subnet = \"10.0.0.0/28\"")) == strings{"2:10 network.subnet"});
  CHECK(places(network_with("subnet = \"10.0.0.0/7\"")) == strings{"2:10 network.subnet"});
  CHECK(places(network_with("subnet = \"127.0.0.0/8\"")) == strings{"2:10 network.subnet"});
}

TEST_CASE("two networks may use the same subnet, each has its own NAT") {
  CHECK(places(network_with("") + "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/b\"\n")
            .empty());
}

TEST_CASE("IPv6 is off below an MTU of 1280, and asking for it there is a mistake") {
  CHECK(parsed(network_with("mtu = 1280")).networks[0].host.ipv6);
  CHECK_FALSE(parsed(network_with("mtu = 1279")).networks[0].host.ipv6);
  CHECK(places(network_with("mtu = 1279\nipv6 = true")) == strings{"3:8 network.ipv6"});
}

TEST_CASE("an IPv6 prefix is a /64 for private use, in a network that has IPv6 of ours") {
  const auto prefix =
      parsed(network_with("ipv6_prefix = \"fd12:3456:789a:1::/64\"")).networks[0].host.ipv6_prefix;
  REQUIRE(prefix.has_value());
  CHECK(to_string(*prefix) == "fd12:3456:789a:1::");
  const auto mistake = [](const std::string& lines) {
    return mistakes(network_with("ipv6_prefix = \"fd01::\"\n" + lines));
  };
  CHECK(contains(mistake("ipv6 = false"), "this network has no IPv6"));
  CHECK(contains(mistake("mtu = 600"), "this network has no IPv6"));
  CHECK(contains(mistake("mode = \"isolated\""), "an isolated network has no router"));
  CHECK(contains(mistake("mode = \"bridged\"\ninterface = \"br0\""), "remove it"));
  for (const auto* bad :
       {"", "fd00", "fd01::1", "fd01:2:3:4:5::", "2001:db8::", "fc00::", "fd01::/48", "fe80::"})
    CHECK(places(network_with("ipv6_prefix = \"" + std::string{bad} + "\"")) ==
          strings{"2:15 network.ipv6_prefix"});
}

TEST_CASE("the MTU is 576 to 65520") {
  CHECK(places(network_with("mtu = 576")).empty());
  CHECK(places(network_with("mtu = 65520")).empty());
  CHECK(places(network_with("mtu = 575")).size() == 1);
  CHECK(places(network_with("mtu = 65521")).size() == 1);
  CHECK(places(network_with("mtu = -9223372036854775808")).size() == 1);
}

TEST_CASE("one port may not have more MACs than the network") {
  CHECK(places(network_with("limits = { macs = 100, macs_per_port = 101 }")) ==
        strings{"2:40 network.limits.macs_per_port"});
  CHECK(parsed(network_with("limits = { macs = 100 }")).networks[0].limits.macs_per_port == 100);
}

TEST_CASE("a misspelt mode is told from a right one") {
  CHECK(contains(mistakes(network_with("mode = \"usr\"")), "did you mean \"user\"?"));
}

TEST_CASE("networks with a network device") {
  const auto host_of = [](const std::string& lines) {
    return parsed(network_with(lines)).networks[0].host;
  };
  const auto shared = host_of("name = \"lab\"\nmode = \"shared\"\ninterface = \"tap0\"");
  CHECK(shared.mode == host_mode::shared);
  CHECK(shared.interface == "tap0");
  CHECK(shared.name == "lab");
  CHECK(host_of("mode = \"host\"\ntap_fd = 5").tap_fd == 5);
  const auto bridged =
      host_of("mode = \"bridged\"\ninterface = \"br0\"\nbridge_helper = \"/usr/libexec/helper\"");
  CHECK(bridged.interface == "br0");
  CHECK(bridged.bridge_helper == "/usr/libexec/helper");
  CHECK(host_of("mode = \"bridged\"\ntap_fd = 5").interface.empty());
}

TEST_CASE("keys of a network device that a mode has no use for are refused, all at once") {
  CHECK(places(network_with("interface = \"tap0\"\ntap_fd = 4\nbridge_helper = \"/h\"")) ==
        strings{"2:13 network.interface", "3:10 network.tap_fd", "4:17 network.bridge_helper"});
  CHECK(places(network_with("mode = \"bridged\"\ninterface = \"br0\"\n"
                            "gateway = \"10.0.0.1\"\nsubnet = \"10.0.0.0/24\"")) ==
        strings{"4:11 network.gateway", "5:10 network.subnet"});
  CHECK(places(network_with("mode = \"host\"\nbridge_helper = \"/h\"")) ==
        strings{"3:17 network.bridge_helper"});
}

TEST_CASE("bridged needs a bridge, and a device's name has to be one") {
  CHECK(contains(mistakes(network_with("mode = \"bridged\"")), "interface = \"br0\", say"));
  CHECK(contains(mistakes(network_with("mode = \"host\"\ninterface = \"a name\"")),
                 "not the name of a network device"));
  CHECK(places(network_with("mode = \"host\"\ntap_fd = 2")).size() == 1);
  CHECK(contains(mistakes(network_with("mode = \"host\"\ninterface = \"tap0\"\ntap_fd = 5")),
                 "remove interface or tap_fd"));
}

TEST_CASE("two networks cannot have one device, but may share a bridge") {
  const auto two = [](const std::string& mode, const std::string& lines) {
    return places("[[network]]\nname = \"a\"\nmode = \"" + mode + "\"\n" + lines +
                  "\n[[network.listen]]\npath = \"/a\"\n[[network]]\nname = \"b\"\nmode = \"" +
                  mode + "\"\n" + lines + "\n[[network.listen]]\npath = \"/b\"\n")
        .size();
  };
  CHECK(two("host", "interface = \"tap0\"") == 1);
  CHECK(two("host", "tap_fd = 4") == 1);
  CHECK(two("bridged", "interface = \"br0\"") == 0);
}

TEST_CASE("the user and group that the daemon is to become") {
  const auto with = [](const std::string& lines) {
    return "[daemon]\n" + lines + "\n" + network_with("");
  };
  CHECK(parsed(with("user = \"vm\"\ngroup = \"kvm\"")).user == "vm");
  CHECK(parsed(with("user = \"vm\"\ngroup = \"kvm\"")).group == "kvm");
  CHECK(places(with("group = \"kvm\"")) == strings{"2:9 daemon.group"});
  CHECK(places(with("user = \"\"")) == strings{"2:8 daemon.user"});
}

TEST_CASE("a file mode is octal text of at most 0777") {
  const auto with = [](const std::string& mode) {
    return places("[[network]]\n[[network.listen]]\npath = \"/a\"\nmode = " + mode + "\n").size();
  };
  CHECK(with("\"0660\"") == 0);
  CHECK(with("\"660\"") == 0);
  CHECK(with("\"0680\"") == 1);
  CHECK(with("\"66\"") == 1);
  CHECK(with("\"00660\"") == 1);
  CHECK(with("\"1777\"") == 1);
  CHECK(with("\"u=rw\"") == 1);
  CHECK(with("\"\"") == 1);
  CHECK(with("\"-660\"") == 1);
  CHECK(with("0o660") == 1);
}

TEST_CASE("hostile: more networks and sockets than a daemon takes") {
  std::string networks;
  for (int i = 0; i < 300; ++i)
    networks += "[[network]]\nname = \"n" + std::to_string(i) +
                "\"\n[[network.listen]]\npath = \"/" + std::to_string(i) + "\"\n";
  CHECK(places(networks) == strings{"1025:1 network"});
}

TEST_CASE("hostile: a file of twenty thousand mistakes is answered with the first few hundred") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "k" + std::to_string(i) + "=1\n";
  const auto settings = parse_config(text, "t.toml");
  REQUIRE_FALSE(settings.has_value());
  CHECK(settings.error().size() == 501);
}

TEST_CASE("hostile: a megabyte of text as a key or value does not become a megabyte of message") {
  const std::string huge(900'000, 'x');
  CHECK(mistakes(huge + " = 1\n").size() < 1000);
  CHECK(mistakes("[daemon]\nlog_level = \"" + huge + "\"\n").size() < 1500);
}

TEST_CASE("hostile: control characters of a value are shown, not sent to the terminal") {
  CHECK(contains(mistakes(network_with("mode = \"\\u001b[2J\\n\"")),
                 "\"\\x1b[2J\\n\" is not one of"));
}
