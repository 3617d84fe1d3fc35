#include "vmnet/forward/tcp_connection.hpp"

#include <boost/asio/post.hpp>
#include <fcntl.h>

namespace vmswitch {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr int reads_in_a_row = 16; // then others have their turn

bool would_block(const error_code& problem) {
  return problem == asio::error::would_block || problem == asio::error::try_again ||
         problem == asio::error::interrupted;
}

} // namespace

void reset(asio::ip::tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket.close(ignored); // by its destructor Asio would take back the option first
}

tcp_connection::tcp_connection(relay_context& context, tcp::socket client,
                               std::shared_ptr<relay_counters> counters,
                               std::function<void(const std::shared_ptr<tcp_connection>&)> ended)
    : context_{context}, client_{std::move(client)}, vm_{context.io}, patience_{context.io},
      counters_{std::move(counters)}, ended_{std::move(ended)},
      to_vm_{client_, vm_, counters_->to_vm, {}}, from_vm_{vm_, client_, counters_->from_vm, {}} {}

bool tcp_connection::start(const tcp::endpoint& vm) {
  error_code problem;
  vm_.open(vm.protocol(), problem);
  if (!problem)
    vm_.non_blocking(true, problem);
  if (!problem)
    client_.non_blocking(true, problem);
  if (problem) {
    ended_ = nullptr;
    abort();
    return false;
  }
  for (auto* socket : {&client_, &vm_}) {
    ::fcntl(socket->native_handle(), F_SETFD, FD_CLOEXEC);
    socket->set_option(tcp::no_delay{true}, problem);
    keep_alive(socket->native_handle());
  }
  patience_.expires_after(context_.limits.connect_time);
  patience_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled)
      self->on_connect(asio::error::timed_out);
  });
  vm_.async_connect(
      vm, [self = shared_from_this()](const error_code& outcome) { self->on_connect(outcome); });
  return true;
}

void tcp_connection::on_connect(const error_code& problem) {
  if (!client_.is_open())
    return; // aborted meanwhile
  patience_.cancel();
  if (problem) {
    relay_counters::add(counters_->refused, 1);
    abort();
    return;
  }
  watch_for_reset(client_);
  watch_for_reset(vm_);
  pump(to_vm_);
  if (client_.is_open())
    pump(from_vm_);
}

void tcp_connection::pump(direction& way) {
  auto& scratch = context_.scratch;
  for (int i = 0; i < reads_in_a_row; ++i) {
    error_code problem;
    const auto got = way.from.read_some(asio::buffer(scratch), problem);
    if (would_block(problem))
      return await_data(way);
    if (problem == asio::error::eof)
      return end(way);
    if (problem)
      return abort();
    std::size_t written = 0;
    if (!write(way, scratch.data(), got, written))
      return abort();
    relay_counters::add(way.bytes, got);
    if (written < got) {
      way.rest.assign(scratch.data() + written, scratch.data() + got);
      way.sent = 0;
      return write_rest(way);
    }
  }
  asio::post(context_.io, [self = shared_from_this(), &way] {
    if (way.from.is_open())
      self->pump(way);
  });
}

// False if the connection is broken.
bool tcp_connection::write(direction& way, const std::byte* data, std::size_t size,
                           std::size_t& written) {
  while (written < size) {
    error_code problem;
    written += way.to.write_some(asio::buffer(data + written, size - written), problem);
    if (problem)
      return would_block(problem);
  }
  return true;
}

void tcp_connection::write_rest(direction& way) {
  way.to.async_wait(tcp::socket::wait_write,
                    [self = shared_from_this(), &way](const error_code& problem) {
                      if (problem || !way.to.is_open())
                        return;
                      if (!self->write(way, way.rest.data(), way.rest.size(), way.sent))
                        return self->abort();
                      if (way.sent < way.rest.size())
                        return self->write_rest(way);
                      way.rest = {};
                      self->pump(way);
                    });
}

void tcp_connection::await_data(direction& way) {
  way.from.async_wait(tcp::socket::wait_read,
                      [self = shared_from_this(), &way](const error_code& problem) {
                        if (!problem && way.from.is_open())
                          self->pump(way);
                      });
}

void tcp_connection::end(direction& way) {
  way.ended = true;
  if (to_vm_.ended && from_vm_.ended)
    return close();
  error_code problem;
  way.to.shutdown(tcp::socket::shutdown_send, problem);
  if (problem)
    abort();
}

// A side that is not read, because it has ended or the other is slow, may break the connection.
void tcp_connection::watch_for_reset(tcp::socket& socket) {
  socket.async_wait(tcp::socket::wait_error, [self = shared_from_this(),
                                              &socket](const error_code& problem) {
    int code = 0;
    socklen_t size = sizeof code;
    // Urgent data, and the end of both sides, are not errors.
    if (!problem && socket.is_open() &&
        ::getsockopt(socket.native_handle(), SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code != 0)
      self->abort();
  });
}

void tcp_connection::abort() {
  reset(client_);
  reset(vm_);
  close();
}

void tcp_connection::close() {
  error_code ignored;
  patience_.cancel();
  client_.close(ignored);
  vm_.close(ignored);
  if (const auto ended = std::exchange(ended_, nullptr))
    ended(shared_from_this());
}

} // namespace vmswitch
