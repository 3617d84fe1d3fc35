#include "vmnet/dhcp/lease_table.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

using state = lease_table::state;

// A full table is searched at most four times a second, however many ask.
constexpr std::chrono::milliseconds full_time{250};

// splitmix64's finalizer: neighbouring MAC addresses get addresses far apart.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9ULL;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11ebULL;
  return value ^ value >> 31;
}

bool is_of_client(state is) {
  return is == state::offered || is == state::bound || is == state::ended;
}

} // namespace

lease_table::lease_table(const dhcp_settings& settings)
    : subnet_{settings.subnet}, range_{settings.range}, lease_time_{settings.lease_time} {
  for (const auto address : settings.excluded)
    excluded_.insert(address.value);
  excluded_.insert(settings.subnet.network.value);
  excluded_.insert(settings.subnet.broadcast().value);
  for (const auto& one : settings.reservations)
    if (one.address && !excluded_.contains(one.address->value)) {
      reserved_for_.emplace(one.mac.integer(), one.address->value);
      reserved_by_.emplace(one.address->value, one.mac.integer());
    }
}

const lease_table::entry* lease_table::find(ipv4_address address) const {
  const auto found = entries_.find(address.value);
  return found == entries_.end() ? nullptr : &found->second;
}

const lease_table::entry* lease_table::find(mac_address client) const {
  const auto found = addresses_.find(client.integer());
  return found == addresses_.end() ? nullptr : find(ipv4_address{found->second});
}

bool lease_table::lendable(ipv4_address address) const {
  return (range_.contains(address) && !excluded_.contains(address.value)) ||
         reserved_by_.contains(address.value);
}

bool lease_table::belongs_to_other(mac_address client, ipv4_address address) const {
  const auto found = reserved_by_.find(address.value);
  return found == reserved_by_.end() ? !range_.contains(address)
                                     : found->second != client.integer();
}

std::optional<ipv4_address> lease_table::reserved(mac_address client) const {
  const auto found = reserved_for_.find(client.integer());
  if (found == reserved_for_.end())
    return std::nullopt;
  return ipv4_address{found->second};
}

// Whether the client may have it without anybody losing anything, a remembered address included.
bool lease_table::is_open_to(mac_address client, ipv4_address address, time_point now) const {
  if (!lendable(address) || belongs_to_other(client, address))
    return false;
  const auto* known = find(address);
  if (known == nullptr)
    return entries_.size() < most_entries;
  if (known->is == state::declined)
    return !known->is_live(now);
  return known->client == client || (known->is == state::in_use && !known->is_live(now)) ||
         // A reservation goes before what others remember.
         (!known->is_live(now) && reserved_by_.contains(address.value));
}

std::optional<ipv4_address> lease_table::unused(mac_address client) const {
  const auto size = range_.size();
  if (entries_.size() >= most_entries)
    return std::nullopt;
  const auto start = mixed(client.integer()) % size;
  // Beyond that many steps every address has been looked at.
  const auto most = entries_.size() + excluded_.size() + reserved_by_.size() + 1;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, most); ++i) {
    const auto number = static_cast<std::uint32_t>((start + i) % size);
    const ipv4_address address{range_.first.value + number};
    if (!excluded_.contains(address.value) && !reserved_by_.contains(address.value) &&
        !entries_.contains(address.value))
      return address;
  }
  return std::nullopt;
}

std::optional<ipv4_address> lease_table::reclaim(mac_address client, time_point now) {
  if (now < full_until_)
    return std::nullopt;
  const entry* ended = nullptr;
  const entry* silent = nullptr;
  for (const auto& [address, one] : entries_) {
    if (!range_.contains(one.address) || belongs_to_other(client, one.address))
      continue;
    if (!one.is_live(now)) {
      if (ended == nullptr || one.used < ended->used)
        ended = &one;
    } else if (one.is != state::offered && one.probed != time_point::min() &&
               now - one.probed >= probe_patience && now - one.probed <= probe_memory) {
      if (silent == nullptr || one.used < silent->used)
        silent = &one;
    }
  }
  if (ended != nullptr || silent != nullptr)
    return (ended != nullptr ? ended : silent)->address;
  full_until_ = now + full_time;
  return std::nullopt;
}

std::optional<ipv4_address>
lease_table::choose(mac_address client, std::optional<ipv4_address> wanted, time_point now) {
  if (const auto own = reserved(client); own && is_open_to(client, *own, now))
    return own;
  if (const auto* last = find(client); last != nullptr && is_open_to(client, last->address, now))
    return last->address;
  if (wanted && is_open_to(client, *wanted, now))
    return wanted;
  if (const auto free = unused(client))
    return free;
  return reclaim(client, now);
}

std::optional<ipv4_address> lease_table::offer(mac_address client,
                                               std::optional<ipv4_address> wanted, time_point now) {
  const auto address = choose(client, wanted, now);
  if (!address)
    return std::nullopt;
  entry& one = take(client, *address);
  if (one.is != state::bound || !one.is_live(now)) {
    one.is = state::offered;
    one.until = now + offer_time;
  }
  return address;
}

lease_table::grant lease_table::bind(mac_address client, ipv4_address address,
                                     const std::string& name, time_point now) {
  const auto own = reserved(client);
  if ((own && *own != address && is_open_to(client, *own, now)) ||
      !is_open_to(client, address, now))
    return grant::refused;
  entry& one = take(client, address);
  const bool had_it = one.is == state::bound && one.is_live(now);
  one.is = state::bound;
  one.until = now + lease_time_;
  one.used = now;
  one.probed = time_point::min();
  one.name = name;
  ++version_;
  return had_it ? grant::extended : grant::leased;
}

void lease_table::forget_offer(mac_address client) {
  const auto* one = find(client);
  if (one == nullptr || one->is != state::offered)
    return;
  if (one->used == time_point::min())
    erase(one->address);
  else
    entries_.at(one->address.value).is = state::ended;
  full_until_ = time_point::min();
}

bool lease_table::release(mac_address client, ipv4_address address, time_point now) {
  const auto found = entries_.find(address.value);
  if (found == entries_.end() || found->second.client != client ||
      found->second.is != state::bound || !found->second.is_live(now))
    return false;
  found->second.is = state::ended;
  found->second.until = now;
  full_until_ = time_point::min();
  ++version_;
  return true;
}

bool lease_table::decline(mac_address client, ipv4_address address, time_point now) {
  const auto found = entries_.find(address.value);
  if (found == entries_.end() || found->second.client != client ||
      (found->second.is != state::bound && found->second.is != state::offered))
    return false;
  forget_client(found->second);
  found->second.is = state::declined;
  found->second.until = now + decline_time;
  ++version_;
  return true;
}

bool lease_table::saw(ipv4_address address, mac_address who, time_point now) {
  if (!lendable(address))
    return false;
  const auto found = entries_.find(address.value);
  const bool is_known = found != entries_.end();
  if (!is_known && entries_.size() >= most_entries)
    return false;
  entry& one = is_known ? found->second : entries_[address.value];
  one.address = address;
  one.seen = now;
  one.probed = time_point::min();
  const bool is_lent = one.is == state::bound && one.is_live(now);
  const bool is_kept = one.is == state::offered && one.is_live(now) && one.client == who;
  if (is_lent || is_kept)
    return false;
  if (is_known && is_of_client(one.is) && one.client == who) {
    // Its lease has ended and it goes on: it is remembered as its own when it asks.
    one.is = state::bound;
    one.until = now + in_use_time;
    return false;
  }
  const bool is_new = one.is != state::in_use || one.client != who;
  forget_client(one);
  addresses_.try_emplace(who.integer(), address.value);
  one.client = who;
  one.is = state::in_use;
  one.until = now + in_use_time;
  one.used = time_point::min();
  one.name.clear();
  return is_new;
}

std::vector<ipv4_address> lease_table::to_probe(time_point now) {
  if (now < probed_until_)
    return {};
  probed_until_ = now + full_time;
  std::vector<entry*> candidates;
  for (auto& [address, one] : entries_)
    if (one.is_live(now) && one.is != state::offered && range_.contains(one.address) &&
        !reserved_by_.contains(one.address.value) &&
        (one.seen == time_point::min() || now - one.seen >= answer_time) &&
        (one.probed == time_point::min() || now - one.probed > probe_memory))
      candidates.push_back(&one);
  const auto count = std::min(candidates.size(), probes_at_once);
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [](const entry* one) { return std::max(one->used, one->seen); });
  candidates.resize(count);
  std::vector<ipv4_address> addresses;
  for (auto* one : candidates) {
    one->probed = now;
    addresses.push_back(one->address);
  }
  return addresses;
}

bool lease_table::restore(const entry& remembered) {
  const bool is_ours = remembered.is == state::bound || remembered.is == state::ended;
  if (!is_ours || !lendable(remembered.address) ||
      belongs_to_other(remembered.client, remembered.address) || entries_.size() >= most_entries ||
      addresses_.contains(remembered.client.integer()) ||
      !entries_.emplace(remembered.address.value, remembered).second)
    return false;
  addresses_.emplace(remembered.client.integer(), remembered.address.value);
  return true;
}

void lease_table::inherit(const lease_table& before, time_point now) {
  for (const auto& [address, one] : before.entries_) {
    const bool is_lease = is_of_client(one.is);
    const bool goes_on =
        lendable(one.address) && !(is_lease && belongs_to_other(one.client, one.address));
    const bool runs_out =
        one.is == state::bound && one.is_live(now) && subnet_.is_host(one.address);
    if (!goes_on && !runs_out)
      continue;
    entries_.emplace(address, one);
    if (const auto found = before.addresses_.find(one.client.integer());
        found != before.addresses_.end() && found->second == address)
      addresses_.insert(*found);
  }
  version_ = before.version_ + 1;
}

// The entry of `address`, made the client's; whatever it had before is given up.
lease_table::entry& lease_table::take(mac_address client, ipv4_address address) {
  if (const auto* other = find(client);
      other != nullptr && other->address != address && other->is != state::in_use)
    erase(other->address);
  auto& one = entries_[address.value];
  if (one.client != client || !is_of_client(one.is)) {
    if (one.used != time_point::min())
      ++version_;
    forget_client(one);
    one = entry{};
    one.client = client;
  }
  one.address = address;
  addresses_[client.integer()] = address.value;
  return one;
}

void lease_table::erase(ipv4_address address) {
  const auto found = entries_.find(address.value);
  forget_client(found->second);
  if (found->second.used != time_point::min())
    ++version_;
  entries_.erase(found);
}

void lease_table::forget_client(const entry& one) {
  const auto found = addresses_.find(one.client.integer());
  if (found != addresses_.end() && found->second == one.address.value)
    addresses_.erase(found);
}

} // namespace vmswitch
