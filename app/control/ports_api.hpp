#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/control/context_door.hpp"
#include "app/control/control_hooks.hpp"
#include "app/control/router.hpp"

namespace vmswitch {

/// PATCH /v1/ports/{port}: changes a port while it is there. Looks for it, has its network change
/// it, and answers with what it is then. Lives on the control thread, with what it is given.
class ports_api {
public:
  ports_api(boost::asio::io_context& context, const control_hooks& hooks)
      : hooks_{hooks}, door_{context} {}

  void add_to(router& routes);

private:
  void handle(const http_request& request, const responder& answer);
  void change(const daemon_snapshot& seen, const std::string& network, change_port wanted,
              const responder& answer);
  void show(const std::string& network, const std::string& port, const responder& answer);

  const control_hooks& hooks_;
  context_door door_;
};

} // namespace vmswitch
