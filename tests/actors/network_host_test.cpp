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

TEST_CASE("what the services have to say is sent to the supervisor") {
  test::actor_fixture fixture;
  const auto notes = std::make_shared<std::vector<service_note>>();
  const auto supervisor =
      fixture.system().spawn([notes](caf::event_based_actor* self) -> caf::behavior {
        return {
            [notes](const service_note& note) { notes->push_back(note); },
            [self](const stop&) { self->quit(); },
        };
      });
  nowhere sink;
  const auto host = make_network_host({}, make_host_interface({}), supervisor->address());
  REQUIRE(host->start(sink));
  test::dhcp_message request;
  request.client = test::vm_mac(1);
  request.kind = test::dhcp_message::request;
  request.requested = ipv4_address{0xc0a8694d};
  test::burst_maker make;
  CHECK(host->write(make(test::dhcp_from_client(request))) == 0);
  fixture.run();
  REQUIRE(notes->size() == 1);
  CHECK(notes->at(0).text == "02:00:00:00:00:01 has 192.168.105.77");
  host->stop();
  tell(supervisor, stop{});
  fixture.run();
}

} // namespace vmswitch
