#include "actors/capture/capture_tap.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace vmswitch {

namespace {

constexpr std::size_t most_names = 16; // of a refusal

std::uint64_t nanoseconds(capture_tap::clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

std::string names_of(std::span<const capture_tap::port> ports) {
  std::string text;
  for (const auto& each : ports.first(std::min(ports.size(), most_names)))
    text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
  return text + (ports.size() > most_names ? ", ..." : "");
}

} // namespace

capture_tap::capture_tap(capture_request request, std::shared_ptr<capture_channel> channel)
    : request_{std::move(request)}, channel_{std::move(channel)} {}

capture_tap::~capture_tap() {
  if (!ended_)
    channel_->end({}, "the network has ended");
}

void capture_tap::begin(std::span<const port> ports, clock::time_point now) {
  const auto wanted = std::find_if(ports.begin(), ports.end(),
                                   [&](const port& each) { return each.name == request_.port; });
  if (!all_ports() && wanted == ports.end())
    return refuse(fmt::format("network {} has no port \"{}\"; it has: {}", request_.network,
                              request_.port, ports.empty() ? "none" : names_of(ports)));
  began_ = now;
  put(pcapng::section_header(
      request_.application,
      all_ports() ? fmt::format("network {}, all ports", request_.network)
                  : fmt::format("network {}, port {}", request_.network, request_.port)));
  if (all_ports()) {
    for (const port& each : ports)
      add(each, now);
  } else {
    slot_ = wanted->slot;
    add(*wanted, now);
  }
  channel_->publish();
}

void capture_tap::refuse(std::string why) {
  ended_ = true;
  channel_->end({}, std::move(why));
}

void capture_tap::add(port added, clock::time_point now) {
  if (added.slot >= sources_.size())
    sources_.resize(added.slot + 1);
  sources_[added.slot] = source{std::string{added.name}};
  sources_[added.slot].statistics.begin_ns = nanoseconds(now);
  // At once if there is room: tcpdump begins when it has met an interface.
  described(sources_[added.slot]);
}

void capture_tap::port_attached(port added, clock::time_point now) {
  if (!all_ports() || ended_)
    return;
  add(added, now);
  channel_->publish();
}

void capture_tap::port_detached(std::uint32_t slot, clock::time_point now) {
  if (ended_ || slot >= sources_.size() || sources_[slot].name.empty())
    return;
  if (!all_ports())
    return end("the port has gone", now);
  auto& gone = sources_[slot];
  if (gone.statistics.interface != none) {
    gone.statistics.end_ns = nanoseconds(now);
    gone_.push_back(gone.statistics);
  }
  gone = {};
}

bool capture_tap::put(std::span<const std::byte> block) {
  auto& ring = channel_->ring();
  std::byte* const place = ring.reserve(block.size());
  if (place == nullptr)
    return false;
  std::memcpy(place, block.data(), block.size());
  ring.commit(block.size());
  return true;
}

bool capture_tap::described(source& of) {
  if (of.statistics.interface != none)
    return true;
  if (interfaces_ == max_interfaces || !put(to_block(pcapng::interface_description{
                                           of.name, request_.filter_text, request_.snaplen})))
    return false;
  of.statistics.interface = interfaces_++;
  return true;
}

bool capture_tap::deliver(source& from, pcapng::direction way, std::span<const std::byte> frame,
                          std::uint64_t time_ns) {
  const auto kept = std::min<std::size_t>(frame.size(), request_.snaplen);
  const auto size = pcapng::packet_block_size(kept, from.lost_now > 0);
  auto& ring = channel_->ring();
  std::byte* const place = ring.reserve(size);
  if (place == nullptr)
    return false;
  pcapng::write_block(place,
                      {from.statistics.interface, time_ns, way,
                       static_cast<std::uint32_t>(frame.size()), frame.first(kept), from.lost_now});
  ring.commit(size);
  from.lost_now = 0;
  return true;
}

void capture_tap::record(std::uint32_t slot, pcapng::direction way, const burst& frames,
                         clock::time_point now) {
  if (ended_ || slot >= sources_.size() || sources_[slot].name.empty())
    return;
  source& from = sources_[slot];
  auto& counts = from.statistics;
  counts.received += frames.frames();
  // With hardly any room left the burst is not even looked at, if all of it is wanted: a reader
  // that is too slow costs the traffic nothing.
  bool full = !described(from) || channel_->ring().room() < channel_->ring().capacity() / 16;
  if (full && request_.filter.passes_all()) {
    counts.accepted += frames.frames();
    from.lost_now += frames.frames();
    lost_ += frames.frames();
    return;
  }
  const auto time_ns = nanoseconds(now);
  frames.for_each_frame([&](std::span<const std::byte> frame) {
    if (ended_ || !request_.filter.passes(frame))
      return;
    ++counts.accepted;
    if (full || !deliver(from, way, frame, time_ns)) {
      full = true;
      ++from.lost_now;
      ++lost_;
      return;
    }
    ++counts.delivered;
    if (++delivered_ == request_.count)
      end(fmt::format("{} frame(s) were captured, as was asked for", delivered_), now);
  });
}

void capture_tap::end(std::string_view why, clock::time_point now) {
  if (ended_)
    return;
  ended_ = true;
  for (const source& each : sources_)
    if (each.statistics.interface != none) {
      gone_.push_back(each.statistics);
      gone_.back().end_ns = nanoseconds(now);
    }
  std::vector<std::byte> tail;
  for (auto& each : gone_) {
    each.lost = each.accepted - each.delivered;
    const auto block = to_block(each, why);
    tail.insert(tail.end(), block.begin(), block.end());
  }
  channel_->end(std::move(tail), {});
}

} // namespace vmswitch
