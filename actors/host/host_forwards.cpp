#include "actors/host/host_forwards.hpp"

#include <cerrno>
#include <utility>

#include "vmnet/dhcp/dhcp_server.hpp"

namespace vmswitch {

namespace {

void answer(const caf::actor& to, std::uint64_t tag, const result<void>& outcome) {
  if (to)
    tell(to, outcome ? forward_answer{tag, {}, 0}
                     : forward_answer{tag, outcome.error().text, outcome.error().code});
}

} // namespace

host_forwards::host_forwards(forward_setup setup, host_interface& backend,
                             const caf::actor& supervisor)
    : backend_{backend}, setup_{std::move(setup)}, supervisor_{supervisor} {
  auto* carrier = setup_.relay ? setup_.relay.get() : backend.forwards();
  if (carrier == nullptr)
    return;
  table_ = std::make_unique<forward_table>(
      *carrier, vm_lookup{setup_.dhcp.reservations, backend.leases()},
      [supervisor](const service_note& note) { tell(supervisor, note); });
  backend_.on_leases([this](const dhcp_event* what) { table_->follow(what); });
}

host_forwards::~host_forwards() {
  backend_.on_leases([](const dhcp_event*) {});
}

result<void> host_forwards::open() {
  for (const auto& rule : setup_.rules)
    if (auto opened = add(rule); !opened)
      return opened;
  return {};
}

void host_forwards::change(const dhcp_config& dhcp) {
  setup_.dhcp = dhcp;
  if (table_)
    table_->look_up_with(vm_lookup{setup_.dhcp.reservations, backend_.leases()});
}

forward_setup host_forwards::remake() const {
  auto setup = setup_;
  setup.rules.clear();
  for (const auto& each : list())
    if (each.by.empty())
      setup.rules.push_back(each.rule);
    else
      setup.more.push_back({each.rule, each.by});
  if (setup.make_relay != nullptr)
    setup.relay = setup.make_relay();
  return setup;
}

result<void> host_forwards::add(const forward_rule& rule, const std::string& by) {
  if (auto right = check_forward(rule, setup_.host, serves_dhcp(setup_.host, setup_.dhcp)); !right)
    return fail(std::move(right.error().text), EINVAL);
  if (!table_)
    return fail("the host's side of this network carries no forwards");
  return table_->add(rule, by);
}

void host_forwards::add(const forward_add& message) {
  const auto added = add(message.rule, message.by);
  if (added)
    tell_of(message.rule, "added", message.by);
  answer(message.to, message.tag, added);
}

void host_forwards::remove(const forward_remove& message) {
  const auto there = table_ ? table_->find(message.listen) : std::nullopt;
  if (message.by.empty() && (!there || !there->by.empty()))
    return answer(message.to, message.tag, {});
  if (!there)
    return answer(message.to, message.tag,
                  fail("there is no forward " + to_string(message.listen), ENOENT));
  tell_of(there->rule, "removed", message.by);
  const auto removed =
      table_->remove(message.listen, [to = message.to, tag = message.tag] { answer(to, tag, {}); });
  if (!removed)
    answer(message.to, message.tag, removed);
}

void host_forwards::list(const forward_list& message) const {
  tell(message.to, forward_listing{message.tag, list()});
}

std::vector<forward_status> host_forwards::list() const {
  return table_ ? table_->list() : std::vector<forward_status>{};
}

void host_forwards::tell_of(const forward_rule& rule, const char* what,
                            const std::string& by) const {
  tell(supervisor_, service_note{service_note::level::info, "forward",
                                 "forward " + to_string(rule) + " " + what + " by " +
                                     (by.empty() ? "the configuration" : by)});
}

} // namespace vmswitch
