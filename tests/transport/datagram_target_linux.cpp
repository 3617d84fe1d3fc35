#include "transport/datagram_target.hpp"

#include <array>
#include <filesystem>

#include <cstring>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/transport/datagram_fixture.hpp"
#include "tests/transport/wire.hpp"
#include "transport/datagram_link.hpp"
#include "transport/unix_socket.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr uid_t somebody = 1234567;

unix_address named(const std::string& path) {
  return unix_address::from_path(path).value();
}

owned_fd bound(const std::string& path) {
  owned_fd made = open_unix_socket(SOCK_DGRAM, blocking::no);
  REQUIRE(bind_unix_socket(made.get(), named(path)) == 0);
  return made;
}

auto descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/dev/fd"}, {});
}

// A frame, and with it as many descriptors as a control message holds.
void send_with_descriptors(const owned_fd& from, bytes frame) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  iovec data{frame.data(), frame.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(8 * sizeof(int));
  for (std::size_t i = 0; i < 8; ++i) {
    const int fd = from.get();
    std::memcpy(CMSG_DATA(rights) + i * sizeof fd, &fd, sizeof fd);
  }
  REQUIRE(::sendmsg(from.get(), &message, 0) == static_cast<ssize_t>(frame.size()));
}

} // namespace

TEST_SUITE("datagram_target") {

  TEST_CASE("a client's own socket is found, and is what frames are sent to") {
    datagram_fixture f;
    const auto vm = f.met_client("vm");
    const auto target = f.target("vm");
    CHECK(target->name() == named(f.folder / "vm"));
    bytes data = wire(pattern(60));
    const iovec range{data.data(), data.size()};
    CHECK(f.endpoint->send(&target->address(), {&range, 1}).bytes == data.size());
    CHECK(receive_all(vm) == data);
  }

  TEST_CASE("a symbolic link in the place of a client's socket is not followed") {
    const temporary_folder folder;
    const auto foreign = bound(folder / "foreign");
    std::filesystem::create_symlink(folder / "foreign", folder / "vm");
    const auto found = datagram_target::find(named(folder / "vm"), ::getuid());
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().text.find("there is no socket at") == 0);
  }

  TEST_CASE("a socket of another user than the sender is refused") {
    const temporary_folder folder;
    const auto foreign = bound(folder / "foreign");
    const auto found = datagram_target::find(named(folder / "foreign"), somebody);
    REQUIRE_FALSE(found.has_value());
    CHECK(found.error().text.find("but uid 1234567 sends in its name") != std::string::npos);
    CHECK_FALSE(datagram_target::find(named(folder / "foreign"), std::nullopt).has_value());
    // Nor is it by a folder that leads elsewhere by now.
    std::filesystem::create_symlink(folder.path(), folder / "moved");
    const auto moved = folder / "moved/foreign";
    CHECK_FALSE(datagram_target::find(named(moved), somebody).has_value());
  }

  TEST_CASE("no file, and a file that is no socket, are refused") {
    const temporary_folder folder;
    CHECK_FALSE(datagram_target::find(named(folder / "nothing"), ::getuid()).has_value());
    CHECK_FALSE(datagram_target::find(named("/dev/null"), ::getuid()).has_value());
  }

  TEST_CASE("whatever takes the name later, the client is meant that was found") {
    datagram_fixture f;
    const auto vm = f.met_client("vm");
    const auto target = f.target("vm");
    const auto foreign = bound(f.folder / "foreign");
    std::filesystem::rename(f.folder / "foreign", f.folder / "vm");
    bytes data = wire(pattern(60));
    const iovec range{data.data(), data.size()};
    CHECK(f.endpoint->send(&target->address(), {&range, 1}).bytes == data.size());
    CHECK(receive_all(vm) == data);
    REQUIRE(f.receive() == datagram_status::drained);
    send(vm, pattern(60));
    f.receive();
    REQUIRE(f.socket->dedicate(*target, *f.endpoint) == datagram_endpoint::dedication::both);
    CHECK(f.endpoint->send(nullptr, {&range, 1}).bytes == data.size());
    CHECK(receive_all(vm) == data);
    CHECK(receive_all(foreign).empty());
  }

  TEST_CASE("an abstract name is answered if its socket is the sender's") {
    const owned_fd vm = open_unix_socket(SOCK_DGRAM, blocking::no);
    sockaddr_un automatic{};
    automatic.sun_family = AF_UNIX; // Linux chooses an abstract name (unix(7), "autobind")
    REQUIRE(::bind(vm.get(), reinterpret_cast<sockaddr*>(&automatic), sizeof(sa_family_t)) == 0);
    socklen_t length = sizeof automatic;
    REQUIRE(::getsockname(vm.get(), reinterpret_cast<sockaddr*>(&automatic), &length) == 0);
    const auto name = unix_address::from_kernel(automatic, length);
    const auto found = datagram_target::find(name, ::getuid());
    REQUIRE(found.has_value());
    CHECK((*found)->address() == name);
    CHECK_FALSE(datagram_target::find(name, somebody).has_value());
    automatic.sun_path[1] = 'x'; // nobody's
    const auto other = unix_address::from_kernel(automatic, length);
    CHECK_FALSE(datagram_target::find(other, ::getuid()).has_value());
  }

  TEST_CASE("a datagram's user is known on each socket that the path leads to") {
    datagram_fixture f;
    for (const char* name : {"a", "b", "c"}) {
      const auto vm = f.met_client(name);
      CHECK(f.from(name).sender == ::getuid());
    }
  }

  TEST_CASE("descriptors that come with a frame are never taken, the frame is") {
    datagram_fixture f;
    const auto vm = f.met_client("vm");
    auto before = descriptors();
    send_with_descriptors(vm, pattern(60));
    f.receive();
    CHECK(frames_of(f.from("vm").frames) == frame_list{pattern(60)});
    CHECK(f.from("vm").sender == ::getuid());
    CHECK(descriptors() == before);
    send(vm, pattern(60));
    f.receive();
    REQUIRE(f.socket->dedicate(*f.target("vm"), *f.endpoint) ==
            datagram_endpoint::dedication::both);
    datagram_link link{f.socket, f.target("vm"), f.endpoint};
    link.dedicate(true);
    before = descriptors();
    send_with_descriptors(vm, pattern(60));
    bytes space(64 * 1024);
    CHECK(link.read(space).bytes == prefix_size + 60);
    CHECK(descriptors() == before);
  }

  TEST_CASE("a daemon knows the names of its own sockets, the replaced ones too") {
    const temporary_folder folder;
    {
      datagram_fixture f;
      const auto first = f.met_client("first");
      const auto kept = f.endpoint;
      const auto second = f.met_client("second");
      CHECK(own_name::includes(named(f.folder / "s")));
      CHECK(own_name::includes(named(f.folder / "~")));
      CHECK_FALSE(own_name::includes(named(f.folder / "first")));
    }
    const auto vm = bound(folder / "s");
    CHECK_FALSE(own_name::includes(named(folder / "s")));
    const own_name known{vm.get()};
    CHECK(own_name::includes(named(folder / "s")));
  }

} // TEST_SUITE
