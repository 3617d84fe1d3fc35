#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "vmnet/dns/dns_answer.hpp"

namespace vmswitch {

/// Answers of other servers, for as long as their TTL allows; the least recently used go first.
class dns_cache {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Longer answers are not kept, so that memory is bounded by `most` of these.
  static constexpr std::size_t largest_kept = 8192;

  /// `most` answers; 0: none.
  explicit dns_cache(std::size_t most) : most_{most} {}

  struct hit {
    std::shared_ptr<const dns_answer> answer;
    std::chrono::seconds age;
  };
  std::optional<hit> find(const std::string& key, time_point now);
  void store(const std::string& key, std::shared_ptr<const dns_answer> answer, time_point now);
  void clear();
  std::size_t size() const noexcept { return entries_.size(); }

private:
  struct entry {
    std::string key;
    std::shared_ptr<const dns_answer> answer;
    time_point stored;
  };
  using entries = std::list<entry>; // most recently used first

  void erase(entries::iterator which);

  std::size_t most_;
  entries entries_;
  std::unordered_map<std::string, entries::iterator> found_;
};

/// Questions that have one answer: name, type, and what its sender wants of DNSSEC.
std::string dns_key(const dns_query& query);

} // namespace vmswitch
