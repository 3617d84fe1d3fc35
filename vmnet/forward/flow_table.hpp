#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace vmswitch {

/// Things that are kept for as long as they are used, by key. Pure; `now` only ever grows.
template <class Key, class Flow>
class flow_table {
public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit flow_table(std::chrono::steady_clock::duration keep) : keep_{keep} {}

  std::size_t size() const noexcept { return flows_.size(); }

  /// The flow, which is used now; null if there is none.
  Flow* use(const Key& key, time_point now) {
    const auto found = flows_.find(key);
    if (found == flows_.end())
      return nullptr;
    found->second->used = now;
    order_.splice(order_.end(), order_, found->second);
    return &found->second->flow;
  }
  /// @pre there is none with this key
  Flow& add(const Key& key, Flow flow, time_point now) {
    const auto made = order_.insert(order_.end(), {key, std::move(flow), now});
    flows_.emplace(key, made);
    return made->flow;
  }
  /// Takes out the one that has been silent for longest, if that is `at_least`.
  std::optional<Flow> take_silent(std::chrono::steady_clock::duration at_least, time_point now) {
    if (order_.empty() || now - order_.front().used < at_least)
      return std::nullopt;
    std::optional<Flow> taken{std::move(order_.front().flow)};
    flows_.erase(order_.front().key);
    order_.pop_front();
    return taken;
  }
  /// Takes out one whose time is over.
  std::optional<Flow> take_ended(time_point now) { return take_silent(keep_, now); }
  /// When the next one's time will be over, if it is not used until then.
  std::optional<time_point> next_end() const {
    if (order_.empty())
      return std::nullopt;
    return order_.front().used + keep_;
  }

private:
  struct entry {
    Key key;
    Flow flow;
    time_point used;
  };
  const std::chrono::steady_clock::duration keep_;
  std::list<entry> order_; // the one that has been silent for longest first
  std::map<Key, typename std::list<entry>::iterator> flows_;
};

} // namespace vmswitch
