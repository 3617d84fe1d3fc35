#include "app/control/event_ring.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/control/json_views.hpp"

namespace vmswitch {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t largest_piece = 64 * 1024;

void write_event(std::string& out, std::uint64_t number, std::string_view type,
                 std::string_view json) {
  out += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", number, type, json);
}

std::string one_line(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace

class event_ring::watcher final : public stream_source {
public:
  watcher(event_ring& ring, std::uint64_t after) : ring_{ring}, after_{after} {
    ring_.watchers_.push_back(this);
  }
  ~watcher() override { ring_.watchers_.remove(this); }

  std::string_view type() const override { return "text/event-stream"; }
  bool fill(std::string& out) override {
    after_ = ring_.read(after_, out);
    return true;
  }
  void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }
  void wake() const {
    if (wake_)
      wake_();
  }

private:
  event_ring& ring_;
  std::uint64_t after_;
  std::function<void()> wake_;
};

void event_ring::add(const daemon_event& event, std::chrono::system_clock::time_point now) {
  ordered_json json{{"time", time_text(now)}, {"type", event.type}};
  for (const auto& [key, value] : {std::pair{"network", &event.network},
                                   {"port", &event.port},
                                   {"alias", &event.alias},
                                   {"mac", &event.mac}})
    json[key] = value->empty() ? ordered_json(nullptr) : ordered_json(*value);
  json["text"] = event.text;
  append(event.type, one_line(json));
}

void event_ring::add_lost(std::uint64_t count, std::chrono::system_clock::time_point now) {
  append("lost", one_line({{"time", time_text(now)}, {"type", "lost"}, {"events", count}}));
}

void event_ring::append(std::string type, std::string json) {
  if (entries_.size() == capacity)
    entries_.pop_front();
  entries_.push_back({std::move(type), std::move(json)});
  ++last_;
  for (const auto* each : watchers_)
    each->wake();
}

std::uint64_t event_ring::read(std::uint64_t after, std::string& out) const {
  if (after > last_)
    return last_; // it was told by a daemon before this one
  const auto before_first = last_ - entries_.size();
  if (after < before_first) {
    write_event(out, before_first, "lost",
                one_line({{"type", "lost"}, {"events", before_first - after}}));
    after = before_first;
  }
  while (after < last_ && out.size() < largest_piece) {
    const auto& next = entries_[static_cast<std::size_t>(after - before_first)];
    write_event(out, ++after, next.type, next.json);
  }
  return after;
}

std::unique_ptr<stream_source> event_ring::watch(std::uint64_t after) {
  return std::make_unique<watcher>(*this, after);
}

} // namespace vmswitch
