#include <algorithm>
#include <random>
#include <system_error>

#include <poll.h>
#include <sys/resource.h>

#include "tests/vmnet/nat_fixture.hpp"
#include "vmnet/make_host_interface.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

ipv4_address ip(const char* text) {
  return ipv4_address::parse(text).value();
}

host_config with_subnet(const char* subnet, const char* gateway) {
  host_config config;
  config.subnet = ipv4_subnet::parse(subnet).value();
  config.gateway = ip(gateway);
  return config;
}

bool is_readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

bool is_router_advertisement(const frame& bare) {
  return bare.size() >= 55 && bare[12] == std::byte{0x86} && bare[13] == std::byte{0xdd} &&
         bare[20] == std::byte{58} && bare[54] == std::byte{134};
}

} // namespace

TEST_SUITE("user host") {
  TEST_CASE("the gateway and the name server answer ARP, nobody else does") {
    nat_fixture nat;
    for (const auto ours : {ip("192.168.105.1"), ip("192.168.105.3")}) {
      nat.guest.send(arp_request(nat.guest.mac, nat.address, ours));
      const auto answer =
          nat.guest.await([](const frame& bare) { return parse_arp(bare).has_value(); });
      REQUIRE(answer);
      const auto arp = parse_arp(*answer);
      CHECK(arp->operation == arp_packet::reply);
      CHECK(arp->sender == ours);
      CHECK(arp->sender_mac == user_mac_for(ours));
      CHECK(arp->target == nat.address);
    }
    for (const auto* other : {"192.168.105.2", "192.168.105.77", "10.0.0.1", "8.8.8.8"})
      nat.guest.send(arp_request(nat.guest.mac, nat.address, ip(other)));
    nat.guest.settle();
    CHECK(nat.log.frames.empty());
  }

  TEST_CASE("a VM that claims the gateway's address is refused") {
    nat_fixture nat;
    CHECK(nat.guest.send(arp_reply(nat.guest.mac, nat.config.gateway, broadcast_mac,
                                   nat.config.gateway)) == 1);
  }

  TEST_CASE("libslirp's own DHCP server is silent") {
    nat_fixture nat;
    dhcp_message discover;
    discover.client = nat.guest.mac;
    nat.guest.send(dhcp_from_client(discover));
    nat.guest.send(udp(nat.way_to_gateway(), 68, 67, encode_dhcp(discover)));
    nat.guest.settle();
    CHECK(nat.log.frames.empty());
  }

  TEST_CASE("other subnets are served alike") {
    struct expectation {
      const char *subnet, *gateway;
    };
    for (const auto& wanted : {
             expectation{"10.77.0.0/16", "10.77.0.1"},
             expectation{"192.168.9.32/27", "192.168.9.33"},
             expectation{"172.16.0.0/24", "172.16.0.3"},
             expectation{"172.16.0.0/24", "172.16.0.20"},
         }) {
      CAPTURE(wanted.subnet);
      CAPTURE(wanted.gateway);
      nat_fixture nat{with_subnet(wanted.subnet, wanted.gateway)};
      nat.introduce();
      nat.guest.send(icmp_echo(nat.way_to_gateway(), {}));
      CHECK(nat.guest.await([](const frame& bare) {
        const auto packet = parse_ipv4(bare);
        return packet && parse_icmp_echo(*packet);
      }));
    }
  }

  TEST_CASE("the gateway answers a ping with the same data") {
    nat_fixture nat;
    nat.introduce();
    const std::vector<std::byte> data(1000, std::byte{0x5a});
    nat.guest.send(icmp_echo(nat.way_to_gateway(), {false, 7, 3, data}));
    std::optional<echo> answer;
    REQUIRE(nat.guest.await([&](const frame& bare) {
      const auto packet = parse_ipv4(bare);
      answer = packet ? parse_icmp_echo(*packet) : std::nullopt;
      return answer && packet->way.source_mac == user_mac_for(nat.config.gateway) &&
             packet->way.destination_mac == nat.guest.mac;
    }));
    CHECK(answer->is_reply);
    CHECK(answer->identifier == 7);
    CHECK(answer->sequence == 3);
    CHECK(answer->data == data);
  }

  TEST_CASE("with an mtu of 9000 a packet of 9000 bytes comes back whole, one of 9001 is refused") {
    host_config config;
    config.mtu = 9000;
    nat_fixture nat{config};
    nat.introduce();
    const auto ping = [&](std::size_t packet_size) {
      const std::vector<std::byte> data(packet_size - 28, std::byte{1});
      return icmp_echo(nat.way_to_gateway(), {false, 1, 1, data});
    };
    CHECK(nat.guest.send(ping(9000)) == 0);
    CHECK(nat.guest.await([](const frame& bare) { return bare.size() == 14 + 9000; }));
    CHECK(nat.guest.send(ping(9001)) == 1);
  }

  TEST_CASE("a router solicitation is answered when IPv6 is on, and not when it is off") {
    host_config config;
    SUBCASE("on") {
      nat_fixture nat{config};
      nat.guest.send(router_solicitation(nat.guest.mac));
      const auto answer = nat.guest.await(is_router_advertisement);
      REQUIRE(answer);
      // The prefix option (type 3, 4 words) behind the 16 fixed bytes and the MAC address option.
      const auto option = std::span{*answer}.subspan(54 + 16 + 8, 32);
      CHECK(option[0] == std::byte{3});
      CHECK(option[2] == std::byte{64});
      CHECK(option[16] == std::byte{0xfd});
      CHECK(std::ranges::all_of(option.subspan(17, 7),
                                [](std::byte octet) { return octet == std::byte{0}; }));
    }
    SUBCASE("on, with a prefix of its own") {
      config.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
      nat_fixture nat{config};
      nat.guest.send(router_solicitation(nat.guest.mac));
      const auto answer = nat.guest.await(is_router_advertisement);
      REQUIRE(answer);
      const auto prefix = std::as_bytes(std::span{config.ipv6_prefix->octets});
      CHECK(std::ranges::equal(std::span{*answer}.subspan(54 + 16 + 8 + 16, 16), prefix));
    }
    SUBCASE("off") {
      config.ipv6 = false;
      nat_fixture nat{config};
      nat.guest.send(router_solicitation(nat.guest.mac));
      nat.guest.settle();
      CHECK(nat.log.frames.empty());
    }
    SUBCASE("off because the mtu is below what IPv6 needs") {
      config.mtu = 1279;
      nat_fixture nat{config};
      nat.guest.send(router_solicitation(nat.guest.mac));
      nat.guest.settle();
      CHECK(nat.log.frames.empty());
      CHECK(nat.host.describe().find("mtu is below 1280") != std::string::npos);
    }
  }

  TEST_CASE("frames that are flooded on their way to another VM have no effect") {
    nat_fixture nat;
    nat.introduce();
    auto way = nat.way_to(ip("192.168.105.200"));
    way.destination_mac = mac_address::from_integer(0x5254'0099'9999);
    const std::vector<frame> flooded{tcp(way, {40000, 80, 1, 0, tcp_segment::syn, 65535, ""}),
                                     udp(way, 40000, 53, {}), icmp_echo(way, {})};
    CHECK(nat.guest.send(flooded) == 0);
    nat.guest.settle();
    CHECK(nat.log.frames.empty());
    CHECK(nat.host.open_sockets() == 0);
  }

  TEST_CASE("a flood of junk neither ends the process nor opens sockets") {
    constexpr std::uint32_t seed = 20240611;
    CAPTURE(seed);
    std::mt19937 random{seed};
    nat_fixture nat;
    nat.introduce();
    const auto gateway = user_mac_for(nat.config.gateway);
    std::vector<frame> batch;
    for (int round = 0; round < 20'000; ++round) {
      frame junk(14 + random() % 1501);
      for (auto& octet : junk)
        octet = static_cast<std::byte>(random());
      if (random() % 8 != 0) {
        gateway.write(junk.data());
        constexpr std::uint16_t types[]{type_ipv4, type_ipv6, type_arp, 0x88f8};
        const auto type = types[random() % 4];
        junk[12] = static_cast<std::byte>(type >> 8);
        junk[13] = static_cast<std::byte>(type & 0xff);
      }
      batch.push_back(std::move(junk));
      if (batch.size() == 50) {
        nat.guest.send(batch);
        batch.clear();
        nat.guest.settle();
        nat.log.frames.clear();
      }
    }
    CHECK(nat.host.open_sockets() == 0);
    nat.guest.send(icmp_echo(nat.way_to_gateway(), {}));
    CHECK(nat.guest.await([](const frame& bare) { return parse_ipv4(bare).has_value(); }));
  }

  TEST_CASE("well-formed packets with random changes do not end the process") {
    constexpr std::uint32_t seed = 77;
    CAPTURE(seed);
    std::mt19937 random{seed};
    nat_fixture nat;
    nat.introduce();
    dhcp_message discover;
    discover.client = nat.guest.mac;
    const std::vector<frame> good{
        arp_request(nat.guest.mac, nat.address, nat.config.gateway),
        icmp_echo(nat.way_to_gateway(), {false, 1, 1, std::vector<std::byte>(64)}),
        tcp(nat.way_to_gateway(), {40000, 1, 1, 0, tcp_segment::syn, 65535, ""}),
        dhcp_from_client(discover), router_solicitation(nat.guest.mac)};
    for (int round = 0; round < 20'000; ++round) {
      frame changed = good[random() % good.size()];
      for (auto changes = random() % 3; changes > 0; --changes)
        changed[14 + random() % (changed.size() - 14)] = static_cast<std::byte>(random());
      nat.guest.send(changed);
      nat.log.frames.clear();
    }
    nat.guest.send(icmp_echo(nat.way_to_gateway(), {}));
    CHECK(nat.guest.await([](const frame& bare) { return parse_ipv4(bare).has_value(); }));
  }

  TEST_CASE("once idle it is not ready for anything, and no tick wakes it") {
    nat_fixture nat;
    nat.introduce();
    nat.guest.settle();
    CHECK(!is_readable(nat.host.fd()));
    CHECK(nat.host.open_sockets() == 0);
    pollfd watched{nat.host.fd(), POLLIN, 0};
    CHECK(::poll(&watched, 1, 1200) == 0); // longer than libslirp's longest tick
  }

  TEST_CASE("without room in the sink it asks to be called again and delivers nothing") {
    nat_fixture nat;
    nat.log.room = false;
    CHECK(nat.host.process().value());
    nat.log.room = true;
    CHECK(!nat.host.process().value());
  }

  TEST_CASE("frames sent while it is stopped are refused, and it works again after a restart") {
    nat_fixture nat;
    nat.host.stop();
    nat.host.stop();
    CHECK(nat.host.fd() == -1);
    CHECK(!nat.host.process().value());
    CHECK(nat.guest.send(std::vector<frame>(3, icmp_echo(nat.way_to_gateway(), {}))) == 3);
    REQUIRE(nat.host.start(nat.log));
    nat.introduce();
  }

  TEST_CASE("starting twice, or with a configuration that cannot work, fails with a reason") {
    nat_fixture nat;
    CHECK(!nat.host.start(nat.log));
    user_host impossible{with_subnet("192.168.105.0/24", "10.0.0.1")};
    const auto started = impossible.start(nat.log);
    REQUIRE(!started);
    CHECK(started.error().text.find("use 192.168.105.1") != std::string::npos);
    CHECK(impossible.fd() == -1);
  }

  TEST_CASE(
      "starting without free descriptors fails with a reason, leaks none, and may be retried") {
    frame_log log;
    user_host host{host_config{}};
    const auto reason = std::system_category().message(EMFILE);
    const auto before = open_descriptors();
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit none = limit;
    none.rlim_cur = 3;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto started = host.start(log);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(!started);
    CHECK(started.error().code == EMFILE);
    CHECK(started.error().text.find(reason) != std::string::npos);
    CHECK(open_descriptors() == before);
    CHECK(host.start(log));
  }

  TEST_CASE("the mode decides about the backend") {
    host_config config;
    CHECK(make_host_interface(config)->describe() ==
          "user-mode NAT, 192.168.105.0/24, gateway 192.168.105.1, IPv6 fd00::/64");
    config.dns_domain.clear(); // then libslirp's forwarder is the network's name server
    CHECK(make_host_interface(config)->describe() ==
          "user-mode NAT, 192.168.105.0/24, gateway 192.168.105.1, name server 192.168.105.3, "
          "IPv6 fd00::/64");
    config.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
    CHECK(make_host_interface(config)->describe().ends_with(", IPv6 fd12:3456:789a:1::/64"));
    config.mode = host_mode::isolated;
    CHECK(make_host_interface(config)->describe() == "isolated, no host");
  }
}

TEST_SUITE("isolated host") {
  TEST_CASE("starts, is never ready, and takes frames without an answer or a complaint") {
    host_config config;
    config.mode = host_mode::isolated;
    const auto host = make_host_interface(config);
    frame_log log;
    REQUIRE(host->start(log));
    CHECK(host->fd() == -1);
    nat_guest guest{*host, log};
    CHECK(guest.send(arp_request(guest.mac, ip("192.168.105.9"), ip("192.168.105.1"))) == 0);
    CHECK(!host->process().value());
    CHECK(log.frames.empty());
    host->stop();
  }
}
