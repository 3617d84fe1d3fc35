#include "app/socket_activation.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/app/config_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/unix_address.hpp"
#include "transport/unix_socket.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr int us = 4711;

struct passed_fixture {
  temporary_folder folder;
  std::vector<owned_fd> open;
  daemon_settings settings;

  void listener(const std::string& network, const std::string& path,
                listen_type type = listen_type::stream) {
    const auto known = std::ranges::find(settings.networks, network, &network_config::name);
    auto& owner = known != settings.networks.end() ? *known : settings.networks.emplace_back();
    owner.name = network;
    owner.listeners.push_back({type, path, {}, {}});
  }
  int pass(const std::string& path, int type = SOCK_STREAM, const std::string& name = "unknown") {
    auto socket = open_unix_socket(type, blocking::no);
    REQUIRE(bind_unix_socket(socket.get(), unix_address::from_path(path).value()) == 0);
    return pass(std::move(socket), name);
  }
  int pass(owned_fd fd, const std::string& name = "unknown") {
    settings.passed.push_back({fd.get(), name});
    open.push_back(std::move(fd));
    return settings.passed.back().fd;
  }
  std::string refusal() {
    const auto assigned = assign_sockets(settings);
    REQUIRE_FALSE(assigned.has_value());
    return assigned.error().text;
  }
};

} // namespace

TEST_SUITE("socket activation") {

  TEST_CASE("descriptors from 3 on, with their names, as many as there are") {
    const auto passed = passed_sockets({"4711", "3", "lab:tap0"}, us);
    REQUIRE(passed.has_value());
    REQUIRE(passed->size() == 3);
    CHECK((*passed)[0].fd == 3);
    CHECK((*passed)[0].name == "lab");
    CHECK((*passed)[1].name == "tap0");
    CHECK((*passed)[2].fd == 5);
    CHECK((*passed)[2].name.empty());
    CHECK(passed_sockets({"4711", "1", "a:b:c"}, us)->size() == 1);
  }

  TEST_CASE("nothing is passed without variables, or to another process") {
    for (const auto& environment : {activation_environment{},
                                    {"4711", {}, {}},
                                    {{}, "1", {}},
                                    {"1", "1", "x"},
                                    {"", "1", {}},
                                    {"4711x", "1", {}},
                                    {"4711", "0", ""}}) {
      const auto passed = passed_sockets(environment, us);
      REQUIRE(passed.has_value());
      CHECK(passed->empty());
    }
  }

  TEST_CASE("a number that cannot be one is an error") {
    for (const auto* bad : {"", "-1", "one", "99999999999999999999", "16385", "1 "})
      CHECK_FALSE(passed_sockets({"4711", bad, {}}, us).has_value());
  }

  TEST_CASE_FIXTURE(passed_fixture, "a socket goes to the listener with its path and type") {
    listener("a", folder / "d", listen_type::dgram);
    listener("b", folder / "s");
    settings.networks[0].listeners.push_back({listen_type::stream, folder / "x", {}, {}});
    const int d = pass(folder / "d", SOCK_DGRAM), s = pass(folder / "s");
    REQUIRE(assign_sockets(settings).has_value());
    CHECK(settings.networks[0].listeners[0].inherited == d);
    CHECK(settings.networks[1].listeners[0].inherited == s);
    CHECK_FALSE(settings.networks[0].listeners[1].inherited.has_value());
  }

  TEST_CASE_FIXTURE(passed_fixture,
                    "a folder may be spelt in another way, or be reached by a link") {
    std::filesystem::create_directory(folder / "run");
    std::filesystem::create_directory_symlink("run", folder / "var-run");
    listener("a", folder / "var-run/./s");
    const int s = pass(folder / "run/s");
    REQUIRE(assign_sockets(settings).has_value());
    CHECK(settings.networks[0].listeners[0].inherited == s);
  }

  TEST_CASE_FIXTURE(passed_fixture,
                    "a socket elsewhere goes to the network that it is named after") {
    listener("lab", folder / "configured");
    listener("lab", folder / "datagrams", listen_type::dgram);
    const int s = pass(folder / "elsewhere", SOCK_STREAM, "lab");
    REQUIRE(assign_sockets(settings).has_value());
    CHECK(settings.networks[0].listeners[0].inherited == s);
  }

  TEST_CASE_FIXTURE(passed_fixture, "a name is not enough where two listeners could be meant") {
    listener("lab", folder / "one");
    listener("lab", folder / "two");
    pass(folder / "elsewhere", SOCK_STREAM, "lab");
    CHECK(contains(refusal(), folder / "elsewhere"));
  }

  TEST_CASE_FIXTURE(passed_fixture, "one that nobody would serve is an error that names it") {
    listener("lab", folder / "s");
    SUBCASE("another path") {
      pass(folder / "other");
      CHECK(contains(refusal(), folder / "other"));
    }
    SUBCASE("another type") {
      pass(folder / "s", SOCK_DGRAM);
      CHECK(contains(refusal(), "give one of type dgram this path"));
    }
    SUBCASE("two for one") {
      pass(folder / "s");
      pass(folder / "t", SOCK_STREAM, "lab");
      CHECK(contains(refusal(), "the second one for " + (folder / "s")));
    }
    SUBCASE("no socket of ours") {
      pass(owned_fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)});
      CHECK(contains(refusal(), "is no Unix socket of type stream or datagram"));
    }
    SUBCASE("no socket at all") {
      pass(owned_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)});
      CHECK(contains(refusal(), "is no Unix socket"));
    }
    SUBCASE("a sequence of packets") {
      pass(folder / "s", SOCK_SEQPACKET);
      CHECK(contains(refusal(), "is no Unix socket of type stream or datagram"));
    }
  }

  TEST_CASE_FIXTURE(passed_fixture, "a descriptor that is a network's TAP is left to it") {
    listener("lab", folder / "s");
    settings.networks[0].host.tap_fd = pass(owned_fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)});
    CHECK(assign_sockets(settings).has_value());
    CHECK_FALSE(settings.networks[0].listeners[0].inherited.has_value());
  }

  TEST_CASE("the variables are not for the programs that the daemon starts") {
    ::setenv("LISTEN_PID", "1", 1);
    ::setenv("LISTEN_FDS", "3", 1);
    ::setenv("LISTEN_FDNAMES", "a:b:c", 1);
    daemon_settings settings;
    CHECK(take_passed_sockets(settings).has_value());
    CHECK(settings.passed.empty());
    for (const auto* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"})
      CHECK(std::getenv(name) == nullptr);
  }

} // TEST_SUITE
