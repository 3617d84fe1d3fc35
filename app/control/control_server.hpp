#pragma once

#include <memory>
#include <string>

#include "actors/inspect/daemon_event.hpp"
#include "app/control/control_hooks.hpp"
#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// The daemon's control socket: HTTP and JSON for whoever wants to look in or to change something.
/// One thread of its own, which sleeps while nobody asks; the data path never waits for it. It is
/// reached through its file, and through a port of this machine where the settings have a
/// dashboard, or a client asks for one; never from a guest.
class control_server {
public:
  /// Binds the socket at `path` and starts. Errors are those of listening_socket, and names in the
  /// settings that do not exist.
  static result<std::unique_ptr<control_server>>
  open(const std::string& path, const control_settings& settings, control_hooks hooks);

  /// Hangs up on everybody and joins the thread. Answers of hooks that come later are ignored;
  /// their functions must not be called once this has ended.
  ~control_server();

  /// Tells those who watch. On any thread; never waits: when very many come at once some are lost,
  /// and their number is told.
  void publish(daemon_event event);

private:
  struct implementation;
  explicit control_server(std::unique_ptr<implementation> made);
  std::unique_ptr<implementation> implementation_;
};

/// Opens the socket that the settings ask for, or the usual one. Null where there is to be none, or
/// where the usual one cannot be had, which is only logged: nobody asked for it.
result<std::unique_ptr<control_server>> open_control(const control_settings& settings,
                                                     control_hooks hooks);

} // namespace vmswitch
