// What the daemon counts against what its VMs have sent and received, to the frame.

#include <optional>

#include <sys/socket.h>

#include "tests/integration/control_lab.hpp"
#include "tests/support/numbered_batch.hpp"
#include "transport/unix_address.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t rounds = VMSWITCH_SANITIZED != 0 ? 500 : 20'000;
constexpr std::size_t to_receiver = 500; // frames of a round
constexpr std::size_t to_stuck = 4;
constexpr std::uint64_t leaves_in = 50; // its socket is full then, and frames wait behind that

// A VM that counts what it sends and gets by itself.
struct counting_vm {
  frame_socket socket;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;

  void send(std::span<const std::byte> wire, std::uint64_t frames) {
    REQUIRE(socket.send_wire(wire, soon()));
    sent += frames;
  }
  /// All that is there within `patience`.
  void receive(std::chrono::milliseconds patience) {
    REQUIRE(socket.receive(frame_socket::clock::now() + patience,
                           [this](std::span<const std::byte> bare) {
                             ++received;
                             received_bytes += bare.size();
                           }));
  }
};

std::uint64_t number(const nlohmann::json& object, const char* key) {
  return object.value(key, std::uint64_t{0});
}

} // namespace

TEST_CASE(
    "of ten million frames every one is counted: as delivered, or by the reason of its loss") {
  const control_lab lab;
  lab.folder.write("vm.toml", "[daemon]\ncontrol = \"c\"\n[[network]]\nmode = \"isolated\"\n"
                              "[network.limits]\negress_deadline_ms = 1000\n"
                              "[[network.listen]]\npath = \"s\"\n"
                              "[[network.listen]]\ntype = \"dgram\"\npath = \"d\"\n");
  auto daemon = lab.start_with({"--config", lab.folder / "vm.toml", "--pidfile", lab.pidfile()});
  lab.await_ready(daemon);
  counting_vm sender{lab.connect()};
  counting_vm receiver{lab.connect()};
  counting_vm stuck{lab.connect()};
  std::optional<counting_vm> leaver{{lab.connect()}};
  std::uint64_t copies = 0; // that the switch is to deliver, or to drop

  // All are connected, and the switch knows where they are.
  const auto introduce = [&](counting_vm& who, std::uint32_t mac) {
    who.send(wire_form(tagged_frame(vm_mac(1), vm_mac(mac), 1)), 1);
    ++copies;
    while (sender.received < mac - 1)
      sender.receive(20s);
  };
  REQUIRE(
      poll_until([&] { return number(lab.get("/v1/networks/default"), "ports") == 4; }, soon()));
  const auto broadcast = wire_form(tagged_frame(broadcast_mac, vm_mac(1), 1));
  sender.send(broadcast, 1);
  copies += 3;
  introduce(receiver, 2);
  introduce(stuck, 3);
  introduce(*leaver, 4);

  std::vector<std::byte> odd; // each is dropped for a reason of its own
  append_wire_form(odd, frame(13));
  append_wire_form(odd, tagged_frame(vm_mac(2), vm_mac(1), 1, 1600));
  append_wire_form(odd, tagged_frame(vm_mac(1), vm_mac(1), 1));
  append_wire_form(odd, tagged_frame(vm_mac(2), mac_address::from_integer(0x0100'5e00'0001ULL), 1));
  constexpr std::size_t odd_frames = 4;
  numbered_batch for_receiver{vm_mac(2), vm_mac(1), 1, 64, to_receiver};
  numbered_batch for_stuck{vm_mac(3), vm_mac(1), 1, 1500, to_stuck};
  numbered_batch for_leaver{vm_mac(4), vm_mac(1), 1, 1500, to_stuck};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    sender.send(odd, odd_frames);
    sender.send(for_stuck.next(), to_stuck);
    if (leaver) {
      sender.send(for_leaver.next(), to_stuck);
      copies += to_stuck;
    }
    sender.send(for_receiver.next(), to_receiver);
    copies += odd_frames + to_stuck + to_receiver;
    while (receiver.received < 1 + (round + 1) * to_receiver)
      receiver.receive(20s);
    if (round == leaves_in)
      leaver.reset(); // with what it has not read
  }

  // A datagram from a socket without a path: nobody could answer it.
  const owned_fd anonymous{::socket(AF_UNIX, SOCK_DGRAM, 0)};
  auto to = unix_address::from_path(lab.folder / "d");
  REQUIRE(to);
  constexpr std::uint64_t nameless = 1000;
  const auto datagram = tagged_frame(broadcast_mac, vm_mac(9), 1);
  for (std::uint64_t i = 0; i < nameless; ++i)
    REQUIRE(::sendto(anonymous.get(), datagram.data(), datagram.size(), 0, to->data(),
                     to->length()) == static_cast<ssize_t>(datagram.size()));
  copies += nameless;

  // The stuck one reads what still waits for it.
  const auto port = [&](const char* name) { return lab.get(std::string{"/v1/ports/"} + name); };
  const auto settled = [&] {
    stuck.receive(20ms);
    const auto network = lab.get("/v1/networks/default");
    return number(network, "frames_out") + number(network, "dropped") == copies &&
           number(port("default.3"), "frames_out") == stuck.received;
  };
  CHECK(poll_until(settled, soon()));

  const auto from = port("default.1");
  CHECK(number(from, "frames_in") == sender.sent);
  CHECK(number(from, "frames_out") == sender.received);
  CHECK(from["drops"] == nlohmann::json{{"runt", rounds},
                                        {"oversize", rounds},
                                        {"same_port", rounds},
                                        {"group_source", rounds}});
  const auto good = port("default.2");
  CHECK(number(good, "dropped") == 0);
  CHECK(number(good, "frames_out") == receiver.received);
  CHECK(number(good, "bytes_out") == receiver.received_bytes);
  const auto bad = port("default.3");
  CHECK(number(bad, "dropped") > rounds);
  CHECK(number(bad, "frames_out") + number(bad, "dropped") == 1 + rounds * to_stuck);
  CHECK(number(bad, "bytes_out") == stuck.received_bytes);
  const auto network = lab.get("/v1/networks/default");
  CHECK(number(network["drops"], "no_return_address") == nameless);
  CHECK(number(network, "frames_in") == sender.sent + 3);
  CHECK(number(network, "frames_out") + number(network, "dropped") == copies);
}
