#include "tests/support/frame_socket.hpp"

#include <array>
#include <cstring>
#include <thread>

#include <sys/socket.h>

#include <doctest/doctest.h>

#include "tests/support/numbered_batch.hpp"
#include "tests/support/vm_client.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr auto mac_a = mac_address::from_integer(0x5254'0000'000a);
constexpr auto mac_b = mac_address::from_integer(0x5254'0000'000b);

frame_socket::deadline soon() {
  return frame_socket::clock::now() + 10s;
}

std::pair<frame_socket, frame_socket> pair_of_sockets() {
  std::array<int, 2> fds{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {frame_socket::stream(owned_fd{fds[0]}), frame_socket::stream(owned_fd{fds[1]})};
}

} // namespace

TEST_CASE("frames pass a stream whole, even with one byte per read and write") {
  auto [a, b] = pair_of_sockets();
  a.write_pace({.bytes_per_call = 1});
  b.read_pace({.bytes_per_call = 1});
  numbered_batch source{mac_b, mac_a, 1, 60, 5};
  const auto batch = source.next();
  std::thread sender{[&a = a, batch] { CHECK(a.send_wire(batch, soon())); }};
  sequence_checker checker{1};
  while (checker.received() < 5) {
    const auto got = b.receive(soon(), [&](auto bare) { checker.on_frame(bare); });
    if (!got || *got == 0)
      break;
  }
  sender.join();
  INFO(checker.summary(5));
  CHECK(checker.perfect(5));
}

TEST_CASE("what came behind the frames that were asked for waits for the next call") {
  auto [a, b] = pair_of_sockets();
  numbered_batch source{mac_b, mac_a, 1, 60, 3};
  REQUIRE(a.send_wire(source.next(), soon()));
  sequence_checker checker{1};
  const auto check = [&](auto bare) { checker.on_frame(bare); };
  CHECK(b.receive(soon(), check, 1) == 1u);
  CHECK(b.receive(soon(), check) == 2u);
  CHECK(b.receive(frame_socket::clock::now(), check) == 0u);
  CHECK(checker.perfect(3));
}

TEST_CASE("a read that ends within a frame keeps that part for the next one") {
  auto [a, b] = pair_of_sockets();
  numbered_batch source{mac_b, mac_a, 1, 60, 3};
  const auto batch = source.next();
  sequence_checker checker{1};
  const auto check = [&](auto bare) { checker.on_frame(bare); };
  REQUIRE(a.send_wire(batch.first(100), soon())); // one frame and a half
  CHECK(b.receive(soon(), check) == 1u);
  REQUIRE(a.send_wire(batch.subspan(100), soon()));
  CHECK(b.receive(soon(), check) == 2u);
  CHECK(checker.perfect(3));
}

TEST_CASE("a peer that reads nothing makes send fail at the deadline, not hang") {
  auto [a, b] = pair_of_sockets();
  const std::vector<std::byte> much(8 << 20);
  const auto sent = a.send_wire(much, frame_socket::clock::now() + 20ms);
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == EAGAIN);
}

TEST_CASE("receive returns at the deadline when nothing comes, and reports a hang-up") {
  auto [a, b] = pair_of_sockets();
  const auto nothing = a.receive(frame_socket::clock::now() + 5ms, [](auto) {});
  REQUIRE(nothing);
  CHECK(*nothing == 0);
  b.close();
  CHECK_FALSE(a.receive(soon(), [](auto) {}));
}

TEST_CASE("a length that cannot be one is reported") {
  auto [a, b] = pair_of_sockets();
  REQUIRE(a.send_wire(std::vector(4, std::byte{0xff}), soon()));
  CHECK_FALSE(b.receive(soon(), [](auto) {}));
}

TEST_CASE("a paced writer takes the time that its bytes take") {
  auto [a, b] = pair_of_sockets();
  a.write_pace({.bytes_per_call = 100, .bytes_per_second = 10'000});
  const auto begin = frame_socket::clock::now();
  REQUIRE(a.send_wire(std::vector<std::byte>(400), soon()));
  CHECK(frame_socket::clock::now() - begin >= 40ms);
}

TEST_CASE("two VMs joined by one real socket ping each other") {
  auto [left, right] = pair_of_sockets();
  vm_client a{simulated_vm{mac_a, "a"}, std::move(left)};
  vm_client b{simulated_vm{mac_b, "b"}, std::move(right)};
  const ipv4_subnet subnet{{0x0a000000}, 24};
  a.vm().use_address(subnet.at(1), subnet, {});
  b.vm().use_address(subnet.at(2), subnet, {});
  REQUIRE(a.send(a.vm().ping(subnet.at(2), vm_clock())));
  const std::array clients{&a, &b};
  const auto answered = serve_until(
      clients, [&] { return a.vm().all_answered(); }, soon());
  REQUIRE(answered);
  CHECK(*answered);
}

TEST_CASE("serve_until gives up at the deadline and names the VM whose switch hung up") {
  auto [left, right] = pair_of_sockets();
  vm_client a{simulated_vm{mac_a, "alpha"}, std::move(left)};
  const std::array clients{&a};
  const auto nothing = serve_until(
      clients, [] { return false; }, frame_socket::clock::now() + 5ms);
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);
  right.close();
  const auto failed = serve_until(
      clients, [] { return false; }, soon());
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text.find("alpha") == 0);
}
