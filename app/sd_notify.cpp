#include "app/sd_notify.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

// A newline would begin the next assignment.
std::string status_line(std::string_view text) {
  std::string line = fmt::format("STATUS={}", text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

} // namespace

service_notifier::service_notifier(std::optional<std::string> address)
    : address_{std::move(address)} {
  if (address_ && address_->empty())
    address_.reset();
}

service_notifier service_notifier::from_environment() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  return service_notifier{address ? std::optional<std::string>{address} : std::nullopt};
}

result<void> service_notifier::ready(std::string_view text) const {
  return send("READY=1\n" + status_line(text));
}

result<void> service_notifier::reloading() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch(); // CLOCK_MONOTONIC
  return send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                          std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

result<void> service_notifier::stopping() const {
  return send("STOPPING=1");
}

result<void> service_notifier::status(std::string_view text) const {
  return send(status_line(text));
}

result<void> service_notifier::send(std::string_view message) const {
  if (!address_)
    return {};
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (address_->size() >= sizeof to.sun_path || ((*address_)[0] != '/' && (*address_)[0] != '@'))
    return fail(fmt::format("NOTIFY_SOCKET=\"{}\" is not an absolute path or an abstract name that "
                            "fits into a socket address",
                            *address_));
  std::memcpy(to.sun_path, address_->data(), address_->size());
  const bool is_abstract = to.sun_path[0] == '@';
  if (is_abstract)
    to.sun_path[0] = '\0';
  // An abstract name is as long as the address says, a path ends with its NUL.
  const auto length = offsetof(sockaddr_un, sun_path) + address_->size() + (is_abstract ? 0 : 1);

  const auto fd = open_unix_socket(SOCK_DGRAM, blocking::yes);
  const timeval patience{1, 0}; // a service manager that hangs must not hang the daemon
  if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0)
    return fail_errno("cannot open a socket for NOTIFY_SOCKET", errno);
  if (::sendto(fd.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&to),
               static_cast<socklen_t>(length)) < 0)
    return fail_errno(fmt::format("cannot notify \"{}\"", *address_), errno);
  return {};
}

} // namespace vmswitch
