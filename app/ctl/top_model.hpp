#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace vmswitch {

/// What `top` knows of the ports: their counters, and what has become of them since the last look.
/// Pure.
class top_model {
public:
  enum class order : std::uint8_t { total, in, out, drops, name };
  static constexpr std::size_t history_length = 24;

  struct port {
    std::string name;
    std::string network;
    std::string state;
    std::string mac;
    double bits_in = 0; // per second, likewise the others
    double bits_out = 0;
    double frames_in = 0;
    double frames_out = 0;
    double drops = 0;
    double dropped = 0;         // since it is there
    double waiting = 0;         // frames
    std::deque<double> history; // of both directions' bits, the latest last
  };

  /// Takes an answer of /v1/ports that was given at `seconds` of any steady clock.
  void update(const nlohmann::json& ports, double seconds);

  std::vector<port> sorted(order by) const;
  /// The sums over all ports.
  port total() const;

private:
  struct known {
    port shown;
    nlohmann::json counters;
    double at = 0;
  };
  std::map<std::string, known> ports_; // by network, name and age
};

/// The next order, for a key that goes through all.
top_model::order next_order(top_model::order now);
std::string_view name_of(top_model::order order);

struct top_look {
  std::size_t width = 80;
  std::size_t height = 24; // lines; 0: as many as there are
  bool colour = false;
  top_model::order by = top_model::order::total;
  std::string title;
  std::string keys; // the last line; may be empty
};

/// A picture of at most `height` lines of at most `width` characters.
std::string top_view(const top_model& model, const top_look& look);

/// Eight heights of a block for values from 0 to their largest, oldest first.
std::string sparkline(const std::deque<double>& values, std::size_t width);

} // namespace vmswitch
