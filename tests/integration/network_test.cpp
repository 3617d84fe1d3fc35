// Networks with real threads and real sockets; the VMs are simulated.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/tags.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/frame_socket.hpp"
#include "tests/support/numbered_batch.hpp"
#include "tests/support/running_network.hpp"
#include "tests/support/temporary_folder.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using namespace test;

namespace {

frame_socket::deadline soon() {
  return frame_socket::clock::now() + 10s;
}

// What a VM loses that reads too slowly is not the point of most tests, and the machine may be
// busy.
network_limits patient(std::chrono::seconds deadline = 10s) {
  network_limits limits;
  limits.egress_deadline = deadline;
  return limits;
}

struct lab {
  explicit lab(host_mode mode = host_mode::isolated, network_limits limits = patient()) {
    network_config config;
    config.name = "lab";
    config.host.mode = mode;
    config.limits = limits;
    config.listeners = {{listen_type::stream, folder / "stream", {}, {}},
                        {listen_type::dgram, folder / "dgram", {}, {}}};
    network.emplace(config);
    REQUIRE(network->next_event().kind == network_event::what::up);
  }

  frame_socket stream() {
    auto made = frame_socket::stream(folder / "stream");
    REQUIRE(made);
    return std::move(*made);
  }
  frame_socket datagram(const std::string& name) {
    auto made = frame_socket::datagram(folder / name, folder / "dgram");
    REQUIRE(made);
    return std::move(*made);
  }

  temporary_folder folder;
  std::optional<running_network> network;
};

// A VM with a number, which is its address too.
struct vm {
  frame_socket socket;
  std::uint32_t number;

  void send(mac_address to, std::uint8_t tag, std::size_t size = 60) {
    REQUIRE(socket.send(tagged_frame(to, vm_mac(number), tag, size), soon()));
  }
  tags until(int last) { return tags_until(socket, last, soon()); }
};

// Ports are made after a connection is accepted, or a first datagram received. Everybody speaks to
// everybody until he is heard; then a last round empties the sockets.
void introduce(const std::vector<vm*>& all) {
  for (vm* each : all)
    each->send(broadcast_mac, 0);
  for (vm* each : all)
    for (vm* other : all) {
      const int mine = static_cast<int>(100 + each->number);
      bool heard = other == each;
      while (!heard) {
        each->send(vm_mac(other->number), static_cast<std::uint8_t>(mine));
        REQUIRE(other->socket.receive(
            frame_socket::clock::now() + 20ms,
            [&](std::span<const std::byte> bare) { heard = heard || tag_of(bare) == mine; }));
      }
    }
  for (vm* each : all) {
    each->send(broadcast_mac, static_cast<std::uint8_t>(200 + each->number));
    for (vm* other : all)
      if (other != each)
        other->until(static_cast<int>(200 + each->number));
  }
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}));
}

// KiB; 0 under a sanitizer, whose allocator keeps what was freed (a quarantine of 256 MiB).
std::size_t resident_kib() {
  if constexpr (VMSWITCH_SANITIZED)
    return 0;
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:"))
      return std::stoul(line.substr(6));
  return 0;
}

// Sends `count` numbered frames from one VM to another and checks them.
void transfer(vm& from, vm& to, std::uint64_t count, std::size_t size) {
  constexpr std::size_t batch = 40;
  sequence_checker checker{from.number};
  std::thread receiver{[&] {
    while (checker.received() + checker.foreign() < count)
      if (!to.socket
               .receive(soon(), [&](std::span<const std::byte> bare) { checker.on_frame(bare); })
               .value_or(0))
        return;
  }};
  numbered_batch source{vm_mac(to.number), vm_mac(from.number), from.number, size, batch};
  bool sent = true;
  for (std::uint64_t done = 0; done < count && sent; done += batch)
    sent = from.socket.send_wire(source.next(), soon()).has_value();
  receiver.join();
  CHECK(sent);
  INFO(checker.summary(count));
  CHECK(checker.perfect(count));
}

} // namespace

TEST_CASE("sv#58: idle VMs receive none of a million frames between two others") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2}, idle{l.stream(), 3};
  introduce({&a, &b, &idle});
  transfer(a, b, 1'000'000, 64);
  a.send(vm_mac(3), 9); // arrives after all that could have been flooded
  CHECK(idle.until(9) == tags{9});
}

TEST_CASE("broadcast, multicast and unknown unicast reach every other VM once, in order") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2}, c{l.datagram("c"), 3}, d{l.datagram("d"), 4};
  introduce({&a, &b, &c, &d});
  a.send(broadcast_mac, 1);
  a.send(mac_address::from_integer(0x0100'5e00'00fbULL), 2);
  a.send(vm_mac(77), 3);
  for (vm* each : {&b, &c, &d})
    CHECK(each->until(3) == tags{1, 2, 3});
}

TEST_CASE("frames pass between stream and datagram clients, large ones too") {
  lab l;
  vm a{l.stream(), 1}, b{l.datagram("b"), 2}, c{l.datagram("c"), 3};
  introduce({&a, &b, &c});
  transfer(a, b, 4000, 1514);
  transfer(b, a, 4000, 1514);
  transfer(b, c, 4000, 1514);
}

TEST_CASE("both directions at full speed, with both sides' sockets full: nothing is lost") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2};
  introduce({&a, &b});
  constexpr std::uint64_t count = 400'000;
  std::thread back{[&] { transfer(b, a, count, 1514); }};
  transfer(a, b, count, 1514);
  back.join();
}

TEST_CASE("sv#173: a VM that never reads does not stop the others, nor the end") {
  lab l{host_mode::isolated, patient(1s)};
  vm a{l.stream(), 1}, b{l.stream(), 2}, stuck{l.stream(), 3}, noisy{l.stream(), 4};
  introduce({&a, &b, &stuck, &noisy});
  std::atomic<bool> done{false};
  std::thread noise{[&] { // fills the stuck VM's socket, and floods it
    numbered_batch source{vm_mac(3), vm_mac(4), 4, 1514, 40};
    while (!done)
      if (!noisy.socket.send_wire(source.next(), soon()))
        return;
  }};
  transfer(a, b, 300'000, 1514);
  done = true;
  noise.join();
  const auto begin = std::chrono::steady_clock::now();
  l.network->stop();
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
}

TEST_CASE("sv#173: memory held for a VM that never reads stays within its senders' budgets") {
  network_limits limits;
  limits.slab_budget = 8;
  lab l{host_mode::isolated, limits};
  vm stuck{l.stream(), 1};
  std::vector<std::unique_ptr<vm>> senders;
  for (std::uint32_t i = 0; i < 4; ++i)
    senders.push_back(std::make_unique<vm>(vm{l.stream(), 10 + i}));
  const auto before = resident_kib();
  std::vector<std::thread> threads;
  for (auto& sender : senders)
    threads.emplace_back([&sender] {
      numbered_batch source{broadcast_mac, vm_mac(sender->number), sender->number, 1514, 40};
      for (int i = 0; i < 2000; ++i)
        if (!sender->socket.send_wire(source.next(), frame_socket::clock::now() + 2s))
          return;
    });
  for (auto& thread : threads)
    thread.join();
  // 5 ports of 8 slabs of 128 KiB, and what the simulated VMs take themselves.
  CHECK(resident_kib() < before + 5 * 8 * 128 + 8 * 1024);
}

TEST_CASE("sv#36: a VM that connects and stays silent has no effect on others") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2};
  introduce({&a, &b});
  vm silent{l.stream(), 3};
  transfer(a, b, 20'000, 200);
}

TEST_CASE("lima#2680: a VM that writes one byte at a time is understood") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2};
  introduce({&a, &b});
  a.socket.write_pace({.bytes_per_call = 1});
  transfer(a, b, 400, 100);
}

TEST_CASE("a client that breaks the framing loses its connection, and only it") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2};
  introduce({&a, &b});
  vm bad{l.stream(), 3};
  const std::vector<std::byte> garbage(4096, std::byte{0xee});
  REQUIRE(bad.socket.send_wire(garbage, soon()));
  CHECK_FALSE(bad.socket.receive(soon(), [](std::span<const std::byte>) {}));
  transfer(a, b, 1000, 200);
}

TEST_CASE("gtv#383: each datagram client is a VM of its own, the second as well as the first") {
  lab l;
  vm a{l.datagram("a"), 1}, b{l.datagram("b"), 2}, c{l.datagram("c"), 3};
  introduce({&a, &b, &c});
  a.send(vm_mac(3), 3);
  b.send(vm_mac(3), 4);
  CHECK(c.until(4) == tags{3, 4});
  c.send(vm_mac(1), 5);
  c.send(broadcast_mac, 6);
  CHECK(a.until(6) == tags{5, 6});
  CHECK(b.until(6) == tags{6});
}

TEST_CASE("a datagram client that went and came back with the same path is served again") {
  lab l;
  vm a{l.datagram("a"), 1};
  for (int i = 0; i < 5; ++i) {
    vm b{l.datagram("b"), 2};
    introduce({&a, &b});
    a.send(vm_mac(2), 2);
    CHECK(b.until(2) == tags{2});
  }
}

// Clients that connect before any of them has spoken share a send buffer at the switch (see
// datagram_socket): so each speaks before the next one comes, as those with a hello do.
vm spoken(lab& l, const std::string& name, std::uint32_t number) {
  const auto inode = [&] {
    struct stat status {};
    return ::stat((l.folder / "dgram").c_str(), &status) == 0 ? status.st_ino : 0;
  };
  const auto before = inode();
  vm made{l.datagram(name), number};
  made.send(broadcast_mac, 0);
  for (const auto until = soon(); inode() == before || inode() == 0;) {
    REQUIRE(frame_socket::clock::now() < until);
    std::this_thread::yield();
  }
  return made;
}

TEST_CASE("a datagram client that never reads does not stop the others") {
  lab l;
  vm a = spoken(l, "a", 1), b = spoken(l, "b", 2), stuck = spoken(l, "stuck", 3);
  introduce({&a, &b, &stuck});
  for (int i = 0; i < 500; ++i) {
    a.send(vm_mac(3), 7);
    a.send(vm_mac(2), static_cast<std::uint8_t>(i));
    REQUIRE(b.until(i & 0xff) == tags{i & 0xff});
  }
}

TEST_CASE("ten thousand clients that connect and close leave nothing behind") {
  lab l;
  vm a{l.stream(), 1}, b{l.stream(), 2};
  introduce({&a, &b});
  const auto descriptors = open_descriptors();
  const auto churn = [&](int count) {
    for (int i = 0; i < count; ++i) {
      REQUIRE(frame_socket::stream(l.folder / "stream"));
      if (i % 250 != 249)
        continue;
      {
        vm last{l.stream(), 3}; // is accepted after all others
        introduce({&a, &b, &last});
      }
      while (open_descriptors() > descriptors)
        std::this_thread::yield();
    }
    transfer(a, b, 40, 100);
  };
  churn(10'000);
  const auto memory = resident_kib();
  churn(10'000);
  CHECK(open_descriptors() == descriptors);
  // The allocator's arenas wander; ten thousand ports that stayed would be more than this.
  CHECK(resident_kib() < memory + 16 * 1024);
}

TEST_CASE("a network whose socket path is taken says so, and is down") {
  temporary_folder folder;
  std::ofstream{folder / "taken"} << "precious";
  network_config config;
  config.host.mode = host_mode::user;
  config.listeners = {{listen_type::stream, folder / "free", {}, {}},
                      {listen_type::stream, folder / "taken", {}, {}}};
  running_network network{config};
  const auto event = network.next_event();
  CHECK(event.kind == network_event::what::failed);
  CHECK(event.text.find("taken") != std::string::npos);
  CHECK(network.next_event().kind == network_event::what::down);
  CHECK(std::filesystem::file_size(folder / "taken") == 8);
  CHECK_FALSE(std::filesystem::exists(folder / "free"));
}

TEST_CASE("a network goes down with VMs connected, and its sockets go with it") {
  lab l{host_mode::user};
  vm a{l.stream(), 1}, b{l.datagram("b"), 2};
  a.send(broadcast_mac, 1);
  b.send(broadcast_mac, 2);
  l.network->stop();
  CHECK_FALSE(std::filesystem::exists(l.folder / "stream"));
  CHECK_FALSE(std::filesystem::exists(l.folder / "dgram"));
}

} // namespace vmswitch
