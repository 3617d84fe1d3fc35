#include <cstdio>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/tap/tap_models.hpp"
#include "transport/unix_address.hpp"

using namespace vmswitch;

namespace {

int complain(const std::string& text) {
  std::fprintf(stderr, "vmswitch-tap-model: %s\n", text.c_str());
  return 1;
}

// Connects, or is the one that is connected to, once.
owned_fd connected(const std::string& path, bool listens) {
  const auto address = unix_address::from_path(path);
  owned_fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!address)
    return {};
  if (!listens)
    return ::connect(socket.get(), address->data(), address->length()) == 0 ? std::move(socket)
                                                                            : owned_fd{};
  if (::bind(socket.get(), address->data(), address->length()) != 0 ||
      ::listen(socket.get(), 1) != 0)
    return {};
  return owned_fd{::accept(socket.get(), nullptr, nullptr)};
}

} // namespace

// relay TAP TAP; vm TAP SOCKET; listen TAP SOCKET
int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 3)
    return complain("relay TAP TAP, vm TAP SOCKET or listen TAP SOCKET");
  auto tap = bench::open_tap(words[1]);
  if (!tap)
    return complain(tap.error().text);
  if (words[0] == "relay") {
    auto other = bench::open_tap(words[2]);
    if (!other)
      return complain(other.error().text);
    bench::run_tap_relay(tap->get(), other->get());
    return 1;
  }
  const auto socket = connected(words[2], words[0] == "listen");
  if (!socket)
    return complain("cannot connect by " + words[2]);
  bench::run_tap_vm(tap->get(), socket.get());
  return 0;
}
