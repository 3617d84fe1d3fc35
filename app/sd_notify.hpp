#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "transport/error.hpp"

namespace vmswitch {

/// Tells a service manager how the daemon is: the datagrams of sd_notify(3), which documents them
/// for implementations without libsystemd (a large library for three lines of text).
class service_notifier {
public:
  /// `address` is the value of NOTIFY_SOCKET: an absolute path, or '@' and an abstract name.
  /// Without one every notification succeeds and does nothing.
  explicit service_notifier(std::optional<std::string> address);
  static service_notifier from_environment();

  /// VMs can connect now. `status` is a sentence for people.
  result<void> ready(std::string_view status) const;
  /// The configuration is being read anew; ready() says when that is over.
  result<void> reloading() const;
  result<void> stopping() const;
  result<void> status(std::string_view text) const;

private:
  result<void> send(std::string_view message) const;

  std::optional<std::string> address_;
};

} // namespace vmswitch
