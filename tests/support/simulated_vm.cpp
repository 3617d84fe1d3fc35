#include "tests/support/simulated_vm.hpp"

#include <algorithm>
#include <bit>

namespace vmswitch::test {

namespace {

constexpr std::size_t max_neighbours = 4096;

ipv4_subnet subnet_of(ipv4_address address, ipv4_address mask) {
  return {{address.value & mask.value}, static_cast<std::uint8_t>(std::popcount(mask.value))};
}

} // namespace

simulated_vm::simulated_vm(mac_address mac, std::string name)
    : mac_{mac}, name_{std::move(name)}, random_{static_cast<std::mt19937::result_type>(
                                             mac.integer())} {}

simulated_vm::frames simulated_vm::request_address(time now) {
  interface_.reset();
  lease_.reset();
  dhcp_ = dhcp_state::selecting;
  question_ = {};
  question_.kind = dhcp_message::discover;
  question_.transaction = static_cast<std::uint32_t>(random_());
  question_.client = mac_;
  question_.host_name = name_;
  return {dhcp_question(now)};
}

void simulated_vm::use_address(ipv4_address address, ipv4_subnet subnet,
                               std::optional<ipv4_address> router) {
  dhcp_ = dhcp_state::idle;
  interface_ = interface { address, subnet, router };
}

simulated_vm::frames simulated_vm::ping(ipv4_address target, time now, std::size_t size) {
  pending_ping begun;
  begun.message.identifier = static_cast<std::uint16_t>(random_());
  begun.message.sequence = 1;
  begun.message.data.resize(size);
  for (auto& octet : begun.message.data)
    octet = static_cast<std::byte>(random_());
  begun.first_sent = now;
  auto& kept = pings_.insert_or_assign(target, std::move(begun)).first->second;
  const auto question = ping_again(target, kept, now);
  return question ? frames{*question} : frames{};
}

std::optional<simulated_vm::time> simulated_vm::round_trip(ipv4_address target) const {
  const auto found = pings_.find(target);
  return found == pings_.end() ? std::nullopt : found->second.round_trip;
}

bool simulated_vm::all_answered() const {
  return std::ranges::all_of(pings_,
                             [](const auto& entry) { return entry.second.round_trip.has_value(); });
}

simulated_vm::frames simulated_vm::on_frame(std::span<const std::byte> bare, time now) {
  const auto outer = ethernet_view::parse(bare);
  if (!outer) {
    ++received_.runts;
    return {};
  }
  if (outer->destination().is_group()) {
    ++received_.group;
  } else if (outer->destination() == mac_) {
    ++received_.for_me;
  } else {
    ++received_.for_others;
    return {};
  }
  if (const auto packet = parse_arp(bare))
    return on_arp(*packet, now);
  if (const auto answer = parse_dhcp_reply(bare))
    return on_dhcp(*answer, now);
  if (const auto packet = parse_ipv4(bare))
    return on_ipv4(*packet, now);
  return {};
}

simulated_vm::frames simulated_vm::on_time(time now) {
  frames out;
  const bool asking = dhcp_ == dhcp_state::selecting || dhcp_ == dhcp_state::requesting;
  if (asking && now >= asked_at_ + resend_after)
    out.push_back(dhcp_question(now));
  for (auto& [target, ping] : pings_)
    if (!ping.round_trip && now >= ping.last_sent + resend_after)
      if (auto again = ping_again(target, ping, now))
        out.push_back(std::move(*again));
  return out;
}

std::optional<ipv4_address> simulated_vm::address() const noexcept {
  return interface_ ? std::optional{interface_->address} : std::nullopt;
}

std::optional<ipv4_address> simulated_vm::router() const noexcept {
  return interface_ ? interface_->router : std::nullopt;
}

std::optional<mac_address> simulated_vm::neighbour(ipv4_address address) const {
  const auto found = neighbours_.find(address);
  return found == neighbours_.end() ? std::nullopt : std::optional{found->second};
}

frame simulated_vm::dhcp_question(time now) {
  asked_at_ = now;
  return dhcp_from_client(question_);
}

simulated_vm::frames simulated_vm::on_dhcp(const dhcp_message& answer, time now) {
  if (answer.transaction != question_.transaction || answer.client != mac_)
    return {};
  if (dhcp_ == dhcp_state::selecting && answer.kind == dhcp_message::offer && answer.server) {
    dhcp_ = dhcp_state::requesting;
    question_.kind = dhcp_message::request;
    question_.requested = answer.your_address;
    question_.server = answer.server;
    return {dhcp_question(now)};
  }
  if (dhcp_ == dhcp_state::requesting && answer.kind == dhcp_message::nak)
    return request_address(now);
  if (dhcp_ == dhcp_state::requesting && answer.kind == dhcp_message::ack && answer.mask) {
    dhcp_ = dhcp_state::bound;
    lease_ = answer;
    interface_ = interface {
      answer.your_address, subnet_of(answer.your_address, *answer.mask),
          answer.routers.empty() ? std::nullopt : std::optional {
        answer.routers.front()
      }
    };
  }
  return {};
}

simulated_vm::frames simulated_vm::on_arp(const arp_packet& packet, time now) {
  // Only what is meant for this VM teaches it anything: a guest on a busy network does the same.
  if (!interface_ || packet.target != interface_->address || packet.sender_mac.is_group())
    return {};
  const bool is_new = !neighbour(packet.sender);
  learn(packet.sender, packet.sender_mac);
  frames out;
  if (packet.operation == arp_packet::request)
    out.push_back(arp_reply(mac_, interface_->address, packet.sender_mac, packet.sender));
  if (!is_new)
    return out;
  for (auto& [target, ping] : pings_)
    if (!ping.round_trip && next_hop(target) == packet.sender)
      if (auto question = ping_again(target, ping, now))
        out.push_back(std::move(*question));
  return out;
}

simulated_vm::frames simulated_vm::on_ipv4(const ipv4_packet& packet, time now) {
  if (!interface_ || packet.way.destination != interface_->address)
    return {};
  const auto message = parse_icmp_echo(packet);
  if (!message)
    return {};
  if (!message->is_reply) {
    auto answer = *message;
    answer.is_reply = true;
    return {icmp_echo(packet.way.reversed(), answer)};
  }
  const auto found = pings_.find(packet.way.source);
  if (found == pings_.end() || found->second.round_trip)
    return {};
  auto& [target, ping] = *found;
  if (message->identifier == ping.message.identifier && message->data == ping.message.data)
    ping.round_trip = now - ping.first_sent;
  return {};
}

// The echo itself, or the question where the next hop is.
std::optional<frame> simulated_vm::ping_again(ipv4_address target, pending_ping& ping, time now) {
  const auto hop = next_hop(target);
  if (!hop)
    return std::nullopt;
  ping.last_sent = now;
  const auto hop_mac = neighbour(*hop);
  if (!hop_mac)
    return arp_request(mac_, interface_->address, *hop);
  return icmp_echo({mac_, *hop_mac, interface_->address, target}, ping.message);
}

std::optional<ipv4_address> simulated_vm::next_hop(ipv4_address target) const {
  if (!interface_)
    return std::nullopt;
  return interface_->subnet.is_host(target) ? std::optional{target} : interface_->router;
}

void simulated_vm::learn(ipv4_address address, mac_address mac) {
  if (neighbours_.size() < max_neighbours || neighbours_.contains(address))
    neighbours_.insert_or_assign(address, mac);
}

} // namespace vmswitch::test
