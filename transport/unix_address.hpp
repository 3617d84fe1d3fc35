#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include "transport/error.hpp"

namespace vmswitch {

/// The name of a Unix socket (unix(7)): a path, a Linux abstract name, or none. A value without
/// allocations, so that it can key datagram peers on the hot path.
class unix_address {
public:
  /// The longest path in bytes: 107 on Linux, 103 on macOS.
  static constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

  /// Unnamed.
  unix_address() noexcept = default;

  /// Refuses an empty path, one with a NUL byte, and one that the system cannot hold.
  static result<unix_address> from_path(std::string_view path);

  /// What the kernel reported, `length` bytes of it; `length` may be larger than the structure.
  static unix_address from_kernel(const sockaddr_un& address, socklen_t length) noexcept;

  /// The bytes of the name in a kernel's answer: a path without its NUL, an abstract name with the
  /// NUL in front, nothing for an unnamed socket. Points into `address`.
  static std::string_view name_in(const sockaddr_un& address, socklen_t length) noexcept;

  std::string_view name() const noexcept { return {address_.sun_path, size_}; }
  bool unnamed() const noexcept { return size_ == 0; }
  bool abstract() const noexcept { return size_ > 0 && address_.sun_path[0] == '\0'; }

  /// For bind, connect and sendmsg.
  const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t length() const noexcept;

  friend bool operator==(const unix_address& a, const unix_address& b) noexcept {
    return a.name() == b.name();
  }

private:
  explicit unix_address(std::string_view name) noexcept;

  sockaddr_un address_{};
  std::size_t size_ = 0; // bytes of sun_path that are the name
};

/// For people: the path, "@name" for an abstract name (bytes that do not print as "\x07"),
/// "(unnamed)".
std::string to_string(const unix_address& address);

} // namespace vmswitch

template <>
struct std::hash<vmswitch::unix_address> {
  std::size_t operator()(const vmswitch::unix_address& address) const noexcept {
    return std::hash<std::string_view>{}(address.name());
  }
};
