#include "vmnet/dns/resolver_list.hpp"

#include <array>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

constexpr std::size_t largest_file = 65536;

std::string content_of(const std::string& path) {
  const owned_fd fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  std::string text;
  std::array<char, 4096> piece;
  while (fd && text.size() < largest_file) {
    const auto count = ::read(fd.get(), piece.data(), piece.size());
    if (count <= 0)
      break;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

} // namespace

bool resolver_list::refresh(time_point now) {
  if (looked_ != time_point::min() && now - looked_ < look_interval)
    return false;
  looked_ = now;
  auto content = content_of(path_);
  if (content == content_)
    return false;
  content_ = std::move(content);
  auto servers = parse_resolv_conf(*content_);
  if (servers == servers_)
    return false;
  servers_ = std::move(servers);
  return true;
}

} // namespace vmswitch
