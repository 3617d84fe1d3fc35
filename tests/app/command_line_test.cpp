#include "app/command_line.hpp"

#include <cerrno>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// A file system of the test's own.
using files = std::map<std::string, std::string>;

tl::expected<command_line, command_line_failure> parse(std::initializer_list<const char*> arguments,
                                                       const files& existing = {}) {
  std::vector<const char*> argv{"vmswitchd"};
  argv.insert(argv.end(), arguments);
  return parse_command_line(static_cast<int>(argv.size()), argv.data(),
                            [&](const std::string& path) -> result<std::string> {
                              const auto found = existing.find(path);
                              if (found == existing.end())
                                return fail("cannot read " + path, ENOENT);
                              return found->second;
                            });
}

daemon_settings settings_of(std::initializer_list<const char*> arguments,
                            const files& existing = {}) {
  const auto line = parse(arguments, existing);
  REQUIRE(line.has_value());
  CHECK(line->action == daemon_action::run);
  return line->settings;
}

struct outcome {
  int code = 0;
  std::string text;
};

outcome failure_of(std::initializer_list<const char*> arguments, const files& existing = {}) {
  const auto line = parse(arguments, existing);
  REQUIRE_FALSE(line.has_value());
  outcome out{static_cast<int>(line.error().code), {}};
  for (const auto& message : line.error().messages)
    out.text += message + "\n";
  return out;
}

const files one_socket{{"vm.toml",
                        "[daemon]\nlog_level = \"warn\"\npidfile = \"/run/f.pid\"\n"
                        "workers = 2\n[[network]]\nname = \"lab\"\nmode = \"isolated\"\n"
                        "[[network.listen]]\npath = \"/run/f.sock\"\nmode = \"0600\"\n"}};
const files two_sockets{{"vm.toml", "[[network]]\n[[network.listen]]\npath = \"/run/a\"\n"
                                    "[[network.listen]]\ntype = \"dgram\"\npath = \"/run/b\"\n"}};

} // namespace

TEST_CASE("a socket alone makes the network \"default\" with one stream listener") {
  const auto settings = settings_of({"/run/vm.sock"});
  REQUIRE(settings.networks.size() == 1);
  CHECK(settings.networks[0].name == "default");
  CHECK(settings.networks[0].host.mode == host_mode::user);
  REQUIRE(settings.networks[0].listeners.size() == 1);
  CHECK(settings.networks[0].listeners[0].type == listen_type::stream);
  CHECK(settings.networks[0].listeners[0].path == "/run/vm.sock");
}

TEST_CASE("options are taken with = and with a space alike, before and after the socket") {
  const auto joined = settings_of({"--pidfile=/p", "--socket-group=kvm", "--vmnet-mode=isolated",
                                   "--socket-mode=0666", "--log-level=debug", "--log-format=json",
                                   "--workers=5", "/s"});
  const auto apart = settings_of({"/s", "--pidfile", "/p", "--socket-group", "kvm", "--vmnet-mode",
                                  "isolated", "--socket-mode", "0666", "--log-level", "debug",
                                  "--log-format", "json", "--workers", "5"});
  for (const auto* settings : {&joined, &apart}) {
    CHECK(settings->pidfile == "/p");
    CHECK(settings->log.level == log_level::debug);
    CHECK(settings->log.format == log_format::json);
    CHECK(settings->workers == 5u);
    CHECK(settings->networks[0].host.mode == host_mode::isolated);
    const auto& listener = settings->networks[0].listeners[0];
    CHECK(listener.path == "/s");
    CHECK(listener.group == "kvm");
    CHECK(listener.mode == mode_t{0666});
  }
  CHECK(settings_of({"-p", "/q", "/s"}).pidfile == "/q");
}

TEST_CASE("a file says it all") {
  const auto settings = settings_of({"--config", "vm.toml"}, one_socket);
  CHECK(settings.log.level == log_level::warn);
  CHECK(settings.networks[0].name == "lab");
  CHECK(settings.networks[0].listeners[0].path == "/run/f.sock");
}

TEST_CASE("options override the file, and leave the rest of it") {
  const auto settings = settings_of({"--config=vm.toml", "--log-level=trace", "--pidfile=/p",
                                     "--workers=7", "--vmnet-mode=user", "--socket-group=kvm",
                                     "--socket-mode=0660", "/run/other.sock"},
                                    one_socket);
  CHECK(settings.log.level == log_level::trace);
  CHECK(settings.pidfile == "/p");
  CHECK(settings.workers == 7u);
  REQUIRE(settings.networks.size() == 1);
  CHECK(settings.networks[0].name == "lab");
  CHECK(settings.networks[0].host.mode == host_mode::user);
  REQUIRE(settings.networks[0].listeners.size() == 1);
  CHECK(settings.networks[0].listeners[0].path == "/run/other.sock");
  CHECK(settings.networks[0].listeners[0].group == "kvm");
  CHECK(settings.networks[0].listeners[0].mode == mode_t{0660});
}

TEST_CASE("group and mode hold for every socket of the file") {
  const auto settings =
      settings_of({"--config=vm.toml", "--socket-group=kvm", "--socket-mode=0666"}, two_sockets);
  for (const auto& listener : settings.networks[0].listeners) {
    CHECK(listener.group == "kvm");
    CHECK(listener.mode == mode_t{0666});
  }
}

TEST_CASE("a socket cannot stand for one of several in a file") {
  const auto failure = failure_of({"--config=vm.toml", "/run/other.sock"}, two_sockets);
  CHECK(failure.code == 64);
  CHECK(contains(failure.text, "several sockets"));
}

TEST_CASE("without a socket and without a file the error says what to do") {
  const auto failure = failure_of({});
  CHECK(failure.code == 64);
  CHECK(contains(failure.text, "path of a socket"));
  CHECK(contains(failure.text, "--config FILE"));
}

TEST_CASE("all wrong values of a command line are named at once") {
  const auto failure =
      failure_of({"--vmnet-mode=usr", "--socket-mode=999", "--log-level=loud", "--log-format=xml",
                  "--workers=0", "--socket-group=", "--pidfile=", "/s"});
  CHECK(failure.code == 64);
  for (const auto* option :
       {"--vmnet-mode: \"usr\"", "--socket-mode: \"999\"", "--log-level: \"loud\"",
        "--log-format: \"xml\"", "--workers: \"0\"", "--socket-group: ", "--pidfile: "})
    CHECK_MESSAGE(contains(failure.text, option), option);
  CHECK(contains(failure.text, "did you mean \"user\"?"));
}

TEST_CASE("an option that a script left empty does not swallow the socket") {
  const auto failure = failure_of({"--socket-group=", "/s"});
  CHECK(failure.code == 64);
  CHECK(contains(failure.text, "--socket-group: \"\" is not the name of a group"));
  CHECK_FALSE(contains(failure.text, "path of a socket"));
}

TEST_CASE("workers are 1 to 64") {
  CHECK(settings_of({"--workers=1", "/s"}).workers == 1u);
  CHECK(settings_of({"--workers=64", "/s"}).workers == 64u);
  for (const auto* bad : {"--workers=65", "--workers=-1", "--workers=2x",
                          "--workers=", "--workers=99999999999999999999"})
    CHECK_MESSAGE(failure_of({bad, "/s"}).code == 64, bad);
}

TEST_CASE("modes with a network device, and the name of it") {
  const auto shared = settings_of({"--vmnet-mode=shared", "/s"}).networks[0].host;
  CHECK(shared.mode == host_mode::shared);
  CHECK(shared.interface.empty());
  const auto host = settings_of({"--vmnet-mode", "host", "--vmnet-interface", "tap0", "/s"});
  CHECK(host.networks[0].host.mode == host_mode::host);
  CHECK(host.networks[0].host.interface == "tap0");
  const auto bridged = settings_of({"--vmnet-mode=bridged", "--vmnet-interface=br0", "/s"});
  CHECK(bridged.networks[0].host.mode == host_mode::bridged);
  CHECK(bridged.networks[0].host.interface == "br0");
}

TEST_CASE("bridged needs an interface, and an interface needs a mode that has one") {
  const auto without = failure_of({"--vmnet-mode=bridged", "/s"});
  CHECK(without.code == 64);
  CHECK(contains(without.text, "--vmnet-mode=bridged needs --vmnet-interface"));
  const auto user = failure_of({"--vmnet-interface=br0", "/s"});
  CHECK(user.code == 64);
  CHECK(contains(user.text, "--vmnet-interface: mode user has no network device"));
  for (const auto* bad : {"--vmnet-interface=", "--vmnet-interface=a/b",
                          "--vmnet-interface=sixteen-letters-x", "--vmnet-interface=-x"})
    CHECK_MESSAGE(failure_of({"--vmnet-mode=host", bad, "/s"}).code == 64, bad);
}

TEST_CASE("the user that a daemon becomes, and a group, which needs one") {
  const auto settings = settings_of({"--user=vmswitch", "--group=kvm", "/s"});
  CHECK(settings.user == "vmswitch");
  CHECK(settings.group == "kvm");
  CHECK(contains(failure_of({"--group=kvm", "/s"}).text, "--group: without --user"));
  CHECK(failure_of({"--user=", "/s"}).code == 64);
}

TEST_CASE("usage errors: an unknown option, a missing value, a second socket") {
  CHECK(failure_of({"--sockt-group=x", "/s"}).code == 64);
  CHECK(contains(failure_of({"--sockt-group=x", "/s"}).text, "--sockt-group"));
  CHECK(failure_of({"/s", "--pidfile"}).code == 64);
  CHECK(failure_of({"/s", "/t"}).code == 64);
}

TEST_CASE("of an option that is given twice the last one counts, as getopt has it") {
  CHECK(settings_of({"--pidfile=a", "-p", "b", "/s"}).pidfile == "b");
}

TEST_CASE("a file that is not there is no input, one with mistakes is a configuration error") {
  const auto missing = failure_of({"--config=vm.toml"});
  CHECK(missing.code == 66);
  CHECK(contains(missing.text, "cannot read vm.toml"));
  const auto wrong = failure_of({"--config=vm.toml"}, {{"vm.toml", "[[network]]\nmtu = 1\n"}});
  CHECK(wrong.code == 78);
  CHECK(contains(wrong.text, "vm.toml:2:7: network.mtu: "));
  CHECK(contains(wrong.text, "vm.toml:1:1: network.listen: "));
}

TEST_CASE("mistakes of the command line and of the file are named together") {
  const auto failure =
      failure_of({"--config=vm.toml", "--log-level=loud"}, {{"vm.toml", "[[network]]\nmtu = 1\n"}});
  CHECK(contains(failure.text, "--log-level: "));
  CHECK(contains(failure.text, "network.mtu: "));
}

TEST_CASE("a socket path that is too long or empty is a usage error that says so") {
  const auto failure = failure_of({std::string(200, 'x').c_str()});
  CHECK(failure.code == 64);
  CHECK(contains(failure.text, "200 bytes"));
  CHECK(failure_of({""}).code == 64);
}

TEST_CASE("the pidfile cannot be the socket") {
  CHECK(failure_of({"--pidfile=/run/x", "/run/x"}).code == 64);
}

TEST_CASE("a mode that does not fit a network of the file names the network") {
  const auto failure = failure_of(
      {"--config=vm.toml", "--vmnet-mode=user"},
      {{"vm.toml", "[[network]]\nname = \"lab\"\nmode = \"isolated\"\nsubnet = \"127.0.0.0/8\"\n"
                   "[[network.listen]]\npath = \"/s\"\n"}});
  CHECK(contains(failure.text, "network lab cannot be user"));
}

TEST_CASE("--check prints what is in effect, overrides included, and runs nothing") {
  const auto line = parse({"--config=vm.toml", "--check", "--log-level=error"}, one_socket);
  REQUIRE(line.has_value());
  CHECK(line->action == daemon_action::print);
  CHECK(contains(line->text, "log_level = \"error\""));
  CHECK(contains(line->text, "path = \"/run/f.sock\""));
  CHECK(parsed(line->text).networks[0].name == "lab");
}

TEST_CASE("help names every option and the socket; the version is one line") {
  for (const auto* option : {"-h", "--help"}) {
    const auto line = parse({option});
    REQUIRE(line.has_value());
    CHECK(line->action == daemon_action::print);
    for (const auto* part :
         {"--config", "--check", "--vmnet-mode", "--socket-group", "--socket-mode", "--pidfile",
          "--log-level", "--log-format", "--workers", "--vmnet-gateway", "--vmnet-dhcp-end",
          "--vmnet-mask", "--vmnet-disable-dhcp", "--vmnet-nat66-prefix", "--vmnet-interface-id",
          "--vmnet-network-identifier", "SOCKET"})
      CHECK_MESSAGE(contains(line->text, part), part);
  }
  for (const auto* option : {"-v", "--version"}) {
    const auto line = parse({option});
    REQUIRE(line.has_value());
    CHECK(line->action == daemon_action::print);
    CHECK(line->text.starts_with("vmswitchd "));
    CHECK(line->text.find('\n') == line->text.size() - 1);
  }
}

TEST_CASE("a gateway makes the subnet: DHCP from the next address to .254") {
  const auto network = settings_of({"--vmnet-gateway=192.168.100.1", "/s"}).networks[0];
  CHECK(to_string(network.host.subnet) == "192.168.100.0/24");
  CHECK(to_string(network.host.gateway) == "192.168.100.1");
  REQUIRE(network.dhcp.range.has_value());
  CHECK(to_string(network.dhcp.range->first) == "192.168.100.2");
  CHECK(to_string(network.dhcp.range->last) == "192.168.100.254");
}

TEST_CASE("Lima's and Colima's options for the subnet are accepted as they are written") {
  const auto lima =
      settings_of({"--pidfile=/p", "--socket-group=kvm", "--vmnet-mode=user",
                   "--vmnet-gateway=192.168.105.1", "--vmnet-dhcp-end=192.168.105.100",
                   "--vmnet-mask=255.255.255.0", "/s"})
          .networks[0];
  CHECK(to_string(lima.dhcp.range->first) == "192.168.105.2");
  CHECK(to_string(lima.dhcp.range->last) == "192.168.105.100");
  const auto colima =
      settings_of({"--vmnet-mode", "user", "--socket-group", "staff", "--vmnet-gateway",
                   "192.168.106.1", "--vmnet-dhcp-end", "192.168.106.254", "--pidfile", "/p", "/s"})
          .networks[0];
  CHECK(to_string(colima.host.subnet) == "192.168.106.0/24");
  CHECK(to_string(colima.dhcp.range->last) == "192.168.106.254");
}

TEST_CASE("a mask widens or narrows the subnet of the gateway") {
  const auto network =
      settings_of({"--vmnet-gateway=10.1.2.1", "--vmnet-mask=255.255.0.0", "/s"}).networks[0];
  CHECK(to_string(network.host.subnet) == "10.1.0.0/16");
  CHECK(to_string(network.dhcp.range->last) == "10.1.2.254");
  const auto small =
      settings_of({"--vmnet-gateway=10.1.2.1", "--vmnet-mask=255.255.255.192", "/s"}).networks[0];
  CHECK(to_string(small.dhcp.range->last) == "10.1.2.62");
}

TEST_CASE("the end of DHCP and the mask need a gateway, and fit it") {
  for (const auto* option : {"--vmnet-dhcp-end=192.168.105.9", "--vmnet-mask=255.255.255.0"}) {
    const auto failure = failure_of({option, "/s"});
    CHECK(failure.code == 64);
    CHECK(contains(failure.text, "give --vmnet-gateway as well"));
  }
  const auto text = [](std::initializer_list<const char*> arguments) {
    const auto failure = failure_of(arguments);
    CHECK(failure.code == 64);
    return failure.text;
  };
  CHECK(contains(text({"--vmnet-gateway=10.0.0.1", "--vmnet-dhcp-end=10.0.1.9", "/s"}),
                 "--vmnet-dhcp-end: 10.0.1.9 is not an address for a host in 10.0.0.0/24"));
  CHECK(contains(text({"--vmnet-gateway=10.0.0.9", "--vmnet-dhcp-end=10.0.0.8", "/s"}),
                 "before its begin"));
  CHECK(contains(text({"--vmnet-gateway=10.0.0.0", "/s"}), "not a host address"));
  CHECK(contains(text({"--vmnet-gateway=10.0.0", "/s"}), "--vmnet-gateway: \"10.0.0\""));
  CHECK(contains(text({"--vmnet-gateway=10.0.0.1", "--vmnet-mask=255.0.255.0", "/s"}),
                 "--vmnet-mask: \"255.0.255.0\" is not a netmask"));
  CHECK(contains(text({"--vmnet-mode=isolated", "--vmnet-gateway=10.0.0.1", "/s"}),
                 "mode isolated has no gateway"));
}

TEST_CASE("a gateway that leaves reservations of the file outside of the subnet names one") {
  const files reserved{{"vm.toml", "[[network]]\n[[network.listen]]\npath = \"/a\"\n"
                                   "[[network.reservation]]\nmac = \"52:54:00:00:00:01\"\n"
                                   "address = \"192.168.105.9\"\n"}};
  CHECK(contains(failure_of({"--config=vm.toml", "--vmnet-gateway=10.0.0.1"}, reserved).text,
                 "reservation for 52:54:00:00:00:01: 192.168.105.9 is not an address"));
  CHECK(settings_of({"--config=vm.toml", "--vmnet-gateway=192.168.105.2"}, reserved)
            .networks[0]
            .dhcp.reservations.size() == 1);
}

TEST_CASE("sv#139: DHCP can be switched off") {
  CHECK(settings_of({"/s"}).networks[0].dhcp.enabled);
  CHECK_FALSE(settings_of({"--vmnet-disable-dhcp", "/s"}).networks[0].dhcp.enabled);
  const auto line = parse({"--check", "--vmnet-disable-dhcp", "/s"});
  REQUIRE(line.has_value());
  CHECK(contains(line->text, "[network.dhcp]\nenabled = false\n"));
}

TEST_CASE("leases are kept in the state folder of the service, if the file does not say where") {
  const auto lease_file = [](const char* state_folder, const char* text) {
    const std::vector<const char*> argv{"vmswitchd", "--config=vm.toml"};
    const auto line = parse_command_line(
        2, argv.data(), [&](const std::string&) -> result<std::string> { return text; },
        state_folder);
    REQUIRE(line.has_value());
    return line->settings.networks[0].dhcp.lease_file;
  };
  const auto plain = "[[network]]\nname = \"lab\"\n[[network.listen]]\npath = \"/a\"\n";
  CHECK_FALSE(lease_file("", plain).has_value());
  CHECK(lease_file("/var/lib/vmswitch", plain) == "/var/lib/vmswitch/lab.leases");
  CHECK(lease_file("/var/lib/a:/var/lib/b", plain) == "/var/lib/a/lab.leases");
  CHECK(lease_file("/var/lib/vmswitch",
                   "[[network]]\n[[network.listen]]\npath = \"/a\"\n"
                   "[network.dhcp]\nlease_file = \"/my/leases\"\n") == "/my/leases");
  CHECK_FALSE(lease_file("/var/lib/vmswitch", "[[network]]\nmode = \"isolated\"\n"
                                              "[[network.listen]]\npath = \"/a\"\n")
                  .has_value());
}
