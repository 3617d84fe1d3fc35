#include "vmnet/dns/dns_queue.hpp"

namespace vmswitch {

bool dns_queue::add(mac_address who, std::uint32_t question) {
  if (waiting_ >= most_waiting)
    return false;
  auto& one = clients_[who.integer()];
  if (one.waiting.size() >= most_waiting_of_one)
    return false;
  if (one.waiting.empty())
    turns_.push_back(who.integer());
  one.waiting.push_back(question);
  ++waiting_;
  return true;
}

std::optional<std::uint32_t> dns_queue::next() {
  if (active_ >= most_active)
    return std::nullopt;
  for (auto tries = turns_.size(); tries > 0; --tries) {
    const auto who = turns_.front();
    turns_.pop_front();
    auto& one = clients_.at(who);
    if (one.active >= most_active_of_one) {
      turns_.push_back(who);
      continue;
    }
    const auto question = one.waiting.front();
    one.waiting.pop_front();
    if (!one.waiting.empty())
      turns_.push_back(who);
    --waiting_;
    ++one.active;
    ++active_;
    return question;
  }
  return std::nullopt;
}

void dns_queue::finished(mac_address who) {
  const auto found = clients_.find(who.integer());
  --active_;
  if (--found->second.active == 0 && found->second.waiting.empty())
    clients_.erase(found);
}

} // namespace vmswitch
