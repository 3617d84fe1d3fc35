#include "app/control/control_path.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vmswitch {

namespace {

constexpr std::string_view system_socket = "/run/vmswitch/control.sock";

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

} // namespace

std::string usual_control_path(uid_t user, const char* override, const char* runtime_folder) {
  if (override != nullptr && *override != '\0')
    return std::string_view{override} == "none" ? std::string{} : std::string{override};
  if (user == 0)
    return std::string{system_socket};
  if (runtime_folder != nullptr && *runtime_folder == '/')
    return fmt::format("{}/vmswitch/control.sock", runtime_folder);
  return fmt::format("/tmp/vmswitch-{}/control.sock", user);
}

std::string usual_control_path() {
  return usual_control_path(::geteuid(), std::getenv("VMSWITCH_CONTROL"),
                            std::getenv("XDG_RUNTIME_DIR"));
}

result<void> make_control_folder(const std::string& socket, uid_t owner) {
  const auto folder = std::filesystem::path{socket}.parent_path().string();
  if (folder.empty())
    return {};
  const bool is_private = !folder.starts_with("/run/");
  const mode_t mode = is_private ? 0700 : 0755;
  if (::mkdir(folder.c_str(), mode) == 0) {
    if (owner != ::geteuid() && ::lchown(folder.c_str(), owner, static_cast<gid_t>(-1)) != 0)
      return fail_errno(fmt::format("cannot give the folder {} to uid {}", folder, owner), errno);
    return {};
  }
  if (errno != EEXIST)
    return fail_errno(fmt::format("cannot make the folder {}", folder), errno);
  if (!folder.starts_with("/tmp/"))
    return {};
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != owner ||
      (status.st_mode & 022) != 0)
    return fail(fmt::format("{} is not a folder that only uid {} can write to: somebody else may "
                            "have made it",
                            folder, owner));
  return {};
}

void prepare_control_folder(const daemon_settings& settings) {
  if (settings.control.path || settings.control.usual.empty() || !settings.user || ::geteuid() != 0)
    return;
  const passwd* user = ::getpwnam(settings.user->c_str()); // no other thread is there yet
  if (user != nullptr)
    static_cast<void>(make_control_folder(settings.control.usual, user->pw_uid));
}

std::string find_control_socket() {
  auto own = usual_control_path();
  if (own.empty() || is_there(own))
    return own;
  if (const auto other = fmt::format("/tmp/vmswitch-{}/control.sock", ::geteuid());
      ::geteuid() != 0 && is_there(other))
    return other; // the daemon was started without a session
  if (const char* set = std::getenv("VMSWITCH_CONTROL"); set == nullptr || *set == '\0')
    if (is_there(std::string{system_socket}))
      return std::string{system_socket};
  return own;
}

} // namespace vmswitch
