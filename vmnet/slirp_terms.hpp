#pragma once

#include <libslirp.h>

#include "vmnet/host_config.hpp"

namespace vmswitch {

/// Our terms in those of libslirp (libslirp.h) and back. Included by user_host.cpp only.

/// What slirp_new is to be given. @pre check_host_config(config)
SlirpConfig to_slirp_config(const host_config& config);

/// poll_set::event and SLIRP_POLL_*.
unsigned from_slirp_events(int events);
int to_slirp_events(unsigned events);

} // namespace vmswitch
