#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "vmnet/dns/dns_endpoint.hpp"

namespace vmswitch {

/// The DNS servers of this host, as its resolv.conf names them. It is read again when somebody
/// asks, at most once in `look_interval`: a small file, whose content tells more surely than its
/// times whether it has changed.
class resolver_list {
public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds look_interval{1000};

  explicit resolver_list(std::string path) : path_{std::move(path)} {}

  /// Looks at the file if it is time. True if there are other servers than before.
  bool refresh(time_point now);
  /// Before the first refresh(): none. A file that cannot be read counts as an empty one, and names
  /// the server on this machine.
  const std::vector<dns_endpoint>& servers() const noexcept { return servers_; }

private:
  const std::string path_;
  std::vector<dns_endpoint> servers_;
  std::optional<std::string> content_;
  time_point looked_ = time_point::min();
};

} // namespace vmswitch
