#include "app/sd_notify.hpp"

#include <cstddef>
#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "transport/owned_fd.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// A service manager: receives datagrams at a path or, with a NUL in front, at an abstract name.
class service_manager {
public:
  explicit service_manager(const std::string& name) : fd_{::socket(AF_UNIX, SOCK_DGRAM, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    REQUIRE(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) == 0);
  }
  std::string next() {
    char text[4096];
    const auto count = ::recv(fd_.get(), text, sizeof text, MSG_DONTWAIT);
    return count < 0 ? "(nothing)" : std::string{text, static_cast<std::size_t>(count)};
  }

private:
  owned_fd fd_;
};

} // namespace

TEST_CASE("readiness, status and stopping arrive at the path in NOTIFY_SOCKET") {
  const temporary_folder folder;
  service_manager manager{folder / "notify"};
  const service_notifier notifier{folder / "notify"};
  CHECK(notifier.ready("2 networks").has_value());
  CHECK(manager.next() == "READY=1\nSTATUS=2 networks");
  CHECK(notifier.status("3 VMs").has_value());
  CHECK(manager.next() == "STATUS=3 VMs");
  CHECK(notifier.stopping().has_value());
  CHECK(manager.next() == "STOPPING=1");
}

TEST_CASE("an abstract address begins with @") {
  const std::string name = "vmswitch-test-" + std::to_string(::getpid());
  service_manager manager{std::string(1, '\0') + name};
  CHECK(service_notifier{"@" + name}.ready("").has_value());
  CHECK(manager.next() == "READY=1\nSTATUS=");
}

TEST_CASE("the address is taken from the environment") {
  const temporary_folder folder;
  service_manager manager{folder / "notify"};
  ::setenv("NOTIFY_SOCKET", (folder / "notify").c_str(), 1);
  CHECK(service_notifier::from_environment().stopping().has_value());
  CHECK(manager.next() == "STOPPING=1");
  ::unsetenv("NOTIFY_SOCKET");
  CHECK(service_notifier::from_environment().stopping().has_value());
  CHECK(manager.next() == "(nothing)");
}

TEST_CASE("without a service manager nothing fails") {
  CHECK(service_notifier{std::nullopt}.ready("x").has_value());
  CHECK(service_notifier{""}.stopping().has_value());
}

TEST_CASE("hostile: a newline in the status does not become another assignment") {
  const temporary_folder folder;
  service_manager manager{folder / "notify"};
  CHECK(service_notifier{folder / "notify"}.status("a\nMAINPID=1").has_value());
  CHECK(manager.next() == "STATUS=a MAINPID=1");
}

TEST_CASE("an address that cannot be one, or where nobody listens, is an error and no crash") {
  for (const auto& address :
       {std::string{"relative"}, "/" + std::string(200, 'x'), std::string{"/nonexistent/notify"}}) {
    const auto sent = service_notifier{address}.ready("");
    REQUIRE_FALSE(sent.has_value());
    CHECK(sent.error().text.find(address) != std::string::npos);
  }
}
