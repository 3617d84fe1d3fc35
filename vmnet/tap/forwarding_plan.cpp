#include "vmnet/tap/forwarding_plan.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

class planner {
public:
  explicit planner(const forwarding_state& state) : state_{state} {}

  forwarding_plan make() {
    switch_on("ipv4", state_.device, "forwarding");
    for (const auto& uplink : state_.uplinks4)
      if (switch_on("ipv4", uplink, "forwarding"))
        plan_.closed4.push_back(uplink);
    if (state_.ipv6)
      plan_ipv6();
    return std::move(plan_);
  }

private:
  void plan_ipv6() {
    if (!is("ipv6", "all", "forwarding", "1") || recorded("ipv6", "all", "forwarding")) {
      const bool by_device = !state_.read("ipv6", "all", "force_forwarding").empty();
      if (by_device && !is("ipv6", "all", "forwarding", "1"))
        plan_ipv6_by_device();
      else
        plan_ipv6_for_all();
    }
    switch_on("ipv6", state_.device, "forwarding"); // acts as a router towards VMs
  }

  void plan_ipv6_by_device() {
    switch_on("ipv6", state_.device, "force_forwarding");
    for (const auto& uplink : state_.uplinks6)
      if (switch_on("ipv6", uplink, "force_forwarding"))
        plan_.closed6.push_back(uplink);
  }

  void plan_ipv6_for_all() {
    const bool was_on = is("ipv6", "all", "forwarding", "1"); // by another network of ours
    plan_.closed6 = state_.devices;
    for (const auto& device : state_.devices) {
      // Taking "all" back takes it from a device that forwards by itself, which gets it again.
      const setting_change kept{"ipv6", device, "forwarding", "1", "1"};
      const bool is_router = was_on ? std::ranges::find(state_.others, kept) != state_.others.end()
                                    : is("ipv6", device, "forwarding", "1");
      if (is_router) {
        plan_.changes.push_back(kept);
        std::erase(plan_.closed6, device);
      } else if (is("ipv6", device, "accept_ra", "1") || recorded("ipv6", device, "accept_ra")) {
        change("ipv6", device, "accept_ra", "1", "2");
      }
    }
    change("ipv6", "all", "forwarding", "0", "1");
  }

  bool is(std::string_view family, std::string_view device, std::string_view key,
          std::string_view value) const {
    return state_.read(family, device, key) == value;
  }

  bool recorded(std::string_view family, std::string_view device, std::string_view key) const {
    return std::ranges::any_of(state_.others, [&](const setting_change& other) {
      return other.family == family && other.device == device && other.key == key &&
             other.from != other.to;
    });
  }

  // True if it was off, but for us.
  bool switch_on(std::string_view family, const std::string& device, std::string_view key) {
    const auto value = state_.read(family, device, key);
    if (value.empty() || (value == "1" && !recorded(family, device, key)))
      return false;
    change(family, device, key, "0", "1");
    return true;
  }

  void change(std::string_view family, const std::string& device, std::string_view key,
              std::string_view from, std::string_view to) {
    plan_.changes.push_back(
        {std::string{family}, device, std::string{key}, std::string{from}, std::string{to}});
  }

  const forwarding_state& state_;
  forwarding_plan plan_;
};

} // namespace

forwarding_plan plan_forwarding(const forwarding_state& state) {
  return planner{state}.make();
}

} // namespace vmswitch
