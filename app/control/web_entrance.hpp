#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/control/http_server.hpp"
#include "app/control/loopback_endpoint.hpp"
#include "app/control/router.hpp"
#include "app/control/web_guard.hpp"

namespace vmswitch {

/// The control API, and the page that shows it, for a browser: on a port of this machine, for who
/// knows the token. Everything on the context's thread.
class web_entrance {
public:
  /// Who knows the token has `role`. `routes` outlives it.
  static result<std::unique_ptr<web_entrance>> open(boost::asio::io_context& context,
                                                    const loopback_endpoint& at, control_role role,
                                                    const router& routes);

  /// With the token: not for everybody's eyes.
  std::string url() const;
  void close() { server_->close(); }

private:
  web_entrance(boost::asio::io_context& context, loopback_door door, std::string token,
               control_role role, const router& routes);
  void handle(http_request request, const responder& answer) const;

  const loopback_endpoint at_;
  const token_guard guard_;
  const control_role role_;
  const router& routes_;
  std::unique_ptr<http_server> server_;
};

/// How many there may be at a time that clients have asked for.
inline constexpr std::size_t most_entrances = 8;

/// A stream that tells where an entrance is, as one line of JSON, and keeps it open: it ends with
/// the client.
std::unique_ptr<stream_source> keep_open(std::unique_ptr<web_entrance> entrance,
                                         std::shared_ptr<std::size_t> count);

} // namespace vmswitch
