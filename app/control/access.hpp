#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// What somebody at the control socket may do. In order: each may do what those before may.
enum class control_role : std::uint8_t { none, read, full };

std::string_view to_string(control_role role) noexcept;

/// Who has connected, as the kernel knew him at that moment.
struct control_caller {
  std::optional<pid_t> pid;
  std::optional<uid_t> uid; // absent: the system does not say, and he may do nothing
  std::vector<gid_t> groups;
  bool by_token = false; // came to a port instead, and knew its token
};

/// "pid 4711, uid 1000"
std::string to_string(const control_caller& caller);

/// The caller at the other end of a connected Unix socket.
control_caller identify_caller(int fd);

struct access_rules {
  struct members {
    std::vector<uid_t> users;
    std::vector<gid_t> groups;
    bool contain(const control_caller& caller) const;
  };
  uid_t own = 0; // the daemon's user may do everything, as may root
  members admins;
  std::optional<members> readers; // absent: whoever can open the socket
};

/// Pure.
control_role role_of(const access_rules& rules, const control_caller& caller);

/// Looks up the users and "@groups" of the settings. The error names what does not exist.
result<access_rules> resolve_access(const control_settings& settings);

} // namespace vmswitch
