#include "vmnet/serviced_host.hpp"

#include <array>
#include <utility>

#include "transport/frame/ethernet.hpp"
#include "vmnet/dhcp/lease_file.hpp"
#include "vmnet/dhcp/lease_list.hpp"

namespace vmswitch {

namespace {

using level = service_note::level;
using what = dhcp_event::what;

std::chrono::sys_seconds seconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

bool is_arp(std::span<const std::byte> frame) {
  return frame[12] == std::byte{8} && frame[13] == std::byte{6};
}

struct manner {
  level severity;
  const char* kind;
};

manner manner_of(what kind) {
  switch (kind) {
  case what::leased:
    return {level::info, "dhcp leased"};
  case what::renewed:
    return {level::debug, "dhcp renewed"};
  case what::released:
    return {level::info, "dhcp released"};
  case what::refused:
    return {level::info, "dhcp refused"};
  case what::declined:
    return {level::warning, "dhcp declined"};
  case what::exhausted:
    return {level::warning, "dhcp exhausted"};
  case what::in_use:
    return {level::info, "dhcp in use"};
  }
  return {level::debug, "dhcp"};
}

} // namespace

serviced_host::serviced_host(std::unique_ptr<host_interface> backend, host_services services,
                             std::function<void(const service_note&)> tell, service_clocks time)
    : backend_{std::move(backend)}, services_{std::move(services)}, tell_{std::move(tell)},
      time_{time} {
  if (services_.dhcp)
    dhcp_.emplace(*services_.dhcp);
}

serviced_host::~serviced_host() {
  stop();
}

result<void> serviced_host::start(frame_sink& out) {
  if (out_ != nullptr)
    return fail("the services have been started already");
  if (services_.lease_file || services_.dns) {
    auto polls = poll_set::open();
    if (!polls)
      return tl::unexpected{std::move(polls.error())};
    polls_ = std::move(*polls);
  }
  auto started = backend_->start(out);
  if (started && polls_ && backend_->fd() >= 0 &&
      !polls_->change(backend_->fd(), 0, poll_set::readable)) {
    backend_->stop();
    started = fail("cannot watch the host interface: are there too many descriptors?");
  }
  if (!started) {
    polls_.reset();
    return started;
  }
  out_ = &out;
  if (dhcp_)
    dhcp_->set_mac(backend_->address());
  if (dhcp_ && services_.lease_file && !std::exchange(is_loaded_, true))
    load();
  if (services_.dns)
    start_dns();
  return {};
}

void serviced_host::start_dns() {
  dns_surroundings around{
      .macs = services_.dns_macs,
      .leases = [this] { return dhcp_ ? &dhcp_->leases() : nullptr; },
      // One that is dropped has been counted there; the client asks again.
      .send = [this](std::span<const std::byte> frame) { out_->deliver(frame); },
      .tell = tell_,
  };
  around.macs.push_back(backend_->address());
  dns_.emplace(*services_.dns, *polls_, std::move(around));
}

void serviced_host::stop() noexcept {
  if (out_ == nullptr)
    return;
  out_ = nullptr;
  dns_.reset();
  backend_->stop();
  polls_.reset();
  armed_.reset();
  save_due_.reset();
  if (dhcp_ && services_.lease_file && dhcp_->leases().version() != saved_version_)
    save();
}

int serviced_host::fd() const noexcept {
  return polls_ ? polls_->fd() : backend_->fd();
}

result<bool> serviced_host::process() {
  bool more = false;
  if (armed_ || (dns_ && !dns_->is_idle()))
    more = serve_events();
  auto worked = backend_->process();
  if (worked)
    *worked = *worked || more;
  return worked;
}

// True if there may be more, since whoever watches the set is told of new events only.
bool serviced_host::serve_events() {
  constexpr int most_rounds = 8;
  std::array<poll_set::ready, 32> ready;
  bool more = true;
  for (int i = 0; i < most_rounds && more; ++i) {
    const auto got = polls_->collect(ready);
    more = got.timer;
    const auto now = time_.steady();
    for (const auto& one : std::span{ready}.first(got.count)) {
      if (one.fd == backend_->fd())
        continue;
      more = true;
      if (dns_)
        dns_->process(one, now);
    }
    if (!got.timer)
      continue;
    armed_.reset();
    if (save_due_ && *save_due_ <= now)
      save();
    if (dns_)
      dns_->on_time(now);
  }
  rearm();
  return more;
}

void serviced_host::rearm() {
  auto first = save_due_;
  if (dns_)
    if (const auto due = dns_->due(time_.steady()); due && (!first || *due < *first))
      first = due;
  if (!first || (armed_ && *armed_ <= *first))
    return; // one that fires too early does no harm
  armed_ = first;
  polls_->wake_at(*first);
}

// Most frames are for the backend: the fields that tell are looked at, and nothing else.
bool serviced_host::look_at(std::span<const std::byte> frame) {
  if (!is_arp(frame))
    return is_for_services(frame);
  if (dhcp_)
    if (const auto event = dhcp_->observe_arp(frame, time_.steady()))
      report(*event);
  return false;
}

frame_tally serviced_host::write(const burst& frames) {
  if (out_ == nullptr)
    return backend_->write(frames);
  bool has_services = false;
  frames.for_each_frame([&](std::span<const std::byte> frame) { has_services |= look_at(frame); });
  return has_services ? write_without_services(frames) : backend_->write(frames);
}

frame_tally serviced_host::write_without_services(const burst& frames) {
  burst others{frames.memory()};
  frames.for_each_frame([&](std::span<const std::byte> frame) {
    if (is_for_services(frame)) {
      serve(frame);
      return;
    }
    const auto begin = static_cast<std::uint32_t>(frame.data() - frames.data() - prefix_size);
    others.append(begin, static_cast<std::uint32_t>(begin + prefix_size + frame.size()), 1);
  });
  save_if_changed();
  rearm();
  return others.empty() ? frame_tally{} : backend_->write(others);
}

void serviced_host::serve(std::span<const std::byte> frame) {
  if (!dhcp_ || !dhcp_->is_for_server(frame)) {
    dns_->receive(frame, time_.steady());
    return;
  }
  const auto outcome = dhcp_->receive(frame, time_.steady());
  for (const auto& each : outcome.frames)
    out_->deliver(each); // one that is dropped has been counted there; the client asks again
  if (!outcome.event)
    return;
  report(*outcome.event);
  leases_changed_(&*outcome.event);
}

void serviced_host::report(const dhcp_event& event) {
  const auto [severity, kind] = manner_of(event.kind);
  tell_({severity, kind, to_string(event)});
}

void serviced_host::load() {
  const auto content = read_lease_file(*services_.lease_file);
  if (!content) {
    file_failed_ = is_foreign_ = true;
    tell_({level::warning, "lease file",
           content.error().text + "; it is left as it is, and leases are kept in memory only: move "
                                  "it away, or choose another path"});
    return;
  }
  const auto unfit = restore(content->leases, dhcp_->leases(), services_.dhcp->lease_time,
                             time_.steady(), seconds_of(time_.calendar()));
  if (content->skipped_lines > 0)
    tell_({level::warning, "lease file",
           "lease file \"" + *services_.lease_file + "\": " + describe_skipped(*content) + "."});
  if (unfit > 0)
    tell_({level::info, "lease file",
           "lease file \"" + *services_.lease_file + "\": " + std::to_string(unfit) +
               " lease(s) do not fit the network as it is configured now, and are forgotten"});
  saved_version_ = dhcp_->leases().version();
  leases_changed_(nullptr);
}

void serviced_host::save_if_changed() {
  if (!dhcp_ || !services_.lease_file || save_due_ || dhcp_->leases().version() == saved_version_)
    return;
  const auto now = time_.steady();
  if (saved_at_ != std::chrono::steady_clock::time_point::min() && now - saved_at_ < file_interval)
    save_due_ = saved_at_ + file_interval;
  else
    save();
}

void serviced_host::save() {
  save_due_.reset();
  saved_at_ = time_.steady();
  is_foreign_ = is_foreign_ && is_lease_file_there(*services_.lease_file);
  if (is_foreign_) {
    saved_version_ = dhcp_->leases().version();
    return;
  }
  const auto leases = remembered(dhcp_->leases(), saved_at_, seconds_of(time_.calendar()));
  const auto written = write_lease_file(*services_.lease_file, render_leases(leases));
  saved_version_ = dhcp_->leases().version();
  if (!written && !file_failed_)
    tell_(
        {level::warning, "lease file", written.error().text + "; leases are kept in memory only"});
  else if (written && file_failed_)
    tell_({level::info, "lease file",
           "lease file \"" + *services_.lease_file + "\" is written again"});
  file_failed_ = !written;
}

service_report serviced_host::services() const {
  auto report = backend_->services();
  report.dhcp = dhcp_.has_value();
  if (dhcp_)
    report.leases = list_leases(dhcp_->leases(), time_.steady());
  return report;
}

std::vector<dns_entry> serviced_host::names() {
  return dns_ ? dns_->server().entries(leases(), time_.steady()) : std::vector<dns_entry>{};
}

void serviced_host::change(dhcp_settings settings) {
  if (!dhcp_)
    return;
  services_.dhcp = settings;
  dhcp_->change(std::move(settings), time_.steady());
  if (out_ != nullptr) {
    save_if_changed();
    rearm();
  }
}

void serviced_host::change(dns_setup setup) {
  if (!services_.dns)
    return;
  services_.dns = std::move(setup);
  if (out_ != nullptr) {
    dns_.reset();
    start_dns();
    rearm();
  }
}

// What the file of the same name has, the other one had as well, and saved when it stopped.
void serviced_host::inherit(const host_interface& before) {
  const auto* other = dynamic_cast<const serviced_host*>(&before);
  if (other == nullptr || !dhcp_ || !other->dhcp_)
    return;
  dhcp_->inherit(*other->dhcp_, time_.steady());
  is_loaded_ = other->is_loaded_ && services_.lease_file == other->services_.lease_file;
  file_failed_ = is_loaded_ && other->file_failed_;
  is_foreign_ = is_loaded_ && other->is_foreign_;
}

std::string serviced_host::describe() const {
  auto text = backend_->describe();
  if (services_.dhcp)
    text += ", DHCP " + to_string(services_.dhcp->range.first) + " to " +
            to_string(services_.dhcp->range.last);
  if (services_.dns)
    text += ", DNS " + to_string(services_.dns->settings.domain);
  return text;
}

} // namespace vmswitch
