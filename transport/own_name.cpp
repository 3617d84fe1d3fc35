#include "transport/own_name.hpp"

#include <mutex>
#include <unordered_map>

namespace vmswitch {

namespace {

struct name_counts {
  std::mutex mutex;
  std::unordered_map<unix_address, std::size_t> sockets; // guarded by mutex
};

name_counts& names() {
  static name_counts all;
  return all;
}

} // namespace

own_name::own_name(int fd) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0)
    name_ = unix_address::from_kernel(address, length);
  const std::lock_guard lock{names().mutex};
  ++names().sockets[name_];
}

own_name::~own_name() {
  const std::lock_guard lock{names().mutex};
  const auto found = names().sockets.find(name_);
  if (--found->second == 0)
    names().sockets.erase(found);
}

bool own_name::includes(const unix_address& name) {
  const std::lock_guard lock{names().mutex};
  return names().sockets.contains(name);
}

} // namespace vmswitch
