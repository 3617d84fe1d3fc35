// The command lines that other tools give to socket_vmnet, word for word, and its rules.

#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/command_line.hpp"
#include "app/launcher.hpp"
#include "tests/app/config_support.hpp"
#include "vmnet/tap/tap_names.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

using words = std::vector<std::string>;

tl::expected<command_line, command_line_failure> parse(const words& arguments) {
  std::vector<const char*> argv;
  for (const auto& one : arguments)
    argv.push_back(one.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data(),
                            [](const std::string&) -> result<std::string> {
                              return "[[network]]\n[[network.listen]]\npath = \"/a\"\n";
                            });
}

command_line understood(const words& arguments) {
  auto line = parse(arguments);
  INFO((line ? "" : line.error().messages[0]));
  REQUIRE(line.has_value());
  return std::move(*line);
}

const network_config& network_in(const command_line& line) {
  REQUIRE(line.settings.networks.size() == 1);
  return line.settings.networks[0];
}

std::string refusal(const words& arguments) {
  const auto line = parse(arguments);
  REQUIRE_FALSE(line.has_value());
  CHECK(line.error().code == exit_code::usage);
  std::string all;
  for (const auto& message : line.error().messages)
    all += message + "\n";
  return all;
}

std::string range_of(const network_config& network) {
  REQUIRE(network.dhcp.range.has_value());
  return to_string(network.dhcp.range->first) + " " + to_string(network.dhcp.range->last);
}

constexpr auto uuid = "3F2C1A9E-5b7d-4c60-9d1e-8a4b6c0d2e13";

} // namespace

TEST_SUITE("in place of socket_vmnet") {

  // pkg/networks/commands.go and networks.TEMPLATE.yaml
  TEST_CASE("Lima's three networks") {
    for (const auto* program : {"/opt/socket_vmnet/bin/socket_vmnet", "/usr/local/bin/vmswitchd"}) {
      const auto shared =
          understood({program, "--pidfile=/private/var/run/lima/shared_socket_vmnet.pid",
                      "--socket-group=admin", "--vmnet-mode=shared",
                      "--vmnet-gateway=192.168.105.1", "--vmnet-dhcp-end=192.168.105.254",
                      "--vmnet-mask=255.255.255.0", "/private/var/run/lima/socket_vmnet.shared"});
      CHECK(shared.settings.pidfile == "/private/var/run/lima/shared_socket_vmnet.pid");
      CHECK(network_in(shared).host.mode == host_mode::shared);
      CHECK(to_string(network_in(shared).host.gateway) == "192.168.105.1");
      CHECK(range_of(network_in(shared)) == "192.168.105.2 192.168.105.254");
      CHECK(network_in(shared).listeners[0].group == "admin");
      CHECK(network_in(shared).listeners[0].path == "/private/var/run/lima/socket_vmnet.shared");

      const auto host = understood(
          {program, "--pidfile=/private/var/run/lima/host_socket_vmnet.pid", "--socket-group=admin",
           "--vmnet-mode=host", "--vmnet-gateway=192.168.106.1", "--vmnet-dhcp-end=192.168.106.254",
           "--vmnet-mask=255.255.255.0", "/private/var/run/lima/socket_vmnet.host"});
      CHECK(network_in(host).host.mode == host_mode::host);
      CHECK(to_string(network_in(host).host.subnet) == "192.168.106.0/24");

      const auto bridged =
          understood({program, "--pidfile=/private/var/run/lima/bridged_socket_vmnet.pid",
                      "--socket-group=admin", "--vmnet-mode=bridged", "--vmnet-interface=en0",
                      "/private/var/run/lima/socket_vmnet.bridged"});
      CHECK(network_in(bridged).host.mode == host_mode::bridged);
      CHECK(network_in(bridged).host.interface == "en0");
    }
  }

  // daemon/process/vmnet/vmnet.go
  TEST_CASE("Colima's two networks") {
    const auto shared = understood(
        {"/opt/colima/bin/socket_vmnet", "--vmnet-mode", "shared", "--socket-group", "staff",
         "--vmnet-gateway", "192.168.106.1", "--vmnet-dhcp-end", "192.168.106.254", "--pidfile",
         "/opt/colima/run/vmnet-default.pid", "/home/me/.colima/default/daemon/vmnet.sock"});
    CHECK(network_in(shared).host.mode == host_mode::shared);
    CHECK(range_of(network_in(shared)) == "192.168.106.2 192.168.106.254");
    CHECK(network_in(shared).listeners[0].group == "staff");
    const auto bridged = understood({"/opt/colima/bin/socket_vmnet", "--vmnet-mode", "bridged",
                                     "--socket-group", "staff", "--vmnet-interface", "en0",
                                     "--pidfile", "/opt/colima/run/vmnet-default.pid",
                                     "/home/me/.colima/default/daemon/vmnet.sock"});
    CHECK(network_in(bridged).host.interface == "en0");
  }

  // launchd/io.github.lima-vm.socket_vmnet.plist, which is what minikube has its users start
  TEST_CASE("the service that minikube relies on, in mode shared though none is named") {
    const auto service = understood({"/opt/socket_vmnet/bin/socket_vmnet",
                                     "--vmnet-gateway=192.168.105.1", "/var/run/socket_vmnet"});
    CHECK(network_in(service).host.mode == host_mode::shared);
    CHECK(range_of(network_in(service)) == "192.168.105.2 192.168.105.254");
    CHECK(service.notes.empty());
  }

  // pkg/drivers/qemu/qemu.go
  TEST_CASE("minikube's start of a VM") {
    const std::vector<const char*> argv{"/opt/socket_vmnet/bin/socket_vmnet_client",
                                        "/var/run/socket_vmnet",
                                        "qemu-system-x86_64",
                                        "-M",
                                        "q35",
                                        "-device",
                                        "virtio-net-pci,netdev=net0,mac=52:54:00:12:34:56",
                                        "-netdev",
                                        "socket,id=net0,fd=3",
                                        "-daemonize"};
    const auto request = parse_launch(static_cast<int>(argv.size()), argv.data());
    REQUIRE(request.has_value());
    CHECK(request->socket == "/var/run/socket_vmnet");
    CHECK(request->command == words(argv.begin() + 2, argv.end()));
  }

  TEST_CASE("only the name socket_vmnet changes the mode, and a file or an option decides first") {
    CHECK(network_in(understood({"vmswitchd", "/s"})).host.mode == host_mode::user);
    CHECK(network_in(understood({"./socket_vmnet", "/s"})).host.mode == host_mode::shared);
    CHECK(network_in(understood({"socket_vmnet", "--vmnet-mode=user", "/s"})).host.mode ==
          host_mode::user);
    CHECK(network_in(understood({"socket_vmnet", "--config=vm.toml"})).host.mode ==
          host_mode::user);
  }

  TEST_CASE("help, version and advice speak of the program as it was called") {
    const auto help = understood({"/opt/bin/socket_vmnet", "--help"}).text;
    CHECK(contains(help, "Usage: socket_vmnet [OPTIONS]"));
    CHECK(contains(help, "default: shared"));
    CHECK(contains(understood({"vmswitchd", "--help"}).text, "default: user"));
    CHECK(understood({"socket_vmnet", "-v"}).text.starts_with("vmswitchd "));
    CHECK(contains(refusal({"socket_vmnet"}), "\"socket_vmnet /tmp/vm.sock\""));
    CHECK(contains(refusal({"socket_vmnet", "--nonsense"}), "\"socket_vmnet --help\" lists"));
  }

  TEST_CASE("bridged refuses a gateway and a prefix") {
    CHECK(contains(refusal({"socket_vmnet", "--vmnet-mode=bridged", "--vmnet-interface=br0",
                            "--vmnet-gateway=192.168.105.1", "/s"}),
                   "mode bridged has no gateway of ours"));
    CHECK(contains(refusal({"socket_vmnet", "--vmnet-mode=bridged", "--vmnet-interface=br0",
                            "--vmnet-nat66-prefix=fd01::", "/s"}),
                   "mode bridged has no IPv6 prefix of ours"));
  }

  TEST_CASE("an IPv6 prefix is taken in every mode that has one") {
    for (const auto* mode : {"user", "host", "shared"}) {
      const auto line = understood({"vmswitchd", "--vmnet-mode", mode, "--vmnet-nat66-prefix",
                                    "fd9b:5a14:ba57:e3d3::", "/s"});
      REQUIRE(network_in(line).host.ipv6_prefix.has_value());
      CHECK(to_string(*network_in(line).host.ipv6_prefix) == "fd9b:5a14:ba57:e3d3::");
      CHECK(line.notes.empty());
    }
    for (const auto* bad : {"2001:db8::", "fc00::", "fd01::1", "fd01", ""})
      CHECK(contains(refusal({"vmswitchd", std::string{"--vmnet-nat66-prefix="} + bad, "/s"}),
                     "--vmnet-nat66-prefix: "));
    CHECK(contains(
        refusal({"vmswitchd", "--vmnet-mode=isolated", "--vmnet-nat66-prefix=fd01::", "/s"}),
        "mode isolated has no IPv6 prefix"));
  }

  TEST_CASE("a network identifier: no DHCP in mode host, and a prefix that follows from it") {
    const auto host = understood({"socket_vmnet", "--vmnet-mode=host",
                                  std::string{"--vmnet-network-identifier="} + uuid, "/s"});
    CHECK_FALSE(network_in(host).dhcp.enabled);
    CHECK(network_in(host).host.ipv6_prefix ==
          ula_prefix_from("3f2c1a9e-5b7d-4c60-9d1e-8a4b6c0d2e13"));
    CHECK(host.notes.empty());
    const auto both = understood({"socket_vmnet", "--vmnet-mode=host", "--vmnet-network-identifier",
                                  uuid, "--vmnet-nat66-prefix=fd01::", "/s"});
    CHECK(to_string(*network_in(both).host.ipv6_prefix) == "fd01::");
    const auto shared = understood({"socket_vmnet", "--vmnet-network-identifier", uuid, "/s"});
    CHECK(network_in(shared).dhcp.enabled);
    REQUIRE(shared.notes.size() == 1);
    CHECK(contains(shared.notes[0], "changes nothing in mode shared"));
  }

  TEST_CASE("an interface identifier is accepted, and it is said that it changes nothing") {
    const auto line = understood({"socket_vmnet", "--vmnet-interface-id", uuid, "/s"});
    REQUIRE(line.notes.size() == 1);
    CHECK(contains(line.notes[0], "--vmnet-interface-id changes nothing"));
    const auto checked =
        understood({"socket_vmnet", "--check", "--vmnet-interface-id", uuid, "/s"});
    CHECK(checked.notes.size() == 1);
  }

  TEST_CASE("what is no UUID is refused") {
    for (const std::string option : {"--vmnet-interface-id", "--vmnet-network-identifier"})
      for (const std::string bad :
           {"", "x", "3f2c1a9e5b7d4c609d1e8a4b6c0d2e13", "3f2c1a9e-5b7d-4c60-9d1e-8a4b6c0d2e1",
            "3f2c1a9e-5b7d-4c60-9d1e-8a4b6c0d2e1g", "{3f2c1a9e-5b7d-4c60-9d1e-8a4b6c0d2e1"})
        CHECK(contains(refusal({"socket_vmnet", option, bad, "/s"}), option + ": \"" + bad));
  }

} // TEST_SUITE
