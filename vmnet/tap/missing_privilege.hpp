#pragma once

#include <string>

#include "vmnet/host_config.hpp"

namespace vmswitch {

/// What a person without CAP_NET_ADMIN reads when a network of this kind cannot come up: the
/// capability, and what works without it. Pure; `what` says what was refused.
std::string missing_privilege(const host_config& config, const std::string& what);

} // namespace vmswitch
