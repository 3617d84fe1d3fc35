#include "app/control/http_server.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/generic/stream_protocol.hpp>
#include <spdlog/spdlog.h>

#include "app/control/http_connection.hpp"
#include "app/shortage.hpp"

namespace vmswitch {

namespace asio = boost::asio;

namespace {

constexpr int accepts_per_run = 64;
constexpr std::chrono::milliseconds accept_pause{100};

} // namespace

http_server::http_server(asio::io_context& context, std::unique_ptr<http_door> door, handler handle,
                         http_limits limits)
    : context_{context}, door_{std::move(door)}, handle_{std::move(handle)}, limits_{limits},
      listener_{context, door_->fd()}, pause_{context} {
  await_client();
}

http_server::~http_server() {
  close();
}

void http_server::close() {
  if (listener_.is_open())
    listener_.release(); // the descriptor is the door's
  is_open_.reset();
  door_->withdraw();
  pause_.cancel();
  const auto all = std::exchange(connections_, {});
  for (const auto& each : all)
    each->close();
}

void http_server::await_client() {
  listener_.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [this, open = std::weak_ptr{is_open_}](const boost::system::error_code& problem) {
        if (!problem && !open.expired())
          accept_all();
      });
}

void http_server::accept_all() {
  for (int i = 0; i < accepts_per_run; ++i) {
    auto accepted = door_->accept();
    switch (accepted.status) {
    case accept_status::accepted:
      try {
        admit(std::move(accepted.connection));
      } catch (const std::exception& thrown) { // the next one is to be heard all the same
        spdlog::error("{}: {}", name(), shortage(thrown).text);
      }
      break;
    case accept_status::would_block:
      return await_client();
    case accept_status::pressure:
      pause_.expires_after(accept_pause);
      pause_.async_wait(
          [this, open = std::weak_ptr{is_open_}](const boost::system::error_code& problem) {
            if (!problem && !open.expired())
              await_client();
          });
      return;
    case accept_status::failed:
      spdlog::error(
          "{}: no more clients can be accepted: {}", name(),
          boost::system::error_code{accepted.error, boost::system::system_category()}.message());
      return;
    }
  }
  await_client();
}

void http_server::admit(owned_fd connection) {
  if (connections_.size() >= limits_.connections && !make_room())
    return; // all are being served: hung up on
  auto [caller, role] = door_->identify(connection.get());
  asio::generic::stream_protocol::socket socket{context_};
  boost::system::error_code problem;
  socket.assign({door_->family(), 0}, connection.get(), problem);
  if (problem)
    return; // the kernel watches no more descriptors: hung up on
  static_cast<void>(connection.release());
  auto made = std::make_shared<http_connection>(*this, std::move(socket), std::move(caller), role);
  connections_.push_back(made);
  made->start();
}

bool http_server::make_room() {
  const auto longest =
      std::min_element(connections_.begin(), connections_.end(), [](const auto& a, const auto& b) {
        return a->waits_since() < b->waits_since();
      });
  if ((*longest)->waits_since() == http_connection::clock::time_point::max())
    return false;
  ++displaced_;
  const auto gone = *longest;
  gone->close();
  return true;
}

void http_server::forget(http_connection& gone) {
  connections_.remove_if([&](const auto& each) { return each.get() == &gone; });
}

bool http_server::take_stream() noexcept {
  if (streams_ >= limits_.streams)
    return false;
  ++streams_;
  return true;
}

} // namespace vmswitch
