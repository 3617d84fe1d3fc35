#include "app/control/http_door.hpp"

#include <cerrno>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "transport/owned_fd.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

class unix_door final : public http_door {
public:
  unix_door(listening_socket socket, access_rules access)
      : socket_{std::move(socket)}, access_{std::move(access)} {}
  int fd() const noexcept override { return socket_.fd(); }
  int family() const noexcept override { return AF_UNIX; }
  accept_result accept() noexcept override { return socket_.accept(); }
  visitor identify(int connection) const override {
    auto caller = identify_caller(connection);
    const auto role = role_of(access_, caller);
    return {std::move(caller), role};
  }
  void withdraw() noexcept override { socket_.withdraw(); }
  const std::string& name() const noexcept override { return socket_.path(); }

private:
  listening_socket socket_;
  const access_rules access_;
};

class tcp_door final : public http_door {
public:
  tcp_door(owned_fd socket, int family, std::string name)
      : socket_{std::move(socket)}, family_{family}, name_{std::move(name)} {}
  int fd() const noexcept override { return socket_.get(); }
  int family() const noexcept override { return family_; }
  accept_result accept() noexcept override {
    owned_fd connection = accept_unix_socket(socket_.get()); // of any family
    if (connection)
      return {accept_status::accepted, std::move(connection), 0};
    switch (errno) {
    case EAGAIN:
      return {};
    case EBADF:
    case EINVAL:
    case ENOTSOCK:
      return {accept_status::failed, {}, errno};
    default: // one that ended while it waited, or a lack of something
      return {accept_status::pressure, {}, errno};
    }
  }
  visitor identify(int) const override {
    visitor found;
    found.caller.by_token = true;
    return found;
  }
  void withdraw() noexcept override {}
  const std::string& name() const noexcept override { return name_; }

private:
  owned_fd socket_;
  const int family_;
  const std::string name_;
};

} // namespace

std::unique_ptr<http_door> make_unix_door(listening_socket socket, access_rules access) {
  return std::make_unique<unix_door>(std::move(socket), std::move(access));
}

result<loopback_door> open_loopback_door(const loopback_endpoint& endpoint) {
  using boost::asio::ip::tcp;
  boost::system::error_code problem;
  tcp::endpoint bound{boost::asio::ip::make_address(endpoint.address, problem), endpoint.port};
  if (problem)
    return fail(fmt::format("cannot listen on {}: {}", to_string(endpoint), problem.message()),
                problem.value());
  const int family = bound.protocol().family();
  const auto failed = [&](int code) {
    return fail_errno(fmt::format("cannot listen on {}{}", to_string(endpoint),
                                  code == EADDRINUSE ? " (choose another port)" : ""),
                      code);
  };
  // Not an acceptor, whose context throws when there are no descriptors.
  owned_fd socket{::socket(family, SOCK_STREAM, 0)};
  if (!socket || adopt_unix_socket(socket.get()) != 0)
    return failed(errno);
  const int yes = 1;
  auto length = static_cast<socklen_t>(bound.capacity());
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket.get(), bound.data(), static_cast<socklen_t>(bound.size())) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), bound.data(), &length) != 0)
    return failed(errno);
  loopback_door made;
  made.bound = {endpoint.address, bound.port()};
  made.door = std::make_unique<tcp_door>(std::move(socket), family, to_string(made.bound));
  return made;
}

} // namespace vmswitch
