#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// A socket that the kernel sends the events of some groups to: a bit for each, as bind(2) takes
/// them (netlink(7)). It does not block.
result<owned_fd> open_netlink_events(int protocol, std::uint32_t groups);

/// Hands on all that has come: the type of each message, and what is behind its header. False if
/// some was lost, because too much came at once.
bool read_netlink_events(
    int fd, const std::function<void(std::uint16_t type, std::span<const std::byte> body)>& each);

} // namespace vmswitch
