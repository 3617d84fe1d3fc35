#pragma once

#include <string>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "transport/owned_fd.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch::test {

/// What a service manager sees.
class notify_socket {
public:
  explicit notify_socket(const std::string& path) : fd_{::socket(AF_UNIX, SOCK_DGRAM, 0)} {
    const auto address = unix_address::from_path(path);
    REQUIRE(::bind(fd_.get(), address->data(), address->length()) == 0);
    const timeval patience{30, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  std::string next() {
    char text[512];
    const auto size = ::recv(fd_.get(), text, sizeof text, 0);
    return size < 0 ? "(nothing)" : std::string(text, static_cast<std::size_t>(size));
  }

private:
  owned_fd fd_;
};

} // namespace vmswitch::test
