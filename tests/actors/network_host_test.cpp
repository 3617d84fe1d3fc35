#include "actors/network/network_host.hpp"

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/dhcp.hpp"
#include "vmnet/make_host_interface.hpp"

namespace vmswitch {

namespace {

bool speaks_of_dhcp(const network_config& config) {
  return make_network_host(config, make_host_interface(config.host), {})->describe().find("DHCP") !=
         std::string::npos;
}

/// Takes what a host interface delivers, and forgets it.
class nowhere final : public frame_sink {
public:
  bool deliver(std::span<const std::byte>) override { return true; }
  bool has_room() const noexcept override { return true; }
};

} // namespace

TEST_CASE("sv#139: DHCP stands in front of the host unless it is off or there is no gateway") {
  network_config config;
  CHECK(speaks_of_dhcp(config));
  config.dhcp.enabled = false;
  CHECK_FALSE(speaks_of_dhcp(config));
  config.dhcp.enabled = true;
  config.host.mode = host_mode::isolated;
  CHECK_FALSE(speaks_of_dhcp(config));
}

namespace {

struct host_fixture {
  std::shared_ptr<std::vector<service_note>> notes = std::make_shared<std::vector<service_note>>();
  test::actor_fixture actors;
  caf::actor supervisor =
      actors.system().spawn([heard = notes](caf::event_based_actor* self) -> caf::behavior {
        return {
            [heard](const service_note& note) { heard->push_back(note); },
            [self](const stop&) { self->quit(); },
        };
      });
  nowhere sink;
  std::unique_ptr<host_interface> host =
      make_network_host({}, make_host_interface({}), supervisor->address());
  test::burst_maker make;

  ~host_fixture() {
    host->stop();
    tell(supervisor, stop{});
    actors.run();
  }
};

} // namespace

TEST_CASE_FIXTURE(host_fixture, "what the services have to say is sent to the supervisor") {
  REQUIRE(host->start(sink));
  test::dhcp_message request;
  request.client = test::vm_mac(1);
  request.kind = test::dhcp_message::request;
  request.requested = ipv4_address{0xc0a8694d};
  CHECK(host->write(make(test::dhcp_from_client(request))) == frame_tally{});
  actors.run();
  REQUIRE(notes->size() == 1);
  CHECK(notes->at(0).text == "02:00:00:00:00:01 has 192.168.105.77");
}

TEST_CASE_FIXTURE(host_fixture, "the NAT's warning of a greedy VM is sent to the supervisor") {
  REQUIRE(host->start(sink));
  const host_config config;
  const test::route way{test::vm_mac(1), host->address(), config.subnet.at(14), config.gateway};
  for (std::uint16_t port = 10'000; port < 10'600; ++port)
    host->write(make(test::udp(way, port, 9, {})));
  actors.run();
  REQUIRE(notes->size() == 1);
  CHECK(notes->at(0).severity == service_note::level::warning);
  CHECK(notes->at(0).text.starts_with("VM 02:00:00:00:00:01 has 512 of the 512 UDP flows"));
}

} // namespace vmswitch
