#include "vmnet/dns/dns_cache.hpp"

#include <utility>

namespace vmswitch {

std::optional<dns_cache::hit> dns_cache::find(const std::string& key, time_point now) {
  const auto found = found_.find(key);
  if (found == found_.end())
    return std::nullopt;
  const auto which = found->second;
  const auto age = std::chrono::floor<std::chrono::seconds>(now - which->stored);
  if (age >= which->answer->keep) {
    erase(which);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, which);
  return hit{which->answer, age};
}

void dns_cache::store(const std::string& key, std::shared_ptr<const dns_answer> answer,
                      time_point now) {
  if (most_ == 0 || answer->keep <= std::chrono::seconds{0} ||
      answer->message.size() > largest_kept)
    return;
  if (const auto found = found_.find(key); found != found_.end())
    erase(found->second);
  if (entries_.size() >= most_)
    erase(std::prev(entries_.end()));
  entries_.push_front({key, std::move(answer), now});
  found_.emplace(key, entries_.begin());
}

void dns_cache::clear() {
  found_.clear();
  entries_.clear();
}

void dns_cache::erase(entries::iterator which) {
  found_.erase(which->key);
  entries_.erase(which);
}

std::string dns_key(const dns_query& query) {
  auto key = query.name.wire();
  const auto type = static_cast<unsigned>(query.type);
  key += static_cast<char>(type >> 8);
  key += static_cast<char>(type & 0xff);
  // RD is part of it: without it a server says only what it has.
  key += static_cast<char>((query.dnssec_ok() ? 1 : 0) | (query.checking_disabled ? 2 : 0) |
                           (query.recursion_desired ? 4 : 0) | (query.authentic_data ? 8 : 0));
  return key;
}

} // namespace vmswitch
