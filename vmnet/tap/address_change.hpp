#pragma once

#include <string>

namespace vmswitch {

/// Adds an address such as "192.168.105.1/24" or "fd00::1/64" to a device, or removes it
/// (rtnetlink, RFC 3549; the older ioctls replace addresses that are there). Adding one that is
/// there succeeds. Returns 0 or errno.
int change_address(const std::string& device, const std::string& address, bool remove);

} // namespace vmswitch
