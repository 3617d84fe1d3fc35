#pragma once

#include <memory>

#include "vmnet/host_config.hpp"
#include "vmnet/host_interface.hpp"

namespace vmswitch {

/// The backend for `config.mode`, not yet started. Never null.
std::unique_ptr<host_interface> make_host_interface(const host_config& config);

} // namespace vmswitch
