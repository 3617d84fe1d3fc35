#include "transport/frame/port_counters.hpp"

#include <numeric>

namespace vmswitch {

std::string_view to_string(drop_reason reason) noexcept {
  switch (reason) {
  case drop_reason::runt:
    return "runt";
  case drop_reason::oversize:
    return "oversize";
  case drop_reason::group_source:
    return "group_source";
  case drop_reason::same_port:
    return "same_port";
  case drop_reason::port_isolated:
    return "port_isolated";
  case drop_reason::port_down:
    return "port_down";
  case drop_reason::unknown_port:
    return "unknown_port";
  case drop_reason::egress_expired:
    return "egress_expired";
  case drop_reason::egress_stalled:
    return "egress_stalled";
  case drop_reason::egress_full:
    return "egress_full";
  case drop_reason::egress_refused:
    return "egress_refused";
  case drop_reason::ingress_exhausted:
    return "ingress_exhausted";
  case drop_reason::no_return_address:
    return "no_return_address";
  case drop_reason::port_closed:
    return "port_closed";
  case drop_reason::host_refused:
    return "host_refused";
  }
  return "unknown";
}

std::uint64_t drop_counters::total() const noexcept {
  return std::accumulate(values_.begin(), values_.end(), std::uint64_t{0});
}

drop_counters& drop_counters::operator+=(const drop_counters& other) noexcept {
  for (std::size_t i = 0; i < values_.size(); ++i)
    values_[i] += other.values_[i];
  return *this;
}

port_counters& port_counters::operator+=(const port_counters& other) noexcept {
  frames_in += other.frames_in;
  bytes_in += other.bytes_in;
  frames_out += other.frames_out;
  bytes_out += other.bytes_out;
  drops += other.drops;
  return *this;
}

} // namespace vmswitch
