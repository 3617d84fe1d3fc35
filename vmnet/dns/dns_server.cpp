#include "vmnet/dns/dns_server.hpp"

#include <algorithm>
#include <utility>

namespace vmswitch {

dns_server::dns_server(const dns_settings& settings, reply answer)
    : answer_{std::move(answer)}, has_upstream_{!settings.upstream || !settings.upstream->empty()},
      zone_{settings}, cache_{settings.cache_size} {}

bool dns_server::receive(const dns_peer& peer, std::span<const std::byte> message,
                         const lease_table* leases, time_point now) {
  ++counters_.queries;
  auto got = parse_dns_query(message);
  if (!got.query) {
    ++counters_.ignored;
    if (got.refusal)
      answer_(peer, std::move(*got.refusal));
    return got.refusal.has_value();
  }
  auto& query = *got.query;
  if (auto local = zone_.answer(query, leases, now)) {
    ++counters_.local;
    tell(peer, query, std::move(*local));
    return true;
  }
  if (!has_upstream_) {
    tell(peer, query, dns_error(query, dns_rcode::refused));
    return true;
  }
  auto key = dns_key(query);
  if (const auto hit = cache_.find(key, now)) {
    ++counters_.cached;
    tell(peer, query, adapt(*hit->answer, query, hit->age));
    return true;
  }
  return ask(peer, std::move(query), std::move(key), now);
}

bool dns_server::ask(const dns_peer& peer, dns_query query, std::string key, time_point now) {
  if (askers_ >= most_all_askers) {
    ++counters_.over_limit;
    return false;
  }
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    auto& askers = questions_.at(known->second).askers;
    const auto is_repeated = [&](const asker& one) {
      return one.peer == peer && one.query.id == query.id;
    };
    if (std::ranges::any_of(askers, is_repeated))
      return false; // one answer is enough
    if (askers.size() >= most_askers) {
      ++counters_.over_limit;
      return false;
    }
    askers.push_back({peer, std::move(query)});
    ++askers_;
    return true;
  }
  do
    ++last_number_;
  while (questions_.contains(last_number_));
  if (!queue_.add(peer.path.peer_mac, last_number_)) {
    ++counters_.over_limit;
    return false;
  }
  by_key_.emplace(key, last_number_);
  auto& made = questions_[last_number_];
  made.key = std::move(key);
  made.first = peer.path.peer_mac;
  made.since = now;
  made.askers.push_back({peer, std::move(query)});
  ++askers_;
  return true;
}

std::optional<dns_server::question> dns_server::next_question(time_point now) {
  while (const auto number = queue_.next()) {
    const auto& one = questions_.at(*number);
    if (now - one.since <= longest_wait) {
      ++counters_.asked;
      return question{*number, make_dns_question(one.askers.front().query)};
    }
    on_answer(*number, {}, now);
  }
  return std::nullopt;
}

void dns_server::on_answer(std::uint32_t number, std::optional<std::span<const std::byte>> message,
                           time_point now) {
  const auto found = questions_.find(number);
  if (found == questions_.end())
    return;
  const auto asked = std::move(found->second);
  questions_.erase(found);
  by_key_.erase(asked.key);
  queue_.finished(asked.first);
  askers_ -= asked.askers.size();

  std::shared_ptr<const dns_answer> answer;
  if (message)
    if (auto parsed = parse_dns_answer(*message, asked.askers.front().query))
      answer = std::make_shared<const dns_answer>(std::move(*parsed));
  if (answer)
    cache_.store(asked.key, answer, now);
  else
    ++counters_.failed;
  for (const auto& [peer, query] : asked.askers)
    tell(peer, query,
         answer ? adapt(*answer, query, std::chrono::seconds{0})
                : dns_error(query, dns_rcode::server_failure));
}

void dns_server::tell(const dns_peer& peer, const dns_query& query, dns_bytes message) {
  auto limit = peer.limit;
  if (!peer.connection)
    limit = std::min<std::size_t>(limit, query.edns ? query.edns->udp_size : plain_udp_size);
  counters_.truncated += message.size() > limit ? 1 : 0;
  answer_(peer, cut_to(std::move(message), query, limit));
}

} // namespace vmswitch
