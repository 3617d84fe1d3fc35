// What the daemon counts against what its VMs have sent and received, to the frame.

#include <algorithm>
#include <optional>
#include <set>

#include <sys/socket.h>

#include "tests/integration/control_lab.hpp"
#include "tests/integration/service_manager.hpp"
#include "tests/support/numbered_batch.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t rounds = VMSWITCH_SANITIZED != 0 ? 500 : 20'000;
constexpr std::size_t to_receiver = 500; // frames of a round
constexpr std::size_t to_stuck = 4;
constexpr std::uint64_t leaves_in = 50; // its socket is full then, and frames wait behind that
constexpr std::uint64_t some = 1000;    // frames for each reason that has a phase of its own

const ipv4_address gateway = ipv4_address::parse("192.168.105.1").value();

// The datagram socket comes from a service manager, who can make its buffer small.
constexpr const char* configuration = R"([daemon]
control = "c"
[[network]]
mode = "user"
ipv6 = false
mtu = 9000
[network.limits]
ports = 7
slabs = 64
egress_bursts = 16
egress_deadline_ms = 1000
[[network.listen]]
path = "s"
[[network.listen]]
path = "apart"
isolated = true
[[network.listen]]
type = "dgram"
path = "d"
)";

// A VM that counts what it sends and gets by itself.
struct counting_vm {
  frame_socket socket;
  mac_address mac;
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;

  void send(std::span<const std::byte> wire, std::uint64_t frames) {
    REQUIRE(socket.send_wire(wire, soon()));
    sent += frames;
    sent_bytes += wire.size() - frames * prefix_size;
  }
  void repeat(const frame& bare, std::uint64_t times = 1) {
    for (const auto wire = wire_form(bare); times > 0; --times)
      send(wire, 1);
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

struct lab : control_lab {
  nlohmann::json network() const { return get("/v1/networks/default"); }
  nlohmann::json port(const std::string& name) const { return get("/v1/ports/" + name); }
  void await(const std::function<bool()>& done) const {
    const bool in_time = poll_until(done, soon());
    INFO(network().dump());
    REQUIRE(in_time);
  }
  /// The port with this number, of a VM that has the address of the same number.
  counting_vm connect(std::uint32_t port, const char* socket = "s") const {
    counting_vm made{control_lab::connect(socket), vm_mac(port)};
    await([&] { return number(network(), "ports") == port; });
    return made;
  }
};

} // namespace

TEST_CASE(
    "of ten million frames every one is counted: as delivered, or by the reason of its loss") {
  const lab l;
  const auto config = l.folder.write("vm.toml", configuration);
  const service_manager service{l.folder / "d", SOCK_DGRAM};
  auto daemon = service.start({"--config", config, "--pidfile", l.pidfile()});
  l.await_ready(daemon);
  counting_vm sender = l.connect(1), receiver = l.connect(2), stuck = l.connect(3);
  std::optional<counting_vm> leaver = l.connect(4);
  counting_vm hermit = l.connect(5, "apart"), other_hermit = l.connect(6, "apart");
  std::uint64_t copies = 0; // that the switch is to deliver, or to drop

  // The switch learns where they are.
  const auto introduce = [&](counting_vm& who) {
    who.repeat(tagged_frame(sender.mac, who.mac, 1));
    ++copies;
    l.await([&] { return number(l.network(), "frames_in") == copies; });
  };
  sender.repeat(tagged_frame(sender.mac, sender.mac, 1)); // to itself: dropped, but learned from
  ++copies;
  for (auto* each : {&receiver, &stuck, &*leaver, &hermit, &other_hermit})
    introduce(*each);

  std::vector<std::byte> odd; // each is dropped for a reason of its own
  append_wire_form(odd, frame(13));
  append_wire_form(odd, tagged_frame(receiver.mac, sender.mac, 1, 9100));
  append_wire_form(odd, tagged_frame(sender.mac, sender.mac, 1));
  append_wire_form(odd,
                   tagged_frame(receiver.mac, mac_address::from_integer(0x0100'5e00'0001ULL), 1));
  constexpr std::size_t odd_frames = 4;
  numbered_batch for_receiver{receiver.mac, sender.mac, 1, 64, to_receiver};
  numbered_batch for_stuck{stuck.mac, sender.mac, 1, 1500, to_stuck};
  numbered_batch for_leaver{leaver->mac, sender.mac, 1, 1500, to_stuck};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    sender.send(odd, odd_frames);
    sender.send(for_stuck.next(), to_stuck);
    if (leaver) {
      sender.send(for_leaver.next(), to_stuck);
      copies += to_stuck;
    }
    sender.send(for_receiver.next(), to_receiver);
    copies += odd_frames + to_stuck + to_receiver;
    while (receiver.received < (round + 1) * to_receiver)
      receiver.receive(20s);
    if (round == leaves_in)
      leaver.reset(); // with what it has not read
  }
  // What waits for the stuck one gets too old, and what comes then does not wait at all.
  l.await([&] { return number(l.port("default.3")["drops"], "egress_expired") > 0; });
  sender.send(for_stuck.next(), to_stuck);
  copies += to_stuck;

  // Nobody but the host may claim its address. All others get the claim, the isolated ones too.
  const auto claim = arp_request(sender.mac, gateway, gateway);
  sender.repeat(claim, some);
  copies += some * 5;

  hermit.repeat(tagged_frame(other_hermit.mac, hermit.mac, 1), some);
  other_hermit.repeat(tagged_frame(sender.mac, other_hermit.mac, 1), some);
  copies += 2 * some;
  l.await([&] {
    return number(l.port("default.5"), "frames_in") == hermit.sent &&
           number(l.port("default.6"), "frames_in") == other_hermit.sent;
  });
  REQUIRE(control_client{l.control()}.call("PATCH", "/v1/ports/default.5", R"({"up": false})"));
  hermit.repeat(tagged_frame(sender.mac, hermit.mac, 1), some);
  copies += some;

  counting_vm datagram{std::move(*frame_socket::datagram(l.folder / "vm", l.folder / "d")),
                       vm_mac(7)};
  datagram.repeat(tagged_frame(sender.mac, datagram.mac, 1));
  ++copies;
  l.await([&] { return number(l.network(), "connections") == 7; });
  // Larger than the socket's buffer, which the system lets nobody make smaller than 4 KiB.
  const int small = 1;
  REQUIRE(::setsockopt(service.fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
  sender.repeat(tagged_frame(datagram.mac, sender.mac, 1, 8000), some);
  copies += some;

  // Nobody could answer a socket without a path; and the leaver's port has been taken.
  auto late = l.connect(7);
  const owned_fd nameless{::socket(AF_UNIX, SOCK_DGRAM, 0)};
  const auto to = unix_address::from_path(l.folder / "d").value();
  const auto from_nobody = tagged_frame(broadcast_mac, vm_mac(9), 1);
  auto one_too_many = frame_socket::datagram(l.folder / "more", l.folder / "d");
  REQUIRE(one_too_many);
  for (std::uint64_t i = 0; i < some; ++i) {
    REQUIRE(::sendto(nameless.get(), from_nobody.data(), from_nobody.size(), 0, to.data(),
                     to.length()) == static_cast<ssize_t>(from_nobody.size()));
    REQUIRE(one_too_many->send(from_nobody, soon()));
  }
  copies += 2 * some;

  // All read what still waits for them, the stuck one too.
  const std::vector<std::pair<counting_vm*, std::string>> all{
      {&sender, "default.1"}, {&receiver, "default.2"},     {&stuck, "default.3"},
      {&hermit, "default.5"}, {&other_hermit, "default.6"}, {&datagram, "default.7"},
      {&late, "default.8"}};
  l.await([&] {
    bool have_all = true;
    for (const auto& [vm, name] : all) {
      vm->receive(20ms);
      have_all = have_all && number(l.port(name), "frames_out") == vm->received;
    }
    const auto network = l.network();
    return have_all && number(network, "frames_out") + number(network, "dropped") == copies;
  });
  std::uint64_t sent = 0;
  for (const auto& [vm, name] : all) {
    const auto port = l.port(name);
    INFO(port.dump());
    CHECK(number(port, "frames_in") == vm->sent);
    CHECK(number(port, "bytes_in") == vm->sent_bytes);
    CHECK(number(port, "frames_out") == vm->received);
    CHECK(number(port, "bytes_out") == vm->received_bytes);
    sent += vm->sent;
  }
  const auto drops = [&](const char* name) { return l.port(name)["drops"]; };
  using counts = nlohmann::json;
  CHECK(drops("default.1") == counts{{"runt", rounds},
                                     {"oversize", rounds},
                                     {"same_port", rounds + 1},
                                     {"group_source", rounds}});
  CHECK(drops("default.2") == counts::object());
  CHECK(drops("default.5") == counts{{"port_isolated", some}, {"port_down", some}});
  CHECK(drops("default.6") == counts::object());
  CHECK(drops("default.7") == counts{{"egress_refused", some}});
  CHECK(drops("host") == counts{{"host_refused", some}});
  const auto bad = l.port("default.3");
  CHECK(number(bad, "frames_out") + number(bad, "dropped") == (rounds + 1) * to_stuck + some);

  const auto network = l.network();
  CHECK(number(network, "frames_in") == sent + 1); // the leaver's
  CHECK(number(network["drops"], "no_return_address") == some);
  CHECK(number(network["drops"], "ingress_exhausted") == some);
  std::set<std::string> reasons;
  for (const auto& [reason, count] : network["drops"].items())
    if (count > 0)
      reasons.insert(reason);
  // All but unknown_port: a port that is gone sends nothing, unless it has crashed.
  for (const char* reason :
       {"runt", "oversize", "group_source", "same_port", "port_isolated", "port_down",
        "egress_expired", "egress_stalled", "egress_full", "egress_refused", "ingress_exhausted",
        "no_return_address", "port_closed", "host_refused"})
    CHECK_MESSAGE(reasons.contains(reason), reason);
}

TEST_CASE("what a datagram VM sends that is no frame is counted at its port, connected or not") {
  for (const bool connects : {false, true}) {
    const control_lab lab;
    lab.folder.write("vm.toml", "[daemon]\ncontrol = \"c\"\n[[network]]\nmode = \"isolated\"\n"
                                "[[network.listen]]\ntype = \"dgram\"\npath = \"d\"\n");
    auto daemon = lab.start_with({"--config", lab.folder / "vm.toml", "--pidfile", lab.pidfile()});
    lab.await_ready(daemon);
    const owned_fd vm{::socket(AF_UNIX, SOCK_DGRAM, 0)};
    const auto own = unix_address::from_path(lab.folder / "vm").value();
    const auto to = unix_address::from_path(lab.folder / "d").value();
    REQUIRE(::bind(vm.get(), own.data(), own.length()) == 0);
    if (connects)
      REQUIRE(::connect(vm.get(), to.data(), to.length()) == 0);
    const auto sends = [&](std::size_t size) {
      auto sent = tagged_frame(broadcast_mac, vm_mac(1), 1, std::max<std::size_t>(size, 60));
      sent.resize(size);
      REQUIRE(::sendto(vm.get(), sent.data(), size, 0, to.data(), to.length()) ==
              static_cast<ssize_t>(size));
    };
    const auto counted = [&] { return lab.get("/v1/ports/default.1"); };
    sends(60);
    REQUIRE(
        poll_until([&] { return number(lab.get("/v1/networks/default"), "ports") == 1; }, soon()));
    for (const std::size_t size : {13, 1, 1519, 60'000, 1518})
      sends(size);
    CHECK(poll_until([&] { return number(counted(), "frames_in") == 6; }, soon()));
    CHECK(number(counted(), "bytes_in") == 60 + 13 + 1 + 1519 + 60'000 + 1518);
    CHECK(counted()["drops"] == nlohmann::json{{"runt", 2}, {"oversize", 2}});
  }
}
