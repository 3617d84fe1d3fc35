#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/capture/frame_filter.hpp"
#include "app/control/capture_query.hpp"
#include "app/control/context_door.hpp"
#include "app/control/control_hooks.hpp"
#include "app/control/router.hpp"

namespace vmswitch {

/// GET /v1/capture: a live capture as a pcapng stream.
///
/// Theory of operation. A request is looked at in three steps, none of which waits: its parameters;
/// whether there is such a network and port; its filter, which is compiled on a thread of its own,
/// since a host name in it is looked up by libpcap. Then a capture_session takes over.
/// Everything runs on the control thread. Must outlive the router's use, and go before the context.
class capture_api {
public:
  static constexpr std::size_t most_compilations = 4; // at a time

  capture_api(boost::asio::io_context& context, const control_hooks& hooks)
      : context_{context}, hooks_{hooks}, door_{context} {}

  void add_to(router& routes);

private:
  void handle(const http_request& request, const responder& answer);
  void compile(capture_query query, std::string caller, const responder& answer);
  void start(const capture_query& query, const frame_filter& filter, const std::string& caller,
             const responder& answer);

  boost::asio::io_context& context_;
  const control_hooks& hooks_;
  context_door door_;
  std::size_t compilations_ = 0;
  std::uint64_t next_id_ = 1;
};

} // namespace vmswitch
