#include "transport/unix_address.hpp"

#include <cstring>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

// What the kernel would report for these bytes of sun_path.
unix_address reported(std::string_view path_bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_bytes.data(), path_bytes.size());
  return unix_address::from_kernel(
      address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_bytes.size()));
}

} // namespace

TEST_SUITE("unix_address") {

  TEST_CASE("a path over the system's limit is refused with both numbers (vfkit#194)") {
    const std::string longest(unix_address::longest_path, 'x');
    CHECK(unix_address::from_path(longest).has_value());
    const auto refused = unix_address::from_path(longest + "y");
    REQUIRE_FALSE(refused.has_value());
    const std::string limit = std::to_string(unix_address::longest_path);
    const std::string actual = std::to_string(unix_address::longest_path + 1);
    CHECK(refused.error().text.find("at most " + limit) != std::string::npos);
    CHECK(refused.error().text.find(actual + " bytes long") != std::string::npos);
  }

  TEST_CASE("an empty path and one with a NUL byte are refused") {
    CHECK_FALSE(unix_address::from_path("").has_value());
    CHECK_FALSE(unix_address::from_path(std::string_view{"/tmp/a\0b", 8}).has_value());
  }

  TEST_CASE("a path that can only be a folder's is refused") {
    for (const auto* folder : {"/", "/tmp/", ".", "..", "/tmp/.", "a/.."})
      CHECK_FALSE(unix_address::from_path(folder).has_value());
    for (const auto* file : {"s", "./s", "/tmp/..s", "..."})
      CHECK(unix_address::from_path(file).has_value());
  }

  TEST_CASE("a reported path is the same value with and without its NUL") {
    const auto path = unix_address::from_path("/tmp/vm1").value();
    CHECK(reported(std::string_view{"/tmp/vm1\0", 9}) == path);
    CHECK(reported("/tmp/vm1") == path);
    CHECK_FALSE(reported("/tmp/vm2") == path);
    CHECK(to_string(path) == "/tmp/vm1");
    CHECK(std::hash<unix_address>{}(reported("/tmp/vm1")) == std::hash<unix_address>{}(path));
  }

  TEST_CASE("a reported path of the whole field, without a NUL, is kept whole") {
    const std::string whole(sizeof(sockaddr_un::sun_path), 'x');
    CHECK(reported(whole).name() == whole);
    CHECK(reported(whole).length() == sizeof(sockaddr_un));
    struct {
      sockaddr_un address;
      char behind[8];
    } memory;
    std::memset(&memory, 'x', sizeof memory);
    const auto beyond = static_cast<socklen_t>(sizeof(sockaddr_un) + 1); // so Linux reports it
    CHECK(unix_address::from_kernel(memory.address, beyond).name() == whole);
  }

  TEST_CASE("an abstract name keeps all its bytes and prints with @") {
    const auto address = reported(std::string_view{"\0vm\0\x01", 5});
    CHECK(address.abstract());
    CHECK(address.name().size() == 5);
    CHECK(to_string(address) == "@vm\\x00\\x01");
    CHECK_FALSE(address == reported(std::string_view{"\0vm\0", 4}));
    CHECK(address.length() == offsetof(sockaddr_un, sun_path) + 5);
  }

  TEST_CASE("a socket without a name is unnamed, however that is reported") {
    CHECK(reported("").unnamed());
    CHECK(reported(std::string_view{"\0", 1}).unnamed());
    CHECK(unix_address::from_kernel({}, 0).unnamed());
    CHECK(to_string(unix_address{}) == "(unnamed)");
  }

} // TEST_SUITE
