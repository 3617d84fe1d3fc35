#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/error.hpp"
#include "vmnet/dhcp/lease_table.hpp"

namespace vmswitch {

/// One lease as it is remembered outside the process: with calendar time, since no other clock
/// survives a restart of the machine. One whose time is over is remembered for its client.
struct remembered_lease {
  mac_address client;
  ipv4_address address;
  std::chrono::sys_seconds expires;
  std::chrono::sys_seconds used; ///< when last lent or extended
  std::string name;              ///< a host name, or empty
  friend bool operator==(const remembered_lease&, const remembered_lease&) = default;
};

struct lease_file_content {
  std::vector<remembered_lease> leases;
  std::vector<std::string> skipped; ///< "line 7 is no JSON"; at most a few
  std::size_t skipped_lines = 0;
};
/// "2 line(s) skipped: line 1 is no JSON; line 7 is too long"
std::string describe_skipped(const lease_file_content& content);

/// A lease file: JSON lines, such as
///
///     {"mac":"52:54:00:12:34:56","address":"192.168.105.10","expires":1764534000,
///      "used":1764447600,"name":"web"}
///
/// each on one line, times in seconds since 1970. Keys that are not known are skipped, and so are
/// lines that are not such an object: a daemon that has lost a lease is better than none.
lease_file_content parse_leases(std::string_view text);
std::string render_leases(const std::vector<remembered_lease>& leases);

inline constexpr std::size_t largest_lease_file = 8 << 20;

/// Nothing is an empty file, also if there is none. Fails for what was not written here: no regular
/// file (a symbolic link is not followed), one larger than `largest_lease_file`, one without any
/// line that is a lease; and for what cannot be read.
result<lease_file_content> read_lease_file(const std::string& path);
/// Replaces the file in one step, so that a crash leaves the old one or the new one; readable by
/// its owner only. What a killed writer left (`path`.vmswitch-new) is overwritten. Fails where
/// something else than a regular file is.
result<void> write_lease_file(const std::string& path, const std::string& text);
/// Whether there is anything of that name, or may be.
bool is_lease_file_there(const std::string& path);

/// The leases of a table that are worth remembering, least recently used first.
std::vector<remembered_lease> remembered(const lease_table& table, lease_table::time_point now,
                                         std::chrono::sys_seconds calendar);
/// Puts them back. Returns how many do not fit into the network any more. A time that the clock of
/// the machine makes longer than `lease_time` is cut to it.
std::size_t restore(const std::vector<remembered_lease>& leases, lease_table& table,
                    std::chrono::seconds lease_time, lease_table::time_point now,
                    std::chrono::sys_seconds calendar);

} // namespace vmswitch
