#pragma once

#include <functional>
#include <string>
#include <variant>

#include "transport/error.hpp"
#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// A change of a network's forwards that somebody asks for while it runs. Plain data without CAF.
struct forward_order {
  std::string network;
  std::variant<forward_rule, forward_listen> what; ///< to begin; to end
  std::string by;                                  ///< who asks, for people; not empty
  /// Called once, on any thread; must only send or post. Codes of the error: ENXIO no such network,
  /// ENOENT no such forward, EINVAL not in this network, EADDRINUSE taken, ETIMEDOUT no answer,
  /// ECANCELED the daemon stops; others are the system's.
  std::function<void(result<void>)> done;
};

} // namespace vmswitch
