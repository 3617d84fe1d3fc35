#include "vmnet/serviced_host.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

#include <poll.h>

#include "tests/support/bursts.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/vmnet/dhcp/dhcp_bench.hpp"
#include "tests/vmnet/nat_guest.hpp"
#include "vmnet/dhcp/lease_file.hpp"
#include "vmnet/user_addresses.hpp"
#include "vmnet/user_host.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

std::chrono::steady_clock::time_point steady_now;
std::chrono::system_clock::time_point calendar_now;

void pass(std::chrono::milliseconds time) {
  steady_now += time;
  calendar_now += time;
}

/// Keeps the bursts that it gets.
class bursts_log final : public host_interface {
public:
  result<void> start(frame_sink&) override {
    ++starts;
    return {};
  }
  void stop() noexcept override {}
  int fd() const noexcept override { return -1; }
  result<bool> process() override { return false; }
  frame_tally write(const burst& frames) override {
    written.push_back(frames);
    return refuses;
  }
  mac_address address() const noexcept override { return user_mac_for({0xc0a86901}); }
  std::string describe() const override { return "a log"; }

  std::vector<burst> written;
  frame_tally refuses;
  int starts = 0;
};

struct fixture {
  explicit fixture(std::optional<std::string> lease_file = {}, const dhcp_config& config = {})
      : file{std::move(lease_file)}, dhcp{config} {
    steady_now = std::chrono::steady_clock::now();
    calendar_now = std::chrono::system_clock::time_point{1'764'500'000s};
    make();
  }
  void make(const serviced_host* before = nullptr) {
    host.reset();
    auto owned = std::make_unique<bursts_log>();
    backend = owned.get();
    host.emplace(
        std::move(owned), host_services{resolve_dhcp({}, dhcp), file, {}, {}},
        [this](const service_note& note) { notes.push_back(note); },
        service_clocks{[] { return steady_now; }, [] { return calendar_now; }});
    if (before != nullptr)
      host->inherit(*before);
    REQUIRE(host->start(log));
  }
  std::optional<ipv4_address> get_address(std::uint64_t n) {
    dhcp_message message;
    message.client = vm(n);
    const auto exchange = [&]() -> std::optional<dhcp_message> {
      log.frames.clear();
      host->write(bursts(dhcp_from_client(message)));
      return log.frames.empty() ? std::nullopt : parse_dhcp_reply(log.frames.back());
    };
    const auto offer = exchange();
    if (!offer)
      return std::nullopt;
    message.kind = dhcp_message::request;
    message.requested = offer->your_address;
    message.server = offer->server;
    const auto ack = exchange();
    REQUIRE(ack);
    CHECK(ack->kind == dhcp_message::ack);
    return ack->your_address;
  }

  frame_log log;
  std::optional<std::string> file;
  dhcp_config dhcp;
  std::vector<service_note> notes;
  bursts_log* backend = nullptr;
  burst_maker bursts;
  std::optional<serviced_host> host;
};

bool is_readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

// Lines of sockets that are bound to port 67 or 68.
std::size_t sockets_on_dhcp_ports() {
  std::size_t found = 0;
  for (const auto* table : {"/proc/self/net/udp", "/proc/self/net/udp6", "/proc/self/net/raw",
                            "/proc/self/net/packet"}) {
    std::ifstream in{table};
    for (std::string line; std::getline(in, line);)
      found += std::string_view{table}.ends_with("packet") ||
                       line.find(":0043 ") != std::string::npos ||
                       line.find(":0044 ") != std::string::npos
                   ? 1
                   : 0;
  }
  return found;
}

} // namespace

TEST_SUITE("serviced host") {
  TEST_CASE("a burst without service frames is handed on as it is") {
    fixture f;
    const route way{vm(1), user_mac_for({0xc0a86901}), ip("192.168.105.9"), ip("192.168.105.1")};
    const std::vector<frame> frames{
        udp(way, 40000, 53, {}), arp_request(vm(1), ip("192.168.105.9"), ip("192.168.105.1")),
        udp({vm(1), vm(2), ip("192.168.105.9"), ip("192.168.105.8")}, 68, 67, {}),
        icmp_echo(way, {})};
    const auto given = f.bursts(frames);
    CHECK(f.host->write(given) == frame_tally{});
    REQUIRE(f.backend->written.size() == 1);
    const auto& got = f.backend->written[0];
    CHECK(got.memory() == given.memory());
    CHECK(std::ranges::equal(got.ranges(), given.ranges()));
    CHECK(f.log.frames.empty());
  }

  TEST_CASE("of a burst with service frames the others are handed on, in order and uncopied") {
    fixture f;
    const route way{vm(1), user_mac_for({0xc0a86901}), ip("192.168.105.9"), ip("192.168.105.1")};
    dhcp_message discover;
    discover.client = vm(1);
    const std::vector<frame> others{udp(way, 40000, 53, {}), icmp_echo(way, {}),
                                    udp(way, 40001, 53, {})};
    const auto given =
        f.bursts(std::vector{others[0], others[1], dhcp_from_client(discover), others[2]});
    f.backend->refuses = {2, 120};
    CHECK(f.host->write(given) == frame_tally{2, 120});
    REQUIRE(f.backend->written.size() == 1);
    CHECK(frames_of(f.backend->written[0]) == others);
    CHECK(f.backend->written[0].memory() == given.memory());
    CHECK(f.backend->written[0].ranges().size() == 2);
    REQUIRE(f.log.frames.size() == 1);
    CHECK(parse_dhcp_reply(f.log.frames[0])->kind == dhcp_message::offer);
  }

  TEST_CASE("a burst of service frames only does not reach the backend") {
    fixture f;
    CHECK(f.get_address(1));
    CHECK(f.backend->written.empty());
  }

  TEST_CASE("what happens to leases is told, a renewal in a low voice") {
    fixture f;
    const auto address = f.get_address(1);
    REQUIRE(f.notes.size() == 1);
    CHECK(f.notes[0].severity == service_note::level::info);
    CHECK(f.notes[0].text == "52:54:00:00:00:01 has " + to_string(*address));
    CHECK(f.get_address(1) == address);
    REQUIRE(f.notes.size() == 2);
    CHECK(f.notes[1].severity == service_note::level::debug);
  }

  TEST_CASE("a VM seen by ARP keeps its address") {
    dhcp_config config = with_range("192.168.105.10", "192.168.105.11");
    fixture f{{}, config};
    f.host->write(f.bursts(arp_request(vm(9), ip("192.168.105.10"), ip("192.168.105.1"))));
    CHECK(f.get_address(1) == ip("192.168.105.11"));
    CHECK_FALSE(f.get_address(2));
  }

  TEST_CASE("leases outlive a restart of the backend, and without a file no descriptor is needed") {
    fixture f;
    CHECK(f.host->fd() == -1);
    const auto before = f.get_address(1);
    f.host->stop();
    REQUIRE(f.host->start(f.log));
    CHECK(f.backend->starts == 2);
    f.get_address(1);
    CHECK(f.notes.back().text.find("keeps " + to_string(*before)) != std::string::npos);
  }

  TEST_CASE("fabric#394: a restart of the server with its lease file gives the same address") {
    const temporary_folder folder;
    dhcp_config config = with_range("192.168.105.10", "192.168.105.11");
    fixture f{folder / "leases", config};
    const auto first = f.get_address(1);
    CHECK(folder.has("leases")); // at once, since kill -9 may come
    f.make();
    const auto second = f.get_address(2);
    CHECK(second);
    CHECK(second != first);
    CHECK(f.get_address(1) == first);
    CHECK_FALSE(f.get_address(3));
  }

  TEST_CASE("the lease file is written once a second at most, before a stop at the latest") {
    const temporary_folder folder;
    fixture f{folder / "leases"};
    f.get_address(1);
    const auto one = folder.read("leases");
    CHECK(std::ranges::count(one, '\n') == 1);
    CHECK_FALSE(is_readable(f.host->fd()));
    pass(400ms);
    f.get_address(2);
    pass(100ms);
    f.get_address(3);
    CHECK(folder.read("leases") == one);
    SUBCASE("when its time has come") {
      pass(500ms);
      pollfd watched{f.host->fd(), POLLIN, 0};
      REQUIRE(::poll(&watched, 1, 5000) == 1); // the real timer: 600 ms from now
      CHECK(f.host->process() == false);
      CHECK(std::ranges::count(folder.read("leases"), '\n') == 3);
      CHECK_FALSE(is_readable(f.host->fd())); // idle again
    }
    SUBCASE("when it stops") {
      f.host->stop();
      CHECK(std::ranges::count(folder.read("leases"), '\n') == 3);
    }
  }

  TEST_CASE("minikube#17987: a lease file with bad lines is a warning, and the rest of it counts") {
    const temporary_folder folder;
    folder.write("leases",
                 "}{\n" + render_leases({{vm(1), ip("192.168.105.77"),
                                          std::chrono::sys_seconds{1'764'500'100s},
                                          std::chrono::sys_seconds{1'764'500'000s}, ""}}));
    fixture f{folder / "leases"};
    REQUIRE(f.notes.size() == 1);
    CHECK(f.notes[0].severity == service_note::level::warning);
    CHECK(f.notes[0].text ==
          "lease file \"" + folder / "leases" + "\": 1 line(s) skipped: line 1 is no JSON.");
    CHECK(f.get_address(1) == ip("192.168.105.77"));
  }

  TEST_CASE("a lease file that cannot be written is one warning, and service goes on") {
    const temporary_folder folder;
    fixture f{folder / "missing/leases"};
    CHECK(f.get_address(1));
    pass(2s);
    CHECK(f.get_address(2));
    const auto warnings =
        std::ranges::count(f.notes, service_note::level::warning, &service_note::severity);
    CHECK(warnings == 1);
    std::filesystem::create_directory(folder / "missing");
    pass(2s);
    CHECK(f.get_address(3));
    CHECK(std::ranges::count(folder.read("missing/leases"), '\n') == 3);
    CHECK(f.notes.back().text.find("written again") != std::string::npos);
  }

  TEST_CASE("hostile: a file that is no lease file stays, with one warning, until it is moved") {
    const temporary_folder folder;
    const std::string diary = "my diary\nand more\n";
    folder.write("leases", diary);
    SUBCASE("as it is") {}
    SUBCASE("by a symbolic link") {
      std::filesystem::rename(folder / "leases", folder / "diary");
      std::filesystem::create_symlink("diary", folder / "leases");
    }
    fixture before{folder / "leases"};
    REQUIRE(before.notes.size() == 1);
    const auto& note = before.notes[0];
    CHECK(note.severity == service_note::level::warning);
    CHECK(note.text.find(folder / "leases") != std::string::npos);
    CHECK(note.text.find("move it away, or choose another path") != std::string::npos);
    const auto address = before.get_address(1);
    before.host->stop();
    CHECK(folder.read("leases") == diary);

    fixture f; // as after a reload
    f.file = before.file;
    f.make(&*before.host);
    CHECK(f.get_address(1) == address);
    f.host->stop();
    CHECK(folder.read("leases") == diary);
    CHECK(std::ranges::count(f.notes, service_note::level::warning, &service_note::severity) == 0);

    std::filesystem::rename(folder / "leases", folder / "kept");
    REQUIRE(f.host->start(f.log));
    pass(2s);
    CHECK(f.get_address(2));
    CHECK(std::ranges::count(folder.read("leases"), '\n') == 2);
    CHECK(folder.read("kept") == diary);
    CHECK(f.notes.back().text.find("written again") != std::string::npos);
  }

  TEST_CASE("in front of the NAT: an address by DHCP, a ping with it, no limit of 16") {
    std::signal(SIGPIPE, SIG_IGN);
    const temporary_folder folder;
    frame_log log;
    const auto before = sockets_on_dhcp_ports();
    serviced_host host{std::make_unique<user_host>(host_config{}),
                       {resolve_dhcp({}, {}), folder / "leases", {}, {}},
                       [](const service_note&) {}};
    REQUIRE(host.start(log));
    nat_guest guest{host, log};
    for (std::uint64_t n = 1; n <= 40; ++n) {
      guest.mac = vm(n);
      const auto ack = guest.get_address();
      REQUIRE(ack);
      CHECK(ack->kind == dhcp_message::ack);
      const route way{guest.mac, host.address(), ack->your_address, ip("192.168.105.1")};
      guest.send(arp_request(guest.mac, ack->your_address, ip("192.168.105.1")));
      REQUIRE(guest.await([](const frame& bare) { return parse_arp(bare).has_value(); }));
      guest.send(icmp_echo(way, {}));
      CHECK(guest.await([](const frame& bare) {
        const auto packet = parse_ipv4(bare);
        return packet && parse_icmp_echo(*packet);
      }));
    }
    CHECK(sockets_on_dhcp_ports() ==
          before); // lima#4501: the host's ports 67 and 68 are left alone
  }

  TEST_CASE("another host interface of the network takes over its leases") {
    fixture before;
    const auto address = before.get_address(1);
    before.host->stop();
    fixture f;
    f.host->stop();
    f.host->inherit(*before.host);
    REQUIRE(f.host->start(f.log));
    CHECK(f.get_address(1) == address);
    CHECK(f.notes.back().text.find("keeps") != std::string::npos);
  }

  TEST_CASE("a lease file that both have is not read twice") {
    const temporary_folder folder;
    fixture before{folder / "leases"};
    before.get_address(1);
    before.host->stop();
    fixture f{folder / "leases"};
    f.host->stop();
    f.notes.clear();
    f.host->inherit(*before.host);
    REQUIRE(f.host->start(f.log));
    CHECK(f.notes.empty()); // a second reading would say that its leases do not fit
  }

  TEST_CASE("other settings hold at once, and leases stay") {
    fixture f;
    const auto address = f.get_address(1);
    auto config = f.dhcp;
    config.range = {*address, *address};
    f.host->change(resolve_dhcp({}, config));
    CHECK(f.host->describe().find("DHCP " + to_string(*address) + " to") != std::string::npos);
    CHECK(f.get_address(1) == address);
    CHECK_FALSE(f.get_address(2));
  }
}
