#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/control/http_types.hpp"

namespace vmswitch {

using http_handler = std::function<void(const http_request&, responder)>;

/// Which handler answers which request, and who may ask.
class router {
public:
  struct route {
    std::string method;
    std::string pattern; // "/v1/ports/{port}"
    control_role needs = control_role::read;
    http_handler handle;
  };

  void add(std::string method, std::string pattern, control_role needs, http_handler handle);

  /// Answers by the route's handler, or says why not: 404, 405 with Allow, 403.
  void handle(http_request request, const responder& answer) const;

  const std::vector<route>& routes() const noexcept { return routes_; }

private:
  std::vector<route> routes_;
};

} // namespace vmswitch
