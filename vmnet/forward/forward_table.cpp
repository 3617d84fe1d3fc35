#include "vmnet/forward/forward_table.hpp"

#include <cerrno>
#include <utility>

namespace vmswitch {

namespace {

using level = service_note::level;

} // namespace

result<void> forward_table::add(const forward_rule& rule, const std::string& by) {
  if (const auto same = forwards_.find(rule.listen); by.empty() && same != forwards_.end() &&
                                                     same->second.rule == rule &&
                                                     !same->second.by.empty()) {
    same->second.by.clear();
    return {};
  }
  if (forwards_.size() >= most_forwards)
    return fail("the network has " + std::to_string(most_forwards) +
                " forwards, the most that it may have: remove one before");
  for (const auto& [listen, other] : forwards_)
    if (in_conflict(listen, rule.listen))
      return fail(to_string(rule.listen) + " is taken by the forward " + to_string(other.rule) +
                      ": remove that one before, or choose another port",
                  EADDRINUSE);
  if (auto opened = carrier_.open(rule); !opened)
    return opened;
  auto& made = forwards_.emplace(rule.listen, entry{rule, by, {}}).first->second;
  aim(made);
  if (!made.vm)
    tell_({level::info, "forward", to_string(rule) + " waits for the VM to get an address"});
  return {};
}

result<void> forward_table::remove(const forward_listen& which, std::function<void()> closed) {
  if (forwards_.erase(which) == 0)
    return fail("there is no forward " + to_string(which), ENOENT);
  carrier_.close(which, std::move(closed));
  return {};
}

std::vector<forward_status> forward_table::list() const {
  std::vector<forward_status> all;
  for (const auto& [listen, one] : forwards_)
    all.push_back(status(one));
  return all;
}

std::optional<forward_status> forward_table::find(const forward_listen& which) const {
  const auto found = forwards_.find(which);
  return found == forwards_.end() ? std::nullopt : std::optional{status(found->second)};
}

forward_status forward_table::status(const entry& forward) const {
  return {forward.rule, forward.vm ? std::optional{forward.vm->address} : std::nullopt,
          carrier_.traffic(forward.rule.listen), forward.by};
}

void forward_table::look_up_with(vm_lookup lookup) {
  lookup_ = std::move(lookup);
  follow(nullptr);
}

void forward_table::follow(const dhcp_event* what) {
  for (auto& [listen, one] : forwards_)
    if (what == nullptr || lookup_.concerns(*what, one.rule.to, one.vm))
      aim(one);
}

void forward_table::aim(entry& forward) {
  auto found = lookup_.find(forward.rule.to, forward.vm);
  const auto before = std::exchange(forward.vm, found);
  if (found.has_value() == before.has_value() && (!found || found->address == before->address))
    return;
  const auto text = to_string(forward.rule);
  const auto address = found ? std::optional{found->address} : std::nullopt;
  if (const auto aimed = carrier_.aim(forward.rule.listen, address); !aimed) {
    forward.vm.reset(); // tried again when something happens to a lease of that VM
    tell_({level::warning, "forward failed", text + " leads nowhere: " + aimed.error().text});
  } else if (!address) {
    tell_({level::info, "forward", text + " leads nowhere: the VM has no address any more"});
  } else if (!std::holds_alternative<ip_address>(forward.rule.to)) {
    tell_({level::info, "forward", text + " leads to " + to_string(*address)});
  }
}

} // namespace vmswitch
