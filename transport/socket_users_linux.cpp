#include "transport/socket_users.hpp"

#include <cstdio>
#include <memory>

#include <sys/stat.h>

namespace vmswitch {

std::optional<unsigned> socket_users(int fd) {
  struct stat self {};
  if (::fstat(fd, &self) != 0)
    return std::nullopt;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> list{std::fopen("/proc/net/unix", "re"),
                                                             std::fclose};
  if (!list)
    return std::nullopt;
  // Names are printed as they are: one may hold a line that looks like ours. So there must be
  // exactly one.
  std::optional<unsigned> found;
  char line[256];
  bool whole = true;
  while (std::fgets(line, sizeof line, list.get())) {
    const bool begins = whole;
    whole = false;
    for (const char* at = line; *at != '\0'; ++at)
      whole = *at == '\n';
    unsigned users = 0;
    unsigned long inode = 0;
    if (begins && std::sscanf(line, "%*[^:]: %x %*x %*x %*x %*x %lu", &users, &inode) == 2 &&
        inode == self.st_ino) {
      if (found)
        return std::nullopt;
      found = users;
    }
  }
  return found;
}

} // namespace vmswitch
