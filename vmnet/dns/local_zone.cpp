#include "vmnet/dns/local_zone.hpp"

#include <algorithm>
#include <utility>

#include "vmnet/dhcp/dhcp_reply.hpp"

namespace vmswitch {

namespace {

constexpr int longest_chain = 8; // of CNAMEs
constexpr std::string_view gateway_label = "gateway";

bool is_address_type(dns_type type) {
  return type == dns_type::a || type == dns_type::aaaa || type == dns_type::any;
}

dns_name reverse_prefix(const ipv6_address& address) {
  auto name = dns_name::reverse(address);
  for (int i = 0; i < 16; ++i) // the 64 bits behind it
    name = name.parent();
  return name;
}

} // namespace

local_zone::local_zone(const dns_settings& settings)
    : settings_{settings}, names_{[this](const std::string& name, mac_address client) {
        const auto whole = settings_.domain.with_label(name);
        const auto reserved = reserved_.find(name);
        return whole && !has_fixed_address(*whole) &&
               (reserved == reserved_.end() || reserved->second == client);
      }} {
  const auto gateway = settings_.domain.with_label(gateway_label).value_or(settings_.domain);
  add(gateway, address_resource(settings_.gateway), "gateway");
  add(dns_name::reverse(settings_.gateway), pointer_resource(gateway), "gateway");
  if (settings_.gateway6) {
    reverse6_ = reverse_prefix(*settings_.gateway6);
    add(gateway, address_resource(*settings_.gateway6), "gateway");
    add(dns_name::reverse(*settings_.gateway6), pointer_resource(gateway), "gateway");
  }
  for (const auto& one : settings_.records)
    add(one.name, one.resource, "configuration");
  for (const auto& one : settings_.reservations) {
    const auto label = lower_case(one.name);
    const auto name = settings_.domain.with_label(label);
    if (!name || has_fixed_address(*name))
      continue;
    reserved_.emplace(label, one.mac);
    if (one.address)
      add(*name, address_resource(*one.address), "reservation");
  }
  add_backward("reservation");
  add_backward("configuration");
}

void local_zone::add(const dns_name& name, dns_resource resource, const char* origin) {
  auto& all = fixed_[name];
  if (std::ranges::find(all, resource, &fixed::resource) == all.end())
    all.push_back({std::move(resource), origin});
  for (auto above = name.parent(); !above.is_root(); above = above.parent())
    if (!parents_.insert(above).second)
      break;
}

// The way from an address back to its name, where nothing else was said of the address.
void local_zone::add_backward(std::string_view origin) {
  std::vector<std::pair<dns_name, dns_name>> backward;
  for (const auto& [name, all] : fixed_)
    for (const auto& one : all)
      if (one.origin == origin && one.resource.type == dns_type::a)
        if (const auto address = ipv4_address::parse(one.resource.text);
            address && settings_.subnet.is_host(*address))
          backward.emplace_back(dns_name::reverse(*address), name);
  std::ranges::sort(backward);
  for (const auto& [reverse, name] : backward)
    if (!fixed_.contains(reverse))
      add(reverse, pointer_resource(name), origin.data());
}

bool local_zone::has_fixed_address(const dns_name& name) const {
  const auto known = fixed_.find(name);
  return known != fixed_.end() && std::ranges::any_of(known->second, [](const fixed& one) {
           return one.resource.type == dns_type::a || one.resource.type == dns_type::cname;
         });
}

// The name that has the SOA record over `name`; nothing if `name` is none of ours.
std::optional<dns_name> local_zone::zone_of(const dns_name& name) const {
  if (name.is_within(settings_.domain))
    return settings_.domain;
  if (!reverse6_.is_root() && name.is_within(reverse6_))
    return reverse6_;
  const auto whole_octets = static_cast<std::uint8_t>((settings_.subnet.prefix_length + 7) / 8);
  const auto block = reverse_block_of(name);
  if (block && block->octets >= whole_octets &&
      (block->first.value & settings_.subnet.mask().value) == settings_.subnet.network.value) {
    auto zone = name;
    for (auto labels = name.labels() - 2; labels > std::min<std::size_t>(whole_octets, 3); --labels)
      zone = zone.parent();
    return zone;
  }
  if (fixed_.contains(name))
    return name;
  return std::nullopt;
}

local_zone::found local_zone::find(const dns_name& name, const lease_table* leases,
                                   time_point now) {
  found result;
  result.has_children = parents_.contains(name) || name == settings_.domain;
  if (const auto all = fixed_.find(name); all != fixed_.end())
    for (const auto& one : all->second)
      result.resources.push_back(one.resource);
  if (leases != nullptr && !has_fixed_address(name))
    find_lease(name, *leases, now, result);
  return result;
}

void local_zone::find_lease(const dns_name& name, const lease_table& leases, time_point now,
                            found& into) {
  if (name.labels() == settings_.domain.labels() + 1 && name.is_within(settings_.domain)) {
    if (const auto* lease = names_.find(std::string{name.first_label()}, leases, now)) {
      into.resources.push_back(address_resource(lease->address));
      into.ttl = lease_ttl;
    }
    return;
  }
  const auto block = reverse_block_of(name);
  if (!block || block->octets != 4 || block->is_below || !into.resources.empty())
    return;
  if (const auto label = names_.name_of(block->first, leases, now))
    if (const auto whole = settings_.domain.with_label(*label)) {
      into.resources.push_back(pointer_resource(*whole));
      into.ttl = lease_ttl;
    }
}

std::string local_zone::soa() const {
  const auto label = [&](std::string_view first) {
    return settings_.domain.with_label(first).value_or(settings_.domain).wire();
  };
  constexpr std::uint32_t serial = 1, refresh = 3600, retry = 600, expire = 86400;
  std::string data = label(gateway_label) + label("hostmaster");
  for (const auto number : {serial, refresh, retry, expire, negative_ttl})
    data += octets_of(number);
  return data;
}

std::optional<dns_bytes> local_zone::answer(const dns_query& query, const lease_table* leases,
                                            time_point now) {
  auto name = query.name;
  auto zone = zone_of(name);
  if (!zone && name.labels() == 1 && is_address_type(query.type)) {
    zone = dns_name{};
    if (const auto whole = settings_.domain.with_label(name.first_label()))
      name = *whole;
  }
  if (!zone)
    return std::nullopt;

  auto is = find(name, leases, now);
  if (name == settings_.domain) {
    is.resources.push_back({dns_type::soa, soa(), {}});
    is.resources.push_back({dns_type::ns, settings_.domain.with_label(gateway_label)->wire(), {}});
  } else if (name == *zone && query.name == *zone && reverse_block_of(name)) {
    is.resources.push_back({dns_type::soa, soa(), {}});
  }
  const bool exists = !is.resources.empty() || is.has_children || name == *zone;
  dns_writer out{query, exists ? dns_rcode::no_error : dns_rcode::no_such_name, true};
  bool has_answer = false;
  auto owner = query.name;
  for (int steps = 0; steps < longest_chain; ++steps) {
    const dns_resource* alias = nullptr;
    for (const auto& one : is.resources) {
      const bool is_wanted = one.type == query.type || query.type == dns_type::any;
      if (one.type == dns_type::cname && !is_wanted)
        alias = &one;
      if (is_wanted || one.type == dns_type::cname) {
        out.answer(owner, one.type, is.ttl, one.data);
        has_answer = true;
      }
    }
    const auto next = alias != nullptr ? dns_name::parse(alias->text) : std::nullopt;
    if (!next)
      break;
    owner = *next;
    is = find(owner, leases, now);
  }
  if (!has_answer)
    out.authority(*zone, dns_type::soa, negative_ttl, soa());
  return out.finish();
}

std::vector<dns_entry> local_zone::entries(const lease_table* leases, time_point now) {
  std::vector<dns_entry> all;
  for (const auto& [name, resources] : fixed_)
    for (const auto& [resource, origin] : resources)
      all.push_back({to_string(name), to_string(resource.type), resource.text, origin});
  if (leases != nullptr)
    names_.for_each(*leases, now, [&](const std::string& label, const lease_table::entry& lease) {
      if (const auto name = settings_.domain.with_label(label))
        all.push_back({to_string(*name), "A", to_string(lease.address), "lease"});
    });
  return all;
}

} // namespace vmswitch
