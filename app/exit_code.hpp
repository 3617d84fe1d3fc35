#pragma once

namespace vmswitch {

/// How our programs end, after <sysexits.h> (which not every system has).
enum class exit_code : int {
  ok = 0,
  failed = 1,         ///< vmswitchctl: the daemon refused, or could not
  usage = 64,         ///< the command line is wrong
  no_input = 66,      ///< the configuration file is missing or cannot be read
  unavailable = 69,   ///< a backend, or the daemon to connect to, is not there
  os_error = 71,      ///< the system refused something that normally works
  cannot_create = 73, ///< a socket or pidfile cannot be created
  no_permission = 77, ///< a privilege is lacking
  config = 78,        ///< the configuration file has errors
  not_executable =
      126,         ///< vmswitch-run: the command was found but cannot run (as the shell says it)
  not_found = 127, ///< vmswitch-run: there is no such command
};

} // namespace vmswitch
