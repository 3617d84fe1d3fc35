#pragma once

#include <string>

#include "transport/error.hpp"

namespace vmswitch {

/// Runs nft(8) commands in this process, as one transaction, and returns what they print (listings
/// as JSON). The error is what nft would say; its code is EPERM where CAP_NET_ADMIN is missing.
/// Thread-safe.
result<std::string> run_nft(const std::string& commands);

} // namespace vmswitch
