#pragma once

#include <string>
#include <utility>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Tells when somebody changes a table of nftables: "nft flush ruleset" removes all of them.
class rules_watch {
public:
  /// Needs CAP_NET_ADMIN.
  static result<rules_watch> open(std::string table);

  /// Readable when changed() has something to look at.
  int fd() const noexcept { return fd_.get(); }
  /// Looks at all that has come; true if the table was in it, whoever changed it, or if too much
  /// came to be kept. Does not block.
  bool changed();

private:
  rules_watch(owned_fd fd, std::string table) noexcept
      : fd_{std::move(fd)}, table_{std::move(table)} {}
  owned_fd fd_;
  std::string table_;
};

} // namespace vmswitch
