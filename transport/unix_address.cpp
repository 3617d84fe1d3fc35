#include "transport/unix_address.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace vmswitch {

namespace {
constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
}

unix_address::unix_address(std::string_view name) noexcept : size_{name.size()} {
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, name.data(), name.size());
}

result<unix_address> unix_address::from_path(std::string_view path) {
  if (path.empty())
    return fail("the socket path is empty");
  if (path.find('\0') != std::string_view::npos)
    return fail("the socket path contains a NUL byte");
  const auto last = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  if (last.empty() || last == "." || last == "..")
    return fail(
        fmt::format("the socket path {} is that of a folder: add a name for the socket", path));
  if (path.size() > longest_path)
    return fail(
        fmt::format("the socket path {} is {} bytes long, and this system takes at most {}: "
                    "choose a shorter one",
                    path, path.size(), longest_path));
  return unix_address{path};
}

std::string_view unix_address::name_in(const sockaddr_un& address, socklen_t length) noexcept {
  if (length <= path_offset)
    return {};
  const std::size_t size = std::min(length - path_offset, sizeof address.sun_path);
  if (address.sun_path[0] == '\0')
    return size > 1 ? std::string_view{address.sun_path, size} : std::string_view{};
  return {address.sun_path, ::strnlen(address.sun_path, size)};
}

unix_address unix_address::from_kernel(const sockaddr_un& address, socklen_t length) noexcept {
  const auto name = name_in(address, length);
  return name.empty() ? unix_address{} : unix_address{name};
}

socklen_t unix_address::length() const noexcept {
  // A path counts its NUL where there is room for one; the length of an abstract name is exact.
  const bool with_nul = !abstract() && size_ < sizeof address_.sun_path;
  return static_cast<socklen_t>(path_offset + size_ + (with_nul ? 1 : 0));
}

std::string to_string(const unix_address& address) {
  if (address.unnamed())
    return "(unnamed)";
  std::string text = address.abstract() ? "@" : "";
  for (const char c : address.name().substr(address.abstract() ? 1 : 0)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += c;
  }
  return text;
}

} // namespace vmswitch
