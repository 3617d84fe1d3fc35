#include "vmnet/tap/tap_host.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "transport/frame/ethernet.hpp"
#include "vmnet/tap/device_control.hpp"
#include "vmnet/tap/missing_privilege.hpp"
#include "vmnet/tap/tap_names.hpp"

namespace vmswitch {

namespace {

// Frames read in one call, and so in one message: few enough that the switch and the VM's port work
// on them while the next are read. 32 to 84 do equally well; 12 costs messages.
constexpr int frames_per_call = 32;
constexpr std::chrono::milliseconds timer_tolerance{1};

std::string commands_for(const std::string& device, const std::vector<device_step>& steps) {
  std::vector<std::string> commands;
  for (const auto& step : steps)
    if (is_required(step))
      commands.push_back(command_for(device, step));
  return fmt::format("{}", fmt::join(commands, "; "));
}

// Some settings came with later kernels; IPv6 can be switched off in several ways.
bool may_be_missing(const device_step& step, int code) {
  return step.kind == device_step::what::address6 ||
         (step.kind == device_step::what::setting && code == ENOENT);
}

bool is_privilege(int code) {
  return code == EPERM || code == EACCES;
}

} // namespace

result<void> tap_host::start(frame_sink& out) {
  if (running_)
    return fail("the TAP has been started already");
  if (auto valid = check_host_config(config_); !valid)
    return valid;
  auto device = tap_device::open(config_);
  if (!device)
    return tl::unexpected{std::move(device.error())};
  auto polls = poll_set::open();
  if (!polls)
    return tl::unexpected{std::move(polls.error())};
  running_.emplace(out, std::move(*device), std::move(*polls));
  running_->spare.resize(max_frame_for_mtu(config_.mtu) + 1);
  auto done = configure();
  if (done && !watch(running_->device.fd()))
    done = fail("cannot watch the TAP", ENOMEM);
  if (!done)
    stop();
  return done;
}

result<void> tap_host::configure() {
  auto& self = *running_;
  const auto& name = self.device.name();
  described_ = fmt::format("{} ({})", name, to_string(self.device.mac()));
  if (self.device.is_here() && !self.device.is_ready()) {
    if (!self.device.ours() && config_.mode != host_mode::bridged)
      restore_device(name);
    auto found = look_at_device(name);
    found.ours = self.device.ours();
    if (config_.mode == host_mode::bridged) {
      if (!config_.interface.empty())
        found.bridge_mtu = look_at_device(config_.interface).mtu;
    } else if (const auto other = overlapping_device(config_.subnet, name); !other.empty()) {
      return fail(fmt::format("the subnet {} is in use by {}: choose another one",
                              to_string(config_.subnet), other),
                  EADDRINUSE);
    }
    if (auto done = perform(plan_device(config_, name, found), found.ours); !done)
      return done;
    described_ = fmt::format("{} ({})", name, to_string(self.device.mac()));
    if (config_.mode != host_mode::bridged)
      if (auto routed = route(); !routed)
        return routed;
  }
  if (config_.mode != host_mode::bridged)
    self.mac = self.device.mac();
  announce();
  return {};
}

result<void> tap_host::perform(const std::vector<device_step>& steps, bool ours) {
  const auto name = running_->device.name();
  for (const auto& step : steps) {
    const auto before = ours ? std::string{} : value_before(name, step);
    auto done = apply_step(name, step);
    if (!done && (is_required(step) || (ours && !may_be_missing(step, done.error().code)))) {
      if (!is_privilege(done.error().code))
        return done;
      return fail(missing_privilege(config_, fmt::format("the TAP {} is not ready (it lacks: {})",
                                                         name, commands_for(name, steps))),
                  EPERM);
    }
    if (done && !ours)
      if (auto undo = undo_of(step, before))
        running_->undo.push_back(std::move(*undo));
  }
  return {};
}

result<void> tap_host::route() {
  auto& self = *running_;
  const auto& name = self.device.name();
  const bool is_shared = config_.mode == host_mode::shared;
  // Before the router looks, so that no change is missed.
  auto network = network_watch::open(name);
  if (!network)
    return tl::unexpected{std::move(network.error())};
  self.network.emplace(std::move(*network));
  if (!watch(self.network->fd()))
    return fail("cannot watch the host's network", ENOMEM);
  auto rules = rules_watch::open(table_name_for(name));
  auto routed = self.router.start(config_, name, self.undo);
  if (!routed && !is_shared) {
    described_ += ", without a fence of nftables rules";
    return {};
  }
  if (!routed && is_privilege(routed.error().code))
    return fail(missing_privilege(config_, routed.error().text), routed.error().code);
  if (!routed)
    return routed;
  if (!rules)
    return tl::unexpected{std::move(rules.error())};
  self.rules.emplace(std::move(*rules));
  if (!watch(self.rules->fd()))
    return fail("cannot watch the rules of nftables", ENOMEM);
  return {};
}

// What somebody has changed since.
result<void> tap_host::keep_up() {
  auto& self = *running_;
  std::array<poll_set::ready, 4> ready; // all that there are
  const auto got = self.polls.collect(ready);
  for (const auto& one : std::span{ready}.first(got.count)) {
    if (self.network && one.fd == self.network->fd()) {
      const auto changes = self.network->look();
      if (changes.ways_out)
        if (auto followed = self.router.follow_routes(config_); !followed)
          return followed;
      if (changes.addresses)
        restore_addresses();
    } else if (self.rules && one.fd == self.rules->fd() && self.rules->changed()) {
      const auto restored = self.router.restore_rules(config_);
      if (!restored)
        return tl::unexpected{restored.error()};
      if (*restored)
        warn("rules",
             fmt::format("somebody removed the nftables rules of {} (\"nft flush ruleset\" "
                         "does, and a restart of nftables): they are made again",
                         self.device.name()));
    }
  }
  if (got.timer && self.advertiser)
    rearm();
  return {};
}

// While the device is down its IPv6 addresses are gone in any case: they wait until it is up.
void tap_host::restore_addresses() {
  const auto& device = running_->device;
  auto found = look_at_device(device.name());
  found.ours = device.ours();
  if (!found.up)
    return;
  for (const auto& step : plan_device(config_, device.name(), found)) {
    if (step.kind != device_step::what::address4 && step.kind != device_step::what::address6)
      continue;
    const bool restored = device.ours() && apply_step(device.name(), step);
    warn("address", fmt::format("{} lost its address {}: {}", device.name(), step.value,
                                restored ? "it has it again"
                                         : "VMs do not reach the host until you run \"" +
                                               command_for(device.name(), step) + "\""));
  }
}

void tap_host::warn(const char* kind, std::string text) const {
  tell_({service_note::level::warning, kind, std::move(text)});
}

void tap_host::announce() {
  auto& self = *running_;
  const auto gateway = gateway6_for(config_);
  if (!gateway || !self.device.is_here())
    return;
  const auto found = look_at_device(self.device.name());
  if (std::ranges::find(found.addresses6, *gateway) == found.addresses6.end())
    return; // the kernel has no IPv6, or an administrator did not want it here
  auto link_local = device_link_local(self.device.name());
  if (link_local.is_unspecified())
    link_local = link_local_for(self.mac); // which it is about to get
  self.advertiser.emplace(advertised_network{self.mac, link_local, ula_prefix_for(config_),
                                             config_.mtu, config_.mode == host_mode::shared,
                                             config_.dns_domain.empty() ? std::nullopt : gateway},
                          self.mac.integer());
  described_ += fmt::format(", IPv6 {}/64", to_string(ula_prefix_for(config_)));
}

void tap_host::stop() noexcept {
  if (!running_)
    return;
  running_->router.stop();
  for (auto step = running_->undo.rbegin(); step != running_->undo.rend(); ++step)
    static_cast<void>(apply_step(running_->device.name(), *step));
  running_.reset();
}

int tap_host::fd() const noexcept {
  return running_ ? running_->polls.fd() : -1;
}

result<bool> tap_host::process() {
  if (!running_)
    return false;
  const bool more = read_some();
  if (running_->advertiser && running_->advertiser->due())
    advertise_in_time();
  if (running_->vanished)
    return fail(fmt::format("the network device {} is gone", running_->device.name()), ENODEV);
  if (running_->network)
    if (auto kept = keep_up(); !kept)
      return tl::unexpected{std::move(kept.error())};
  return more;
}

// True if there is more to read than this call's share, or no room for it.
bool tap_host::read_some() {
  auto& self = *running_;
  for (int i = 0; i < frames_per_call; ++i) {
    if (!self.sink.has_room())
      return true;
    auto room = self.sink.room();
    const bool in_place = !room.empty();
    if (!in_place)
      room = self.spare;
    const ssize_t got = ::read(self.device.fd(), room.data(), room.size());
    if (got < 0) {
      // EIO: the device is down, and may come up again.
      self.vanished = errno == EBADFD || errno == ENODEV || errno == ENXIO;
      return errno == EINTR;
    }
    const auto size = static_cast<std::size_t>(got);
    if (in_place)
      self.sink.commit(size);
    else
      self.sink.deliver(room.first(size));
  }
  return true;
}

frame_tally tap_host::write(const burst& frames) {
  if (!running_)
    return {frames.frames(), frames.frame_bytes()};
  auto& self = *running_;
  frame_tally refused;
  bool solicited = false;
  frames.for_each_frame([&](std::span<const std::byte> frame) {
    if (::write(self.device.fd(), frame.data(), frame.size()) < 0)
      refused.add(frame.size());
    solicited = solicited || router_advertiser::concerns(frame);
  });
  if (!self.advertiser)
    return refused;
  self.advertiser->heard();
  const auto due = self.advertiser->due();
  if (solicited || !due) {
    const auto now = router_advertiser::clock::now();
    frames.for_each_frame([&](std::span<const std::byte> frame) {
      if (router_advertiser::concerns(frame))
        advertise(self.advertiser->on_solicitation(frame, now));
    });
    self.advertiser->heard(now);
  }
  if (self.advertiser->due() != due)
    rearm();
  return refused;
}

void tap_host::advertise_in_time() {
  const auto now = router_advertiser::clock::now() + timer_tolerance;
  if (now < running_->advertiser->due())
    return;
  std::array<poll_set::ready, 1> ready;
  running_->polls.collect(ready); // the timer has served
  advertise(running_->advertiser->on_time(now));
  rearm();
}

void tap_host::advertise(const std::optional<router_advertiser::frame>& frame) {
  if (frame)
    running_->sink.deliver(*frame);
}

void tap_host::rearm() {
  if (const auto due = running_->advertiser->due())
    running_->polls.wake_at(*due);
}

mac_address tap_host::address() const noexcept {
  return running_ ? running_->mac : mac_address{};
}

std::string tap_host::describe() const {
  switch (config_.mode) {
  case host_mode::bridged:
    return fmt::format("bridged by {}{}{}", described_, config_.interface.empty() ? "" : " in ",
                       config_.interface);
  case host_mode::shared:
    return fmt::format("shared (NAT by the kernel) on {}, {}, gateway {}", described_,
                       to_string(config_.subnet), to_string(config_.gateway));
  default:
    return fmt::format("host only, on {}, {}, gateway {}", described_, to_string(config_.subnet),
                       to_string(config_.gateway));
  }
}

} // namespace vmswitch
