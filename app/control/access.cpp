#include "app/control/access.hpp"

#include <algorithm>

#include <cerrno>

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace vmswitch {

namespace {

constexpr std::size_t largest_entry = std::size_t{1} << 20;

// getpwnam_r and getgrnam_r, whose buffers have to be guessed.
template <class Entry, class Call>
result<Entry> look_up(const std::string& name, std::string_view what, Call call) {
  std::vector<char> buffer(1024);
  Entry entry{};
  Entry* found = nullptr;
  int code = 0;
  while ((code = call(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < largest_entry)
    buffer.resize(buffer.size() * 2);
  if (found != nullptr)
    return entry; // of which only the number is used: its texts are in the buffer
  if (code != 0 && code != ENOENT && code != ESRCH)
    return fail_errno(fmt::format("cannot look up the {} {}", what, name), code);
  return fail(fmt::format("there is no {} named {}", what, name));
}

result<access_rules::members> resolve(const std::vector<std::string>& names) {
  access_rules::members found;
  for (const auto& name : names) {
    if (name.starts_with('@')) {
      const auto group = look_up<::group>(name.substr(1), "group", ::getgrnam_r);
      if (!group)
        return tl::unexpected{group.error()};
      found.groups.push_back(group->gr_gid);
    } else {
      const auto user = look_up<passwd>(name, "user", ::getpwnam_r);
      if (!user)
        return tl::unexpected{user.error()};
      found.users.push_back(user->pw_uid);
    }
  }
  return found;
}

} // namespace

std::string_view to_string(control_role role) noexcept {
  switch (role) {
  case control_role::full:
    return "full";
  case control_role::read:
    return "read-only";
  case control_role::none:
    break;
  }
  return "none";
}

std::string to_string(const control_caller& caller) {
  if (caller.by_token)
    return "dashboard";
  if (!caller.uid)
    return "unknown";
  return caller.pid ? fmt::format("pid {}, uid {}", *caller.pid, *caller.uid)
                    : fmt::format("uid {}", *caller.uid);
}

bool access_rules::members::contain(const control_caller& caller) const {
  return (caller.uid && std::ranges::find(users, *caller.uid) != users.end()) ||
         std::ranges::any_of(caller.groups, [this](gid_t each) {
           return std::ranges::find(groups, each) != groups.end();
         });
}

control_role role_of(const access_rules& rules, const control_caller& caller) {
  if (!caller.uid)
    return control_role::none;
  if (*caller.uid == 0 || *caller.uid == rules.own || rules.admins.contain(caller))
    return control_role::full;
  return !rules.readers || rules.readers->contain(caller) ? control_role::read : control_role::none;
}

result<access_rules> resolve_access(const control_settings& settings) {
  access_rules rules;
  rules.own = ::geteuid();
  auto admins = resolve(settings.admins);
  if (!admins)
    return fail("control_admins: " + admins.error().text);
  rules.admins = std::move(*admins);
  if (settings.readers) {
    auto readers = resolve(*settings.readers);
    if (!readers)
      return fail("control_readers: " + readers.error().text);
    rules.readers = std::move(*readers);
  }
  return rules;
}

} // namespace vmswitch
