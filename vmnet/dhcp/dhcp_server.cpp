#include "vmnet/dhcp/dhcp_server.hpp"

#include <algorithm>

#include "transport/frame/ethernet.hpp"

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;
using what = dhcp_event::what;

constexpr std::uint16_t server_port = 67;
constexpr std::uint8_t subnet_mask = 1, router = 3, name_server = 6, host_name = 12,
                       domain_name = 15, interface_mtu = 26, broadcast_address = 28,
                       lease_time = 51, renewal_time = 58, rebinding_time = 59, search_list = 119;

std::uint16_t u16(bytes from, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(from[at]) << 8 |
                                    std::to_integer<unsigned>(from[at + 1]));
}
std::uint32_t u32(bytes from, std::size_t at) {
  return std::uint32_t{u16(from, at)} << 16 | u16(from, at + 2);
}

std::size_t ip_header_size(bytes frame) {
  return (std::to_integer<std::size_t>(frame[14]) & 15) * 4;
}

/// The DHCP message in a frame that is for the server; empty if the lengths contradict each other.
/// Checksums are not looked at: behind offloads they may not have been computed yet.
bytes message_in(bytes frame) {
  const auto packet = frame.subspan(ethernet_header_size);
  const std::size_t length = u16(packet, 2), header = ip_header_size(frame);
  if (length > packet.size() || length < header + 8)
    return {};
  const auto datagram = packet.subspan(header, length - header);
  const std::size_t size = u16(datagram, 4);
  if (size < 8 || size > datagram.size())
    return {};
  return datagram.subspan(8, size - 8);
}

std::string seconds(std::chrono::seconds time) {
  return octets_of(static_cast<std::uint32_t>(time.count()));
}

} // namespace

std::string to_string(const dhcp_event& event) {
  const auto who = to_string(event.client);
  const auto address = to_string(event.address);
  const auto name = event.name.empty() ? std::string{} : " (name " + event.name + ")";
  switch (event.kind) {
  case what::leased:
    return who + " has " + address + name;
  case what::renewed:
    return who + " keeps " + address + name;
  case what::released:
    return who + " has given back " + address + name;
  case what::refused:
    return who + " asked for " + address + ", which it cannot have" + name;
  case what::declined:
    return who + " declined " + address + ": another VM uses it" + name;
  case what::exhausted:
    return who + " gets no address: all are lent, and their holders are asked whether they are " +
           "there" + name;
  case what::in_use:
    return who + " uses " + address + " without a lease: nobody else gets it";
  }
  return {};
}

dhcp_server::dhcp_server(dhcp_settings settings)
    : settings_{std::move(settings)}, leases_{settings_} {
  read_names();
}

void dhcp_server::change(dhcp_settings settings, time_point now) {
  lease_table leases{settings};
  leases.inherit(leases_, now);
  settings_ = std::move(settings);
  leases_ = std::move(leases);
  read_names();
}

void dhcp_server::read_names() {
  names_.clear();
  for (const auto& one : settings_.reservations)
    if (!one.name.empty())
      names_.emplace(one.mac.integer(), one.name);
}

bool dhcp_server::is_dhcp(bytes frame) const noexcept {
  const auto header = ip_header_size(frame);
  constexpr std::uint16_t fragment_bits = 0x3fff;
  if ((std::to_integer<unsigned>(frame[14]) >> 4) != 4 || header < 20 ||
      frame.size() < ethernet_header_size + header + 8 ||
      u16(frame, ethernet_header_size + header + 2) != server_port ||
      (u16(frame, 20) & fragment_bits) != 0)
    return false;
  const auto to = mac_address::read(frame.data());
  const ipv4_address destination{u32(frame, 30)};
  return (to.is_broadcast() || to == mac_) &&
         (destination.value == 0xffff'ffff || destination == settings_.gateway ||
          destination == settings_.subnet.broadcast());
}

bool dhcp_server::budget::take(time_point now) {
  if (refilled_ != time_point::min())
    tokens_ = std::min<double>(
        burst_limit, tokens_ + std::chrono::duration<double>(now - refilled_).count() * rate_limit);
  refilled_ = now;
  if (tokens_ < 1)
    return false;
  tokens_ -= 1;
  return true;
}

dhcp_server::outcome dhcp_server::receive(bytes frame, time_point now) {
  if (!messages_.take(now)) {
    ++over_limit_;
    return {};
  }
  const auto request = parse_dhcp_request(message_in(frame));
  if (!request || request->client != mac_address::read(frame.data() + 6)) {
    ++ignored_;
    return {};
  }
  const auto client = request->client;
  switch (request->kind) {
  case dhcp_kind::discover:
    return on_discover(*request, now);
  case dhcp_kind::request:
    return on_request(*request, now);
  case dhcp_kind::inform:
    return on_inform(*request, now);
  case dhcp_kind::decline:
    if (request->server == settings_.gateway && request->requested &&
        leases_.decline(client, *request->requested, now))
      return {{}, dhcp_event{what::declined, client, *request->requested, name_of(*request)}};
    break;
  case dhcp_kind::release:
    if (request->server.value_or(settings_.gateway) == settings_.gateway) {
      const auto* lease = leases_.find(client);
      const auto name = lease != nullptr ? lease->name : std::string{};
      if (leases_.release(client, request->client_address, now))
        return {{}, dhcp_event{what::released, client, request->client_address, name}};
    }
    break;
  default:
    break;
  }
  ++ignored_;
  return {};
}

dhcp_server::outcome dhcp_server::on_discover(const dhcp_request& request, time_point now) {
  const auto address = leases_.offer(request.client, request.requested, now);
  if (address)
    return {{reply(request, dhcp_kind::offer, *address, true)}, {}};
  outcome none;
  for (const auto asked : leases_.to_probe(now))
    none.frames.push_back(make_arp_request(self(), asked));
  none.event = dhcp_event{what::exhausted, request.client, {}, name_of(request)};
  return none;
}

// RFC 2131, 4.3.2. Which state a client is in shows in what it fills in.
dhcp_server::outcome dhcp_server::on_request(const dhcp_request& request, time_point now) {
  if (request.server && *request.server != settings_.gateway) {
    leases_.forget_offer(request.client); // it has chosen somebody else
    return {};
  }
  const auto address = request.requested.value_or(request.client_address);
  if (address == ipv4_address{}) {
    ++ignored_;
    return {};
  }
  const auto name = name_of(request);
  switch (leases_.bind(request.client, address, name, now)) {
  case lease_table::grant::leased:
    return {{reply(request, dhcp_kind::ack, address, true)},
            dhcp_event{what::leased, request.client, address, name}};
  case lease_table::grant::extended:
    return {{reply(request, dhcp_kind::ack, address, true)},
            dhcp_event{what::renewed, request.client, address, name}};
  case lease_table::grant::refused:
    break;
  }
  return {{reply(request, dhcp_kind::nak, {}, false)},
          dhcp_event{what::refused, request.client, address, name}};
}

dhcp_server::outcome dhcp_server::on_inform(const dhcp_request& request, time_point now) {
  const auto address = request.client_address;
  if (!settings_.subnet.is_host(address)) {
    ++ignored_;
    return {};
  }
  outcome told{{reply(request, dhcp_kind::ack, {}, false)}, {}};
  if (leases_.saw(address, request.client, now))
    told.event = dhcp_event{what::in_use, request.client, address, name_of(request)};
  return told;
}

std::optional<dhcp_event> dhcp_server::observe_arp(bytes frame, time_point now) {
  constexpr std::uint64_t ipv4_over_ethernet = 0x0001'0800'0604; // RFC 826
  if (frame.size() < ethernet_header_size + 28 ||
      (std::uint64_t{u32(frame, 14)} << 16 | u16(frame, 18)) != ipv4_over_ethernet)
    return std::nullopt;
  const auto sender = mac_address::read(frame.data() + 22);
  const ipv4_address address{u32(frame, 28)}; // 0.0.0.0 only asks (RFC 5227, 2.1.1)
  if (sender.is_group() || sender == mac_ || sender != mac_address::read(frame.data() + 6) ||
      !leases_.saw(address, sender, now) || !sightings_.take(now)) // two that quarrel fill no log
    return std::nullopt;
  return dhcp_event{what::in_use, sender, address, {}};
}

std::vector<std::byte> dhcp_server::reply(const dhcp_request& request, dhcp_kind kind,
                                          ipv4_address given, bool with_lease) const {
  return make_dhcp_reply(self(), request, kind, given,
                         kind == dhcp_kind::nak ? std::vector<dhcp_option>{}
                                                : options_for(request, with_lease),
                         settings_.mtu);
}

// First what every client needs, then what this one asks for in its order, then the rest.
std::vector<dhcp_option> dhcp_server::options_for(const dhcp_request& request,
                                                  bool with_lease) const {
  std::vector<dhcp_option> options;
  if (with_lease) {
    const auto time = settings_.lease_time;
    options = {{lease_time, seconds(time)},
               {renewal_time, seconds(time / 2)},
               {rebinding_time, seconds(time * 7 / 8)}};
  }
  options.push_back({subnet_mask, octets_of(settings_.subnet.mask())});
  const auto needed = static_cast<std::ptrdiff_t>(options.size());
  const auto is_set = [&](std::uint8_t code) {
    return std::ranges::find(settings_.options, code, &dhcp_option::code) !=
           settings_.options.end();
  };
  if (!is_set(router))
    options.push_back({router, octets_of(settings_.gateway)});
  if (!settings_.dns.empty())
    options.push_back({name_server, octets_of(settings_.dns)});
  options.push_back({broadcast_address, octets_of(settings_.subnet.broadcast())});
  options.push_back({interface_mtu, octets_of(settings_.mtu).substr(2)});
  if (const auto named = names_.find(request.client.integer()); named != names_.end())
    options.push_back({host_name, named->second});
  if (!settings_.domain.empty())
    options.push_back({domain_name, settings_.domain});
  options.insert(options.end(), settings_.options.begin(), settings_.options.end());
  std::stable_sort(options.begin() + needed, options.end(),
                   [&](const dhcp_option& a, const dhcp_option& b) {
                     return std::ranges::find(request.wanted, a.code) <
                            std::ranges::find(request.wanted, b.code);
                   });
  if (!settings_.search.empty()) {
    // Last, since it can be cut to what is left.
    std::size_t used = 3 + 6 + (request.client_id.empty() ? 0 : 2 + request.client_id.size());
    for (const auto& option : options)
      used += 2 + option.value.size();
    const auto space = dhcp_option_space(request, settings_.mtu);
    auto list = encode_search_list(settings_.search, space - std::min(space, used));
    if (!list.empty())
      options.push_back({search_list, std::move(list)});
  }
  return options;
}

std::string dhcp_server::name_of(const dhcp_request& request) const {
  const auto reserved = names_.find(request.client.integer());
  return reserved != names_.end() ? reserved->second : request.host_name;
}

} // namespace vmswitch
