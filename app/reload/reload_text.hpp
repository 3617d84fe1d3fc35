#pragma once

#include <string>

#include "app/settings.hpp"

namespace vmswitch {

/// What differs, for people: "ports 4096 -> 10, slabs 8 -> 16". Empty if nothing of it does.
std::string difference(const log_settings& now, const log_settings& next);
std::string difference(const network_limits& now, const network_limits& next);
std::string difference(const host_config& now, const host_config& next);
std::string difference(const dhcp_config& now, const dhcp_config& next);
std::string difference(const dns_config& now, const dns_config& next);
std::string difference(const listen_config& now, const listen_config& next);

/// "stream socket /run/vm.sock"
std::string description(const listen_config& listener);
/// "mode user, stream socket /run/vm.sock, datagram socket /run/vm-dgram.sock"
std::string description(const network_config& network);

} // namespace vmswitch
