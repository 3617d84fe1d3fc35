#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "actors/network_config.hpp"
#include "app/control/loopback_endpoint.hpp"

namespace vmswitch {

enum class log_level : std::uint8_t { trace, debug, info, warn, error };

enum class log_format : std::uint8_t {
  text, ///< time, level, message
  json, ///< one object a line: "time", "level", "message"
};

struct log_settings {
  log_level level = log_level::info;
  log_format format = log_format::text;
  friend bool operator==(const log_settings&, const log_settings&) = default;
};

/// A descriptor that a service manager has passed to us; see socket_activation.hpp.
struct passed_socket {
  int fd = -1;
  std::string name; // LISTEN_FDNAMES
  friend bool operator==(const passed_socket&, const passed_socket&) = default;
};

/// The control socket, and who may do what there.
struct control_settings {
  std::optional<std::string> path;  // asked for; "": none. Absent: the usual one, if it can be had
  std::string usual;                // see usual_control_path(); "": none
  std::optional<std::string> group; // of the socket's file
  std::optional<mode_t> mode;       // default 0600, or 0660 with a group
  std::vector<std::string> admins;  // users, and groups as "@name", that may change things
  std::optional<std::vector<std::string>> readers; // likewise, look; absent: who can connect
  std::optional<loopback_endpoint> dashboard;      // where a browser finds it; absent: nowhere
  friend bool operator==(const control_settings&, const control_settings&) = default;
};

/// Everything the daemon is told, from the command line and the configuration file. What the
/// parsers return is valid: names and paths are unique, numbers are in range.
struct daemon_settings {
  log_settings log;
  std::optional<std::string> pidfile;
  std::optional<std::size_t> workers; // 1..64; see worker_count()
  std::optional<std::string> user;    // whom the daemon becomes when it is started as root
  std::optional<std::string> group;   // likewise; without: the user's
  control_settings control;
  std::vector<network_config> networks;
  std::vector<passed_socket> passed; // none is of a configuration: see assign_sockets()
  friend bool operator==(const daemon_settings&, const daemon_settings&) = default;
};

/// The largest number of workers that may be asked for.
inline constexpr std::size_t max_workers = 64;

/// The number of threads of the concurrent queue: what was asked for, else half the
/// cores, 1 to 4: the others are the VMs'. On two cores one pair reaches 1.10 of a plain relay with
/// one worker (0.36 CPU s/GB), 0.88 with two (0.51), which hand each other their work and caches.
std::size_t worker_count(const daemon_settings& settings) noexcept;

} // namespace vmswitch
