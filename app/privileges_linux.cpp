#include "app/privileges.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>

#include <cap-ng.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace vmswitch {

namespace {

struct account {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
};

result<gid_t> find_group(const std::string& name) {
  std::array<char, 16384> space{};
  ::group entry{};
  ::group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, space.data(), space.size(), &found);
  if (found == nullptr)
    return fail(fmt::format("there is no group \"{}\" on this system", name), EINVAL);
  return entry.gr_gid;
}

result<account> find_account(const daemon_settings& settings, const kept_privileges& kept) {
  std::array<char, 16384> space{};
  ::passwd entry{};
  ::passwd* found = nullptr;
  ::getpwnam_r(settings.user->c_str(), &entry, space.data(), space.size(), &found);
  if (found == nullptr)
    return fail(fmt::format("there is no user \"{0}\" on this system: make one (useradd --system "
                            "{0}), or name another",
                            *settings.user),
                EINVAL);
  account chosen{entry.pw_uid, entry.pw_gid, {}};
  std::vector<std::string> names = kept.groups;
  if (settings.group)
    names.push_back(*settings.group);
  std::set<gid_t> groups;
  for (const auto& name : names) {
    const auto group = find_group(name);
    if (!group)
      return tl::unexpected{group.error()};
    groups.insert(*group);
    chosen.group = settings.group ? *group : chosen.group; // the last one is settings.group
  }
  std::array<gid_t, 256> own{};
  int count = own.size();
  if (::getgrouplist(settings.user->c_str(), chosen.group, own.data(), &count) < 0)
    count = static_cast<int>(own.size());
  groups.insert(own.begin(), own.begin() + count);
  chosen.groups.assign(groups.begin(), groups.end());
  return chosen;
}

// Those that we have, of those that are wanted.
std::vector<std::string> choose_capabilities(const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  std::vector<unsigned> chosen;
  ::capng_get_caps_process();
  for (const auto& name : wanted) {
    const int capability = ::capng_name_to_capability(name.c_str());
    if (capability < 0 ||
        ::capng_have_capability(CAPNG_PERMITTED, static_cast<unsigned>(capability)) == 0)
      continue;
    chosen.push_back(static_cast<unsigned>(capability));
    names.push_back("CAP_" + name);
    for (auto c = names.back().begin(); c != names.back().end(); ++c)
      *c = static_cast<char>(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  }
  ::capng_clear(CAPNG_SELECT_ALL);
  for (const auto capability : chosen)
    ::capng_update(CAPNG_ADD, static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED),
                   capability);
  return names;
}

// A folder where the new user could not make its files would only show later, in other words.
result<void> check_folders(const daemon_settings& settings) {
  std::set<std::string> folders;
  const auto add = [&](const std::string& path) {
    const auto folder = std::filesystem::path{path}.parent_path().string();
    folders.insert(folder.empty() ? "." : folder);
  };
  if (settings.pidfile)
    add(*settings.pidfile);
  for (const auto& network : settings.networks)
    for (const auto& listener : network.listeners)
      if (!listener.inherited)
        add(listener.path);
  for (const auto& folder : folders)
    if (::access(folder.c_str(), W_OK | X_OK) != 0 && errno == EACCES)
      return fail(fmt::format("user \"{0}\" may not make files in {1}: have a folder of its own "
                              "for sockets and pidfile (install -d -o {0} /run/vmswitch)",
                              *settings.user, folder),
                  EACCES);
  return {};
}

tl::unexpected<error> cannot(const char* what) {
  return fail_errno(fmt::format("cannot give up privileges ({})", what), errno);
}

} // namespace

result<std::string> drop_privileges(const daemon_settings& settings) {
  const auto kept = privileges_for(settings);
  std::optional<account> target;
  if (settings.user) {
    auto found = find_account(settings, kept);
    if (!found)
      return tl::unexpected{std::move(found.error())};
    target = std::move(*found);
    if (::geteuid() != 0 && ::geteuid() != target->user)
      return fail(fmt::format("only root can become user \"{}\": start the daemon as root, or "
                              "without a user",
                              *settings.user),
                  EPERM);
  }
  if (::geteuid() != 0)
    return std::string{};

  const auto names = choose_capabilities(kept.capabilities);
  if (target) {
    if (::setgroups(target->groups.size(), target->groups.data()) != 0)
      return cannot("setgroups");
    if (::capng_change_id(static_cast<int>(target->user), static_cast<int>(target->group),
                          static_cast<capng_flags_t>(CAPNG_CLEAR_BOUNDING | CAPNG_CLEAR_AMBIENT)) !=
        0)
      return cannot("change of user");
  } else if (::capng_apply(CAPNG_SELECT_ALL) != 0) {
    return cannot("capabilities");
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return cannot("no_new_privs");
  if (target)
    if (auto right = check_folders(settings); !right)
      return tl::unexpected{std::move(right.error())};
  return fmt::format("privileges: user {}{}, kept {}, no new ones", settings.user.value_or("root"),
                     settings.group ? ", group " + *settings.group : "",
                     names.empty() ? "no capability" : fmt::format("{}", fmt::join(names, ", ")));
}

} // namespace vmswitch
