#pragma once

#include <string>
#include <vector>

#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// What the daemon goes on with when it was started as root.
struct kept_privileges {
  std::vector<std::string> capabilities; // "net_admin", as capabilities(7) without "CAP_"
  std::vector<std::string> groups;       // beside the user's own: those of sockets
};

/// What `settings` need. Pure. A device, its addresses and rules are made, and removed at the end,
/// by net_admin. Forwards of ports below 1024 need net_bind_service, for as long as there are any.
/// Who becomes a user owns the files it makes; who stays root needs the right to reach and to give
/// away those that lie in other people's folders.
kept_privileges privileges_for(const daemon_settings& settings);

/// Gives up all other privileges, for good (no_new_privs): becomes the user and group, if any. To
/// be called before any thread is started, and before sockets and files are made, so that whatever
/// can be made can be removed. Returns a sentence for the log; an empty one if the process was not
/// started as root, and has nothing to give up.
result<std::string> drop_privileges(const daemon_settings& settings);

} // namespace vmswitch
