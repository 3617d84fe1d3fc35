#pragma once

#include "actors/host/host_forwards.hpp"
#include "actors/messages.hpp"
#include "actors/network_config.hpp"

namespace vmswitch {

inline constexpr const char* no_host_for_forwards =
    "the network has no host's side that could forward: it is isolated, or starts or stops";

/// What the host actor of a network is told of forwards: where the kernel reaches VMs by a TAP, a
/// relay carries them.
forward_setup forwards_of(const network_config& config);

/// What a network does with questions about forwards: hands them on to its host actor, or answers
/// where there is none (`host` is null).
inline void pass_on(const caf::actor& host, const forward_add& message) {
  if (host)
    tell(host, message);
  else if (message.to)
    tell(message.to, forward_answer{message.tag, no_host_for_forwards, 0});
}
inline void pass_on(const caf::actor& host, const forward_remove& message) {
  if (host)
    tell(host, message);
  else if (message.to)
    tell(message.to, forward_answer{message.tag, no_host_for_forwards, 0});
}
inline void pass_on(const caf::actor& host, const forward_list& message) {
  if (host)
    tell(host, message);
  else
    tell(message.to, forward_listing{message.tag, {}});
}

} // namespace vmswitch
