#include "tests/support/simulated_vm.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr auto mac_a = mac_address::from_integer(0x5254'0000'000a);
constexpr auto mac_b = mac_address::from_integer(0x5254'0000'000b);
constexpr auto server_mac = mac_address::from_integer(0x5255'0000'0001);
constexpr ipv4_address address_a{0x0a000001};
constexpr ipv4_address address_b{0x0a000002};
constexpr ipv4_address router{0x0a0000fe};
constexpr ipv4_subnet subnet{{0x0a000000}, 24};

simulated_vm vm_at(mac_address mac, ipv4_address address) {
  simulated_vm vm{mac};
  vm.use_address(address, subnet, router);
  return vm;
}

frame answer(const frame& question, dhcp_message::kind_type kind, ipv4_address offered) {
  const auto asked = parse_dhcp_request(question);
  REQUIRE(asked);
  dhcp_message message;
  message.kind = kind;
  message.transaction = asked->transaction;
  message.client = asked->client;
  message.your_address = offered;
  message.server = router;
  message.mask = subnet.mask();
  message.routers = {router};
  return dhcp_from_server(message, server_mac, router);
}

// Carries frames between two VMs until both are silent.
void carry(simulated_vm& a, simulated_vm& b, simulated_vm::frames from_a, simulated_vm::time now) {
  auto* from = &a;
  auto* to = &b;
  for (int hops = 0; !from_a.empty() && hops < 10; ++hops) {
    simulated_vm::frames answers;
    for (const auto& bare : from_a)
      for (auto& more : to->on_frame(bare, now))
        answers.push_back(std::move(more));
    from_a = std::move(answers);
    std::swap(from, to);
  }
}

} // namespace

TEST_CASE("a VM gets its address by discover, offer, request and acknowledgement") {
  simulated_vm vm{mac_a, "alpha"};
  const auto discover = vm.request_address(0ms);
  REQUIRE(discover.size() == 1);
  CHECK(parse_dhcp_request(discover[0])->kind == dhcp_message::discover);
  CHECK(parse_dhcp_request(discover[0])->host_name == "alpha");

  const auto request = vm.on_frame(answer(discover[0], dhcp_message::offer, address_a), 1ms);
  REQUIRE(request.size() == 1);
  CHECK(parse_dhcp_request(request[0])->kind == dhcp_message::request);
  CHECK(parse_dhcp_request(request[0])->requested == address_a);
  CHECK(parse_dhcp_request(request[0])->server == router);
  CHECK_FALSE(vm.address()); // an offer is no address yet

  CHECK(vm.on_frame(answer(request[0], dhcp_message::ack, address_a), 2ms).empty());
  CHECK(vm.address() == address_a);
  CHECK(vm.router() == router);
}

TEST_CASE("an acknowledgement for another VM gives no address") {
  simulated_vm vm{mac_a};
  const auto discover = vm.request_address(0ms);
  const auto request = vm.on_frame(answer(discover[0], dhcp_message::offer, address_a), 0ms);
  auto for_other = *parse_dhcp_reply(answer(request[0], dhcp_message::ack, address_a));
  for_other.client = mac_b;
  vm.on_frame(dhcp_from_server(for_other, server_mac, router), 0ms);
  CHECK_FALSE(vm.address());
  vm.on_frame(answer(request[0], dhcp_message::ack, address_a), 0ms);
  CHECK(vm.address());
}

TEST_CASE("an acknowledgement of an earlier question gives no address") {
  simulated_vm vm{mac_a};
  const auto ask = [&](simulated_vm::time now) {
    const auto discover = vm.request_address(now);
    return vm.on_frame(answer(discover[0], dhcp_message::offer, address_a), now);
  };
  const auto earlier = answer(ask(0ms)[0], dhcp_message::ack, address_a);
  const auto request = ask(1ms);
  vm.on_frame(earlier, 1ms);
  CHECK_FALSE(vm.address());
  vm.on_frame(answer(request[0], dhcp_message::ack, address_a), 1ms);
  CHECK(vm.address());
}

TEST_CASE("a refused VM asks anew") {
  simulated_vm vm{mac_a};
  const auto discover = vm.request_address(0ms);
  const auto request = vm.on_frame(answer(discover[0], dhcp_message::offer, address_a), 0ms);
  const auto again = vm.on_frame(answer(request[0], dhcp_message::nak, {}), 0ms);
  REQUIRE(again.size() == 1);
  CHECK(parse_dhcp_request(again[0])->kind == dhcp_message::discover);
}

TEST_CASE("a question without an answer is sent again, once per interval") {
  simulated_vm vm{mac_a};
  const auto first = vm.request_address(0ms);
  CHECK(vm.on_time(simulated_vm::resend_after - 1ms).empty());
  CHECK(vm.on_time(simulated_vm::resend_after) == first);
  CHECK(vm.on_time(simulated_vm::resend_after + 1ms).empty());
}

TEST_CASE("two VMs ping each other, ARP included") {
  auto a = vm_at(mac_a, address_a);
  auto b = vm_at(mac_b, address_b);
  const auto question = a.ping(address_b, 10ms);
  CHECK_FALSE(a.all_answered());
  carry(a, b, question, 13ms);
  CHECK(a.all_answered());
  CHECK(a.round_trip(address_b) == 3ms);
  CHECK(a.neighbour(address_b) == mac_b);
  CHECK(b.neighbour(address_a) == mac_a);
}

TEST_CASE("a ping is not answered by a reply that differs in a byte") {
  auto a = vm_at(mac_a, address_a);
  auto b = vm_at(mac_b, address_b);
  const auto asked = a.ping(address_b, 0ms);
  const auto told = b.on_frame(asked[0], 0ms);
  const auto question = a.on_frame(told[0], 0ms);
  REQUIRE(question.size() == 1);
  const auto packet = parse_ipv4(question[0]);
  auto wrong = *parse_icmp_echo(*packet);
  wrong.is_reply = true;
  wrong.data.back() ^= std::byte{1};
  a.on_frame(icmp_echo(packet->way.reversed(), wrong), 0ms);
  CHECK_FALSE(a.all_answered());
  a.on_frame(b.on_frame(question[0], 0ms)[0], 0ms);
  CHECK(a.all_answered());
}

TEST_CASE("an address outside the subnet is reached through the router") {
  auto a = vm_at(mac_a, address_a);
  const auto question = a.ping({0x08080808}, 0ms);
  REQUIRE(question.size() == 1);
  CHECK(parse_arp(question[0])->target == router);
  const auto sent = a.on_frame(arp_reply(server_mac, router, mac_a, address_a), 0ms);
  REQUIRE(sent.size() == 1);
  CHECK(parse_ipv4(sent[0])->way.destination_mac == server_mac);
  CHECK(parse_ipv4(sent[0])->way.destination == ipv4_address{0x08080808});
}

TEST_CASE("a VM answers ARP for its own address only") {
  auto a = vm_at(mac_a, address_a);
  CHECK(a.on_frame(arp_request(mac_b, address_b, address_a), 0ms).size() == 1);
  CHECK(a.on_frame(arp_request(mac_b, address_b, router), 0ms).empty());
}

TEST_CASE("frames for others are counted as flooded and not answered") {
  auto b = vm_at(mac_b, address_b);
  const route to_a_with_bs_address{server_mac, mac_a, router, address_b};
  CHECK(b.on_frame(icmp_echo(to_a_with_bs_address, {}), 0ms).empty());
  b.on_frame(arp_request(mac_a, address_a, address_b), 0ms);
  b.on_frame(arp_reply(mac_a, address_a, mac_b, address_b), 0ms);
  b.on_frame({}, 0ms);
  CHECK(b.received().for_others == 1);
  CHECK(b.received().group == 1);
  CHECK(b.received().for_me == 1);
  CHECK(b.received().runts == 1);
}
