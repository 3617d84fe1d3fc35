#include <set>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using what = dhcp_event::what;

TEST_SUITE("dhcp server") {
  TEST_CASE("a client gets an address of the range, and what goes with it") {
    dhcp_bench b;
    const auto offer = b.send(b.message(dhcp_message::discover, vm(1)));
    REQUIRE(offer);
    CHECK(offer->kind == dhcp_message::offer);
    CHECK(offer->transaction == 77);
    CHECK(offer->client == vm(1));
    CHECK_FALSE(b.event);
    const auto ack = b.select(vm(1), offer->your_address);
    REQUIRE(ack);
    CHECK(ack->kind == dhcp_message::ack);
    CHECK(ack->your_address == offer->your_address);
    CHECK(dhcp_range{ip("192.168.105.4"), ip("192.168.105.254")}.contains(ack->your_address));
    CHECK(ack->mask == ip("255.255.255.0"));
    CHECK(ack->routers == std::vector{ip("192.168.105.1")});
    CHECK(ack->dns == std::vector{ip("192.168.105.1")});
    CHECK(ack->server == ip("192.168.105.1"));
    CHECK(ack->mtu == 1500);
    CHECK(ack->lease == 86400s);
    const auto options = options_of(b.last);
    CHECK(options.at(58) == octets_of(std::uint32_t{43200}));
    CHECK(options.at(59) == octets_of(std::uint32_t{75600}));
    CHECK(options.at(28) == octets_of(ip("192.168.105.255")));
    CHECK(b.event == dhcp_event{what::leased, vm(1), ack->your_address, ""});
  }

  TEST_CASE("an answer is a datagram from the gateway that no receiver pads or refuses") {
    dhcp_bench b;
    b.send(b.message(dhcp_message::discover, vm(1)));
    const auto packet = parse_ipv4(b.last);
    REQUIRE(packet);
    CHECK(packet->way.source == b.host.gateway);
    CHECK(packet->way.source_mac == b.gateway_mac);
    const auto datagram = parse_udp(*packet);
    REQUIRE(datagram); // its checksum is right
    CHECK(datagram->source_port == 67);
    CHECK(datagram->payload.size() >= 300); // RFC 951
  }

  TEST_CASE("where an answer goes: broadcast if the client asks for it, else to its address") {
    dhcp_bench b;
    auto discover = b.message(dhcp_message::discover, vm(1));
    const auto offer = b.send(discover);
    CHECK(parse_ipv4(b.last)->way.destination == ip("255.255.255.255"));
    CHECK(parse_ipv4(b.last)->way.destination_mac == broadcast_mac);
    discover.wants_broadcast = false;
    b.send(discover);
    CHECK(parse_ipv4(b.last)->way.destination == offer->your_address);
    CHECK(parse_ipv4(b.last)->way.destination_mac == vm(1));
    b.select(vm(1), offer->your_address);
    b.renew(vm(1), offer->your_address);
    CHECK(parse_ipv4(b.last)->way.destination == offer->your_address);
    // A NAK reaches a client whose address is wrong.
    auto elsewhere = b.message(dhcp_message::request, vm(1));
    elsewhere.client_address = ip("10.0.0.7");
    elsewhere.wants_broadcast = false;
    CHECK(b.send(elsewhere)->kind == dhcp_message::nak);
    CHECK(parse_ipv4(b.last)->way.destination == ip("255.255.255.255"));
    CHECK(parse_ipv4(b.last)->way.destination_mac == broadcast_mac);
  }

  TEST_CASE("multipass#2690: the client identifier changes, the MAC address keeps its address") {
    dhcp_bench b;
    auto discover = b.message(dhcp_message::discover, vm(1));
    discover.client_id = {std::byte{1}, std::byte{2}, std::byte{3}};
    const auto before = b.send(discover)->your_address;
    CHECK(options_of(b.last).at(61) == "\1\2\3"); // RFC 6842
    b.select(vm(1), before);
    discover.client_id = {std::byte{255}, std::byte{9}, std::byte{9}, std::byte{9}};
    CHECK(b.send(discover)->your_address == before);
  }

  TEST_CASE("two clones with one client identifier get two addresses") {
    dhcp_bench b;
    std::set<ipv4_address> given;
    for (int clone = 1; clone <= 2; ++clone) {
      auto discover = b.message(dhcp_message::discover, vm(static_cast<std::uint64_t>(clone)));
      discover.client_id = {std::byte{255}, std::byte{7}, std::byte{7}};
      const auto offer = b.send(discover);
      REQUIRE(offer);
      auto request = b.message(dhcp_message::request, discover.client);
      request.client_id = discover.client_id;
      request.requested = offer->your_address;
      request.server = b.host.gateway;
      CHECK(b.send(request)->kind == dhcp_message::ack);
      given.insert(offer->your_address);
    }
    CHECK(given.size() == 2);
  }

  TEST_CASE("fabric#394: after a restart that forgets everything no address is given twice") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.13")};
    const auto first = b.lease(vm(1));
    const auto second = b.lease(vm(2));
    b.restart();
    // One comes back and keeps its address; the other is only seen.
    CHECK(b.renew(vm(1), *first)->kind == dhcp_message::ack);
    b.arp_from(vm(2), *second);
    for (std::uint64_t n = 3; n <= 4; ++n) {
      const auto given = b.lease(vm(n));
      REQUIRE(given);
      CHECK(*given != *first);
      CHECK(*given != *second);
    }
    CHECK_FALSE(b.lease(vm(5)));
    CHECK(b.lease(vm(2)) == second);
  }

  TEST_CASE("addresses are stable even if everything is forgotten") {
    dhcp_bench b;
    std::vector<ipv4_address> before;
    for (std::uint64_t n = 1; n <= 5; ++n)
      before.push_back(*b.lease(vm(n)));
    CHECK(std::set(before.begin(), before.end()).size() == 5);
    b.restart();
    for (std::uint64_t n = 5; n >= 1; --n)
      CHECK(b.lease(vm(n)) == before[n - 1]);
  }

  TEST_CASE("sv#139: it can be switched off") {
    host_config host;
    dhcp_config dhcp;
    CHECK(serves_dhcp(host, dhcp));
    dhcp.enabled = false;
    CHECK_FALSE(serves_dhcp(host, dhcp));
    dhcp.enabled = true;
    host.mode = host_mode::isolated;
    CHECK_FALSE(serves_dhcp(host, dhcp));
  }

  TEST_CASE("gtv#474: a very long search list is split, cut to what fits, and breaks nothing") {
    dhcp_config config;
    for (int i = 0; i < 64; ++i)
      config.search.push_back("department-" + std::to_string(i) + ".example.internal");
    dhcp_bench b{config};
    const auto ack = b.send(b.message(dhcp_message::discover, vm(1)));
    REQUIRE(ack);
    CHECK(ack->dns == std::vector{ip("192.168.105.1")});
    CHECK(b.last.size() <= 14 + 576); // what every client takes (RFC 2131, 2)
    const auto part = options_of(b.last).at(119);
    CHECK(part.size() > 100);
    CHECK(part.back() == '\0'); // whole domains only
    CHECK(part.substr(0, 13) == "\x0c"
                                "department-0");

    // A client that takes more gets more, in several options of 255 bytes (RFC 3396).
    byte_writer more;
    auto bare = encode_dhcp(b.message(dhcp_message::discover, vm(1)));
    bare.resize(243); // up to the message type
    more.bytes(bare).u8(57).u8(2).u16(1500).u8(255);
    const auto long_discover = more.take();
    REQUIRE(b.give(udp({vm(1), broadcast_mac, {}, ip("255.255.255.255")}, 68, 67, long_discover)));
    CHECK(options_of(b.last).at(119).size() > 700);
    CHECK(b.last.size() <= 14 + 1500);
  }

  TEST_CASE("what is configured is sent: domain, search list, DNS, other options, names") {
    dhcp_config config;
    config.domain = "vm.internal";
    config.search = {"vm.internal", "example.org"};
    config.dns = {{ip("9.9.9.9"), ip("1.1.1.1")}};
    config.options = {{66, "boot.example"}, {3, octets_of(ip("192.168.105.2"))}};
    config.reservations = {{vm(1), ip("192.168.105.200"), "web"}};
    config.lease_time = 600s;
    dhcp_bench b{config};
    const auto address = b.lease(vm(1));
    CHECK(address == ip("192.168.105.200"));
    CHECK(b.event == dhcp_event{what::leased, vm(1), *address, "web"});
    const auto options = options_of(b.last);
    CHECK(options.at(15) == "vm.internal");
    CHECK(options.at(119) == std::string("\2vm\10internal\0\7example\3org\0", 26));
    CHECK(options.at(6) == octets_of(std::vector{ip("9.9.9.9"), ip("1.1.1.1")}));
    CHECK(options.at(66) == "boot.example");
    CHECK(options.at(3) == octets_of(ip("192.168.105.2")));
    CHECK(options.at(12) == "web");
    CHECK(options.at(51) == octets_of(std::uint32_t{600}));
    b.lease(vm(2));
    CHECK_FALSE(options_of(b.last).contains(12));
  }

  TEST_CASE("without name servers none is told") {
    dhcp_config config;
    config.dns.emplace();
    dhcp_bench b{config};
    b.lease(vm(1));
    CHECK_FALSE(options_of(b.last).contains(6));
  }

  TEST_CASE("a client keeps its name in the log; what is no host name is left out") {
    dhcp_bench b;
    auto request = b.message(dhcp_message::request, vm(1));
    request.requested = b.discover(vm(1));
    request.host_name = "alpha.example.org";
    b.send(request);
    CHECK(b.event->name == "alpha");
    CHECK(to_string(*b.event) ==
          "52:54:00:00:00:01 has " + to_string(*request.requested) + " (name alpha)");
    request.host_name = "evil\n2026 error";
    b.send(request);
    CHECK(b.event->name.empty());
  }

  TEST_CASE("renewing and rebinding extend the lease, at the last moment too") {
    dhcp_config config;
    config.lease_time = 100s;
    dhcp_bench b{config};
    const auto address = *b.lease(vm(1));
    b.now += 99s;
    CHECK(b.renew(vm(1), address)->kind == dhcp_message::ack);
    CHECK(b.event == dhcp_event{what::renewed, vm(1), address, ""});
    b.now += 99s;
    auto rebind = b.message(dhcp_message::request, vm(1));
    rebind.client_address = address;
    CHECK(b.send(rebind)->kind == dhcp_message::ack);
    CHECK(b.event->kind == what::renewed);
    CHECK(b.server.leases().find(vm(1))->until == b.now + 100s);
  }

  TEST_CASE("INIT-REBOOT: its own address is confirmed, a foreign or lent one refused at once") {
    dhcp_bench b;
    const auto address = *b.lease(vm(1));
    CHECK(b.reboot(vm(1), address)->kind == dhcp_message::ack);
    CHECK(b.reboot(vm(2), address)->kind == dhcp_message::nak);
    CHECK(b.event == dhcp_event{what::refused, vm(2), address, ""});
    for (const auto* foreign : {"10.0.0.7", "192.168.105.1", "192.168.105.3", "192.168.105.0",
                                "192.168.105.255", "255.255.255.255"}) {
      CAPTURE(foreign);
      const auto answer = b.reboot(vm(2), ip(foreign));
      REQUIRE(answer);
      CHECK(answer->kind == dhcp_message::nak);
      CHECK(answer->your_address == ipv4_address{});
    }
  }

  TEST_CASE("a client that has chosen another server is forgotten, silently") {
    dhcp_bench b;
    const auto address = *b.discover(vm(1));
    auto request = b.message(dhcp_message::request, vm(1));
    request.requested = ip("192.168.105.99");
    request.server = ip("192.168.105.250");
    CHECK_FALSE(b.send(request));
    CHECK_FALSE(b.event);
    CHECK(b.server.leases().find(address) == nullptr);
  }

  TEST_CASE("RELEASE frees the address, and the client gets it again all the same") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.10")};
    const auto address = *b.lease(vm(1));
    CHECK_FALSE(b.lease(vm(2)));
    b.release(vm(2), address); // not its own
    CHECK_FALSE(b.event);
    b.release(vm(1), address);
    CHECK(b.event == dhcp_event{what::released, vm(1), address, ""});
    CHECK(b.lease(vm(1)) == address);
    b.release(vm(1), address);
    CHECK(b.lease(vm(2)) == address);
  }

  TEST_CASE("a declined address is not lent for a while, and then again") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.11")};
    const auto address = *b.lease(vm(1));
    b.decline(vm(2), address); // not its own
    CHECK_FALSE(b.event);
    b.decline(vm(1), address);
    CHECK(b.event == dhcp_event{what::declined, vm(1), address, ""});
    const auto other = b.lease(vm(1));
    REQUIRE(other);
    CHECK(*other != address);
    CHECK_FALSE(b.lease(vm(2)));
    CHECK(b.reboot(vm(2), address)->kind == dhcp_message::nak);
    b.now += lease_table::decline_time;
    CHECK(b.lease(vm(2)) == address);
  }

  TEST_CASE("INFORM is answered without a lease, and the address is not lent to others") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.11")};
    auto inform = b.message(dhcp_message::inform, vm(1));
    inform.client_address = ip("192.168.105.10");
    inform.wants_broadcast = false;
    const auto answer = b.send_unicast(inform);
    REQUIRE(answer);
    CHECK(answer->kind == dhcp_message::ack);
    CHECK(answer->your_address == ipv4_address{});
    CHECK_FALSE(answer->lease);
    CHECK(answer->dns == std::vector{ip("192.168.105.1")});
    CHECK(parse_ipv4(b.last)->way.destination == inform.client_address);
    CHECK(b.event->kind == what::in_use);
    CHECK(b.lease(vm(2)) == ip("192.168.105.11"));
    CHECK_FALSE(b.lease(vm(3)));
  }

  TEST_CASE("ARP that claims another's MAC address, or is broken, tells nothing") {
    dhcp_bench b;
    auto forged = arp_request(vm(1), ip("192.168.105.10"), b.host.gateway);
    vm(2).write(forged.data() + 6);
    CHECK_FALSE(b.server.observe_arp(forged, b.now));
    auto cut = arp_request(vm(1), ip("192.168.105.10"), b.host.gateway);
    cut.resize(41);
    CHECK_FALSE(b.server.observe_arp(cut, b.now));
    CHECK(b.server.leases().size() == 0);
  }

  TEST_CASE("hostile: a client speaks for itself only") {
    dhcp_bench b;
    const auto address = *b.lease(vm(1));
    auto bye = b.message(dhcp_message::release, vm(1));
    bye.client_address = address;
    bye.server = b.host.gateway;
    auto forged = dhcp_from_client(bye);
    vm(2).write(forged.data() + 6);
    CHECK_FALSE(b.give(forged));
    CHECK_FALSE(b.event);
    CHECK(b.server.ignored() == 1);
    CHECK(b.server.leases().find(vm(1))->is_live(b.now));
  }

  TEST_CASE("hostile: a flood of messages is cut, and service goes on afterwards") {
    dhcp_bench b;
    std::uint32_t answers = 0;
    for (std::uint64_t n = 0; n < 20'000; ++n)
      answers += b.discover(vm(n)) ? 1 : 0;
    CHECK(answers <= 251); // the range
    CHECK(b.server.over_limit() == 20'000 - dhcp_server::burst_limit);
    CHECK(b.server.leases().size() <= 251);
    b.now += 11s;
    CHECK(b.lease(vm(50'000)));
  }

  TEST_CASE("hostile: a table of addresses has a limit in a large network") {
    host_config host;
    host.subnet = *ipv4_subnet::parse("10.0.0.0/8");
    host.gateway = ip("10.0.0.1");
    dhcp_bench b{{}, host};
    for (std::uint32_t n = 0; n < 20'000; ++n)
      b.arp_from(vm(1), {ip("10.1.0.0").value + n});
    CHECK(b.server.leases().size() == lease_table::most_entries);
    CHECK_FALSE(b.lease(vm(2))); // all have just been seen
    CHECK(b.probes.empty());
    b.now += lease_table::answer_time;
    CHECK_FALSE(b.lease(vm(2))); // their user is asked ...
    CHECK(b.probes.size() == lease_table::probes_at_once);
    b.now += 2s; // ... and does not answer
    CHECK(b.lease(vm(2)));
  }

  TEST_CASE("only UDP to port 67, broadcast or for the gateway, is taken out of the traffic") {
    dhcp_bench b;
    const auto payload = encode_dhcp(b.message(dhcp_message::discover, vm(1)));
    const auto is_taken = [&](const frame& bare) { return b.server.is_for_server(bare); };
    const route all{vm(1), broadcast_mac, {}, ip("255.255.255.255")};
    CHECK(is_taken(udp(all, 68, 67, payload)));
    CHECK_FALSE(is_taken(udp(all, 67, 68, payload)));
    auto way = all;
    way.destination = ip("192.168.105.1");
    way.destination_mac = b.gateway_mac;
    CHECK(is_taken(udp(way, 68, 67, payload)));
    way.destination = ip("192.168.105.255");
    CHECK(is_taken(udp(way, 68, 67, payload)));
    way.destination = ip("8.8.8.8"); // through the gateway
    CHECK_FALSE(is_taken(udp(way, 68, 67, payload)));
    way = all;
    way.destination_mac = vm(2); // flooded on its way to another VM
    CHECK_FALSE(is_taken(udp(way, 68, 67, payload)));
    auto fragment = udp(all, 68, 67, payload);
    fragment[20] = std::byte{0x20};
    CHECK_FALSE(is_taken(fragment));
    for (std::size_t size = 0; size < 42; ++size) {
      auto cut = udp(all, 68, 67, payload);
      cut.resize(size);
      CHECK_FALSE(is_taken(cut));
    }
    auto long_header = udp(all, 68, 67, payload);
    long_header[14] = std::byte{0x4f};
    long_header.resize(14 + 60 + 7);
    CHECK_FALSE(is_taken(long_header));
  }
}
