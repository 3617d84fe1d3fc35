#include "vmnet/dhcp/lease_file.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp> // JSON, with checks
#include <sys/stat.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::size_t longest_line = 1024;
constexpr std::size_t most_skipped = 3;          // that are told in words
constexpr std::int64_t latest = 253'402'300'799; // 9999-12-31
constexpr const char* is_no_file = " is no regular file";
constexpr const char* is_a_link =
    " is a symbolic link, which is not followed: name what it leads to";

std::optional<std::string> text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    return std::nullopt;
  return found->get<std::string>();
}

std::optional<sys_seconds> time_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    return std::nullopt;
  // An unsigned number beyond the signed ones comes out negative.
  const auto value = found->get<std::int64_t>();
  if (value < 0 || value > latest)
    return std::nullopt;
  return sys_seconds{seconds{value}};
}

result<remembered_lease> parse_line(std::string_view line) {
  if (line.size() > longest_line)
    return fail("is too long");
  const auto object = json::parse(line, nullptr, false);
  if (object.is_discarded())
    return fail("is no JSON");
  if (!object.is_object())
    return fail("is no JSON object");
  const auto mac = mac_address::parse(text_of(object, "mac").value_or(""));
  if (!mac || mac->is_group() || *mac == mac_address{})
    return fail("has no \"mac\" of a VM");
  const auto address = ipv4_address::parse(text_of(object, "address").value_or(""));
  if (!address)
    return fail("has no \"address\"");
  const auto expires = time_of(object, "expires");
  if (!expires)
    return fail("has no \"expires\" in seconds since 1970");
  remembered_lease lease{*mac, *address, *expires, time_of(object, "used").value_or(*expires), {}};
  if (auto name = text_of(object, "name"); name && check_host_name(*name))
    lease.name = std::move(*name);
  return lease;
}

result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail("", errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

} // namespace

lease_file_content parse_leases(std::string_view text) {
  lease_file_content content;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty())
      continue;
    if (auto lease = parse_line(line)) {
      content.leases.push_back(std::move(*lease));
    } else {
      ++content.skipped_lines;
      if (content.skipped.size() < most_skipped)
        content.skipped.push_back("line " + std::to_string(number) + " " + lease.error().text);
    }
  }
  return content;
}

std::string render_leases(const std::vector<remembered_lease>& leases) {
  std::string text;
  for (const auto& lease : leases) {
    nlohmann::ordered_json line{{"mac", to_string(lease.client)},
                                {"address", to_string(lease.address)},
                                {"expires", lease.expires.time_since_epoch().count()},
                                {"used", lease.used.time_since_epoch().count()}};
    if (!lease.name.empty())
      line["name"] = lease.name;
    text += line.dump() + "\n";
  }
  return text;
}

std::string describe_skipped(const lease_file_content& content) {
  auto text = std::to_string(content.skipped_lines) + " line(s) skipped";
  auto separator = ": ";
  for (const auto& each : content.skipped)
    text += std::exchange(separator, "; ") + each;
  return text;
}

result<lease_file_content> read_lease_file(const std::string& path) {
  const auto name = "lease file \"" + path + "\"";
  // Non-blocking, since a FIFO without a writer would hold us.
  const owned_fd fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)};
  if (!fd && errno == ENOENT)
    return lease_file_content{};
  if (!fd && errno == ELOOP)
    return fail(name + is_a_link);
  if (!fd)
    return fail_errno("cannot read " + name, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return fail(name + is_no_file);
  if (static_cast<std::size_t>(status.st_size) > largest_lease_file)
    return fail(name + " is larger than any that was written here");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0)
      return fail_errno("cannot read " + name, errno);
    if (count == 0)
      break;
    size += static_cast<std::size_t>(count);
  }
  auto content = parse_leases(std::string_view{text}.substr(0, size));
  if (content.leases.empty() && content.skipped_lines > 0)
    return fail(name + " was not written here (" + describe_skipped(content) + ")");
  return content;
}

result<void> write_lease_file(const std::string& path, const std::string& text) {
  const auto failed = [&](int code) {
    return fail_errno("cannot write lease file \"" + path + "\"", code);
  };
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fail("lease file \"" + path + "\"" + (S_ISLNK(status.st_mode) ? is_a_link : is_no_file));
  const auto draft = path + ".vmswitch-new"; // nobody else's
  ::unlink(draft.c_str());
  const owned_fd fd{
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!fd)
    return failed(errno);
  auto written = write_all(fd.get(), text);
  if (written && ::rename(draft.c_str(), path.c_str()) != 0)
    written = fail("", errno);
  if (!written) {
    ::unlink(draft.c_str());
    return failed(written.error().code);
  }
  return {};
}

bool is_lease_file_there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::vector<remembered_lease> remembered(const lease_table& table, lease_table::time_point now,
                                         sys_seconds calendar) {
  std::vector<remembered_lease> leases;
  table.for_each([&](const lease_table::entry& one) {
    using state = lease_table::state;
    if (one.used == lease_table::time_point::min() ||
        (one.is != state::bound && one.is != state::ended && one.is != state::offered))
      return;
    const auto calendar_of = [&](lease_table::time_point time) {
      // Not before 1970, where a machine without a clock begins.
      return std::max(sys_seconds{}, calendar + std::chrono::ceil<seconds>(time - now));
    };
    leases.push_back({one.client, one.address,
                      one.is == state::bound ? calendar_of(one.until)
                                             : std::min(calendar, calendar_of(one.until)),
                      calendar_of(one.used), one.name});
  });
  std::ranges::sort(leases, {}, [](const auto& lease) {
    return std::pair{lease.used, lease.address};
  });
  return leases;
}

std::size_t restore(const std::vector<remembered_lease>& leases, lease_table& table,
                    seconds lease_time, lease_table::time_point now, sys_seconds calendar) {
  // Cut in seconds: centuries do not fit into a steady clock.
  constexpr seconds longest_ago = std::chrono::hours{24 * 365 * 10};
  std::size_t unfit = 0;
  for (const auto& lease : leases) {
    lease_table::entry entry;
    entry.address = lease.address;
    entry.client = lease.client;
    entry.name = lease.name;
    entry.until = now + std::clamp(lease.expires - calendar, -longest_ago, lease_time);
    entry.used = now + std::clamp(lease.used - calendar, -longest_ago, seconds{0});
    entry.is = entry.until > now ? lease_table::state::bound : lease_table::state::ended;
    unfit += table.restore(entry) ? 0 : 1;
  }
  return unfit;
}

} // namespace vmswitch
