// Datagram clients that make their names lead elsewhere.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/integration/tags.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/frame_socket.hpp"
#include "tests/support/running_network.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using namespace test;

namespace {

frame_socket::deadline soon() {
  return frame_socket::clock::now() + 10s;
}

frame_socket::deadline moment() {
  return frame_socket::clock::now() + 50ms;
}

// A network with two honest VMs, which have met, and a datagram listener that has met another.
struct lab {
  lab() {
    network_config config;
    config.name = "lab";
    config.host.mode = host_mode::isolated;
    config.limits.egress_deadline = 10s;
    config.listeners = {{listen_type::stream, folder / "stream", {}, {}},
                        {listen_type::dgram, folder / "dgram", {}, {}}};
    network.emplace(config);
    REQUIRE(network->next_event().kind == network_event::what::up);
    a.emplace(std::move(*frame_socket::stream(folder / "stream")));
    b.emplace(std::move(*frame_socket::stream(folder / "stream")));
    honest.emplace(client("honest"));
    for (std::set<mac_address> heard; heard.size() < 2;) {
      send(*honest, 9, 0);
      send(*a, 1, 0);
      REQUIRE(b->receive(moment(), [&](std::span<const std::byte> bare) {
        heard.insert(mac_address::read(bare.data() + 6));
      }));
    }
    flush();
  }

  frame_socket client(const std::string& name) const {
    return std::move(*frame_socket::datagram(folder / name, folder / "dgram"));
  }
  static void send(frame_socket& from, std::uint32_t number, std::uint8_t tag) {
    REQUIRE(from.send(tagged_frame(broadcast_mac, vm_mac(number), tag, 60), soon()));
  }
  static bool hears(frame_socket& vm, std::uint32_t number) {
    bool heard = false;
    REQUIRE(vm.receive(moment(), [&](std::span<const std::byte> bare) {
      heard = heard || mac_address::read(bare.data() + 6) == vm_mac(number);
    }));
    return heard;
  }
  // All that the VM b gets up to a frame with this tag.
  tags until(int last) { return tags_until(*b, last, soon()); }
  void flush() { // nothing is under way then
    send(*honest, 9, 200);
    until(200);
    send(*a, 1, 201);
    until(201);
  }
  // Each broadcast of a comes once, and nothing else does.
  void check_order() {
    for (int i = 0; i < 100; ++i) {
      send(*a, 1, static_cast<std::uint8_t>(i));
      REQUIRE(until(i) == tags{i});
    }
  }

  temporary_folder folder;
  std::optional<running_network> network;
  std::optional<frame_socket> a, b, honest;
};

bool is_silent(const owned_fd& socket) {
  char byte = 0;
  return ::recv(socket.get(), &byte, 1, MSG_DONTWAIT) < 0;
}

} // namespace

TEST_CASE("a datagram client that puts a link to a foreign socket in its place reaches nobody") {
  lab l;
  const auto path = l.folder / "foreign";
  const owned_fd foreign{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const auto name = unix_address::from_path(path).value();
  REQUIRE(::bind(foreign.get(), name.data(), name.length()) == 0);
  auto early = l.client("early"), late = l.client("late");
  std::filesystem::remove(l.folder / "early");
  std::filesystem::create_symlink(path, l.folder / "early");
  l.send(early, 7, 7); // nothing comes of it
  l.send(late, 8, 8);
  l.until(8);
  std::filesystem::remove(l.folder / "late");
  std::filesystem::create_symlink(path, l.folder / "late");
  l.check_order();
  CHECK(is_silent(foreign));
  CHECK(l.hears(late, 1));
}

TEST_CASE("a datagram client that puts the switch's own socket in its place makes no loop") {
  lab l;
  auto vm = l.client("vm");
  std::filesystem::remove(l.folder / "vm");
  std::filesystem::create_hard_link(l.folder / "dgram", l.folder / "vm");
  l.send(vm, 7, 7);
  l.until(7);
  l.check_order();
}

TEST_CASE("a datagram client cannot join two networks by the place of its socket") {
  lab l, other;
  auto vm = l.client("vm");
  std::filesystem::remove(l.folder / "vm");
  std::filesystem::create_hard_link(other.folder / "dgram", l.folder / "vm");
  l.send(vm, 7, 7);
  l.until(7);
  l.check_order();
  other.check_order();
}

TEST_CASE("a datagram client is not answered at the socket of another user") {
  if (::geteuid() != 0) {
    MESSAGE("needs root to be another user: not tested");
    return;
  }
  lab l;
  auto vm = l.client("vm");
  std::thread{[&] {
    constexpr long nobody = 1234567;
    REQUIRE(::syscall(SYS_setresuid, nobody, nobody, -1L) == 0); // of this thread alone
    l.send(vm, 7, 7);
  }}.join();
  l.check_order();
  CHECK_FALSE(l.hears(vm, 1));
}

} // namespace vmswitch
