#include "transport/listening_socket.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include <cerrno>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "transport/connect.hpp"
#include "transport/descriptor_reserve.hpp"
#include "transport/unix_socket.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct umask_guard {
  explicit umask_guard(mode_t mask) : before{::umask(mask)} {}
  ~umask_guard() { ::umask(before); }
  mode_t before;
};

// Root may do everything, so refusals are tried as nobody.
struct unprivileged {
  unprivileged() {
    if (root)
      REQUIRE(::seteuid(65534) == 0);
  }
  ~unprivileged() {
    if (root)
      CHECK(::seteuid(0) == 0);
  }
  const bool root = ::geteuid() == 0;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A socket file whose process was killed.
void leave_stale_socket(const std::string& path, int type) {
  const owned_fd socket = open_unix_socket(type, blocking::no);
  REQUIRE(bind_unix_socket(socket.get(), unix_address::from_path(path).value()) == 0);
  if (type == SOCK_STREAM)
    REQUIRE(::listen(socket.get(), 1) == 0);
}

std::string error_of(const listen_config& config) {
  const auto opened = listening_socket::open(config);
  REQUIRE_FALSE(opened.has_value());
  return opened.error().text;
}

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/dev/fd"}, {});
}

constexpr listen_type both_types[] = {listen_type::stream, listen_type::dgram};

} // namespace

TEST_SUITE("listening_socket") {

  TEST_CASE("a client connects, and is accepted non-blocking and closed on exec") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    CHECK(listening.accept().status == accept_status::would_block);
    const auto client = connect_stream(folder / "s");
    REQUIRE(client.has_value());
    const auto accepted = listening.accept();
    REQUIRE(accepted.status == accept_status::accepted);
    CHECK((::fcntl(accepted.connection.get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(accepted.connection.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(listening.accept().status == accept_status::would_block);
  }

  TEST_CASE("150 clients may wait to be accepted") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    std::vector<owned_fd> clients;
    const auto address = unix_address::from_path(folder / "s").value();
    for (int i = 0; i < 150; ++i) {
      clients.push_back(open_unix_socket(SOCK_STREAM, blocking::no));
      REQUIRE(::connect(clients.back().get(), address.data(), address.length()) == 0);
    }
  }

  TEST_CASE("the file gets mode 0600, whatever the umask") {
    for (const mode_t mask : {0000, 0022, 0077, 0777})
      for (const listen_type type : both_types) {
        CAPTURE(mask);
        const umask_guard guard{mask};
        const temporary_folder folder;
        const auto listening = listening_socket::open({.type = type, .path = folder / "s"});
        REQUIRE(listening.has_value());
        CHECK(mode_of(folder / "s") == 0600);
      }
  }

  TEST_CASE("between bind and the final mode nobody else has access") {
    const umask_guard guard{0};
    const temporary_folder folder;
    const owned_fd socket = open_unix_socket(SOCK_STREAM, blocking::no);
    REQUIRE(bind_unix_socket(socket.get(), unix_address::from_path(folder / "s").value()) == 0);
    CHECK(mode_of(folder / "s") == 0600);
  }

  TEST_CASE("group and mode are as configured (socket_vmnet#8)") {
    const umask_guard guard{0077};
    const temporary_folder folder;
    // Root may give the file to any group, others to their own.
    const gid_t other = ::geteuid() == 0 ? 1 : ::getegid();
    const group* entry = ::getgrgid(other);
    REQUIRE(entry);
    const std::string name = entry->gr_name;
    const auto plain = listening_socket::open({.path = folder / "a", .group = name});
    REQUIRE(plain.has_value());
    struct stat status {};
    REQUIRE(::lstat((folder / "a").c_str(), &status) == 0);
    CHECK(status.st_gid == other);
    CHECK(mode_of(folder / "a") == 0660);
    const auto open_to_all =
        listening_socket::open({.path = folder / "b", .group = name, .mode = 0666});
    REQUIRE(open_to_all.has_value());
    CHECK(mode_of(folder / "b") == 0666);
  }

  TEST_CASE("a missing group is an error that says what to do, and leaves no file") {
    const temporary_folder folder;
    const auto text = error_of({.path = folder / "s", .group = "no-such-group"});
    CHECK(mentions(text, "no group named no-such-group"));
    CHECK(mentions(text, "groupadd"));
    CHECK(std::filesystem::is_empty(folder.path()));
  }

  TEST_CASE("a group that the user may not use is an error, and leaves no file") {
    const temporary_folder folder;
    ::chmod(folder.path().c_str(), 0777);
    const group* entry = ::getgrgid(::getegid() == 1 ? 2 : 1);
    REQUIRE(entry);
    const std::string name = entry->gr_name;
    const unprivileged guard;
    const auto text = error_of({.path = folder / "s", .group = name});
    CHECK(mentions(text, "the group " + name));
    CHECK(mentions(text, "usermod"));
    CHECK(std::filesystem::is_empty(folder.path()));
  }

  TEST_CASE("a path that is too long is refused with the limit (vfkit#194)") {
    const temporary_folder folder;
    const auto text = error_of({.path = folder / std::string(120, 'x')});
    CHECK(mentions(text, "at most " + std::to_string(unix_address::longest_path)));
    CHECK(std::filesystem::is_empty(folder.path()));
  }

  TEST_CASE("a missing folder, a file in its place, and one without permission are told apart") {
    const temporary_folder folder;
    CHECK(mentions(error_of({.path = folder / "no/s"}), "mkdir -p " + folder / "no"));
    std::ofstream{folder / "file"};
    CHECK(mentions(error_of({.path = folder / "file/s"}), "is not a folder"));
    const unprivileged guard;
    ::chmod(folder.path().c_str(), 0500);
    CHECK(mentions(error_of({.path = folder / "s"}), "no permission"));
  }

  TEST_CASE("what kill -9 left behind is replaced (gvisor-tap-vsock#28, #485)") {
    for (const listen_type type : both_types) {
      const temporary_folder folder;
      leave_stale_socket(folder / "s", type == listen_type::stream ? SOCK_STREAM : SOCK_DGRAM);
      CHECK(listening_socket::open({.type = type, .path = folder / "s"}).has_value());
    }
  }

  TEST_CASE("a socket in use is kept, whatever its type") {
    for (const listen_type first : both_types)
      for (const listen_type second : both_types) {
        const temporary_folder folder;
        const auto alive = listening_socket::open({.type = first, .path = folder / "s"});
        REQUIRE(alive.has_value());
        CHECK(mentions(error_of({.type = second, .path = folder / "s"}),
                       "another process is listening on " + folder / "s"));
        CHECK(std::filesystem::is_socket(folder / "s"));
      }
  }

  TEST_CASE("a socket whose backlog is full is in use, and asking does not wait") {
    const temporary_folder folder;
    const auto address = unix_address::from_path(folder / "s").value();
    const owned_fd busy = open_unix_socket(SOCK_STREAM, blocking::no);
    REQUIRE(bind_unix_socket(busy.get(), address) == 0);
    REQUIRE(::listen(busy.get(), 0) == 0);
    const owned_fd waiting = open_unix_socket(SOCK_STREAM, blocking::no);
    REQUIRE(::connect(waiting.get(), address.data(), address.length()) == 0);
    CHECK(mentions(error_of({.path = folder / "s"}), "another process is listening"));
  }

  TEST_CASE("only a stale socket is removed, never another file (gvisor-tap-vsock#681)") {
    const temporary_folder folder;
    leave_stale_socket(folder / "stale", SOCK_STREAM);
    std::ofstream{folder / "file"} << "precious";
    std::filesystem::create_directory(folder / "directory");
    std::filesystem::create_symlink(folder / "stale", folder / "link");
    std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    for (const char* name : {"file", "directory", "link", "dangling", "fifo"}) {
      CAPTURE(name);
      for (const listen_type type : both_types)
        CHECK(mentions(error_of({.type = type, .path = folder / name}), "not a socket"));
      CHECK(std::filesystem::exists(std::filesystem::symlink_status(folder / name)));
    }
    CHECK(std::filesystem::is_socket(folder / "stale"));
  }

  TEST_CASE("a socket that may not be asked is kept") {
    const temporary_folder folder;
    ::chmod(folder.path().c_str(), 0777);
    leave_stale_socket(folder / "s", SOCK_STREAM);
    ::chmod((folder / "s").c_str(), 0);
    const unprivileged guard;
    CHECK(mentions(error_of({.path = folder / "s"}), "may not connect"));
    CHECK(std::filesystem::is_socket(folder / "s"));
  }

  TEST_CASE("destruction removes the file") {
    const temporary_folder folder;
    { const auto listening = listening_socket::open({.path = folder / "s"}); }
    CHECK(std::filesystem::is_empty(folder.path()));
  }

  TEST_CASE("withdrawal removes the file, and the descriptor stays") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    const auto client = connect_stream(folder / "s");
    listening.withdraw();
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK(listening.accept().status == accept_status::accepted);
  }

  TEST_CASE("a file that has taken the place of ours is kept") {
    const temporary_folder folder;
    {
      auto first = listening_socket::open({.path = folder / "s"}).value();
      std::filesystem::remove(folder / "s");
      auto second = listening_socket::open({.path = folder / "s"}).value();
      first.withdraw();
      CHECK(std::filesystem::is_socket(folder / "s"));
      std::filesystem::rename(folder / "s", folder / "moved");
      std::ofstream{folder / "s"};
    }
    CHECK(std::filesystem::is_regular_file(folder / "s"));
  }

  TEST_CASE("out of descriptors is pressure, and the client is accepted later") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    const auto client = connect_stream(folder / "s");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    {
      const owned_fd lowest_free{::dup(0)};
      none.rlim_cur = static_cast<rlim_t>(lowest_free.get());
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    const auto refused = listening.accept();
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(refused.status == accept_status::pressure);
    CHECK(refused.error == EMFILE);
    CHECK(listening.accept().status == accept_status::accepted);
  }

  TEST_CASE("the last descriptors are not for VMs") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit few = before;
    few.rlim_cur = 256;
    std::vector<owned_fd> used;
    while (used.empty() || used.back().get() < 256 - 1 - static_cast<int>(descriptor_reserve))
      used.emplace_back(::dup(0));
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto idle = listening.accept(may_take::all_but_reserve).status;
    const auto client = connect_stream(folder / "s"); // of the reserve
    const auto refused = listening.accept(may_take::all_but_reserve);
    const auto other = listening.accept();
    const auto next = connect_stream(folder / "s");
    used.pop_back();
    const auto accepted = listening.accept(may_take::all_but_reserve);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(idle == accept_status::would_block); // nobody waits
    REQUIRE(client.has_value());
    CHECK(refused.status == accept_status::pressure);
    CHECK(refused.error == EMFILE);
    CHECK(other.status == accept_status::accepted); // not a VM's
    REQUIRE(next.has_value());
    CHECK(accepted.status == accept_status::accepted);
  }

  TEST_CASE("accepting on something else fails with its error") {
    const temporary_folder folder;
    auto listening =
        listening_socket::open({.type = listen_type::dgram, .path = folder / "s"}).value();
    const auto result = listening.accept();
    CHECK(result.status == accept_status::failed);
    CHECK(result.error == EOPNOTSUPP);
  }

  TEST_CASE("1000 clients that connect and close at once leave no descriptor behind") {
    const temporary_folder folder;
    auto listening = listening_socket::open({.path = folder / "s"}).value();
    const auto before = open_descriptors();
    for (int i = 0; i < 1000; ++i) {
      CHECK(connect_stream(folder / "s").has_value());
      CHECK(listening.accept().status == accept_status::accepted);
    }
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("group and mode are changed while it listens, and given back") {
    const temporary_folder folder;
    const auto path = folder / "s";
    auto socket = listening_socket::open({listen_type::stream, path, {}, {}});
    REQUIRE(socket);
    const auto group_of_file = [&] {
      struct stat status {};
      REQUIRE(::lstat(path.c_str(), &status) == 0);
      return status.st_gid;
    };
    const auto own = group_of_file();
    const gid_t other = ::geteuid() == 0 ? 1 : ::getegid();
    const std::string name = ::getgrgid(other)->gr_name;
    REQUIRE(socket->change_access({listen_type::stream, path, name, {}}));
    CHECK(mode_of(path) == 0660);
    CHECK(group_of_file() == other);
    REQUIRE(socket->change_access({listen_type::stream, path, name, 0640}));
    CHECK(mode_of(path) == 0640);
    REQUIRE(socket->change_access({listen_type::stream, path, {}, {}}));
    CHECK(mode_of(path) == 0600);
    CHECK(group_of_file() == own);
    CHECK(connect_stream(path));
  }

  TEST_CASE("a group that cannot be given leaves group and mode as they were") {
    const temporary_folder folder;
    const auto path = folder / "s";
    auto socket = listening_socket::open({listen_type::stream, path, {}, 0666});
    REQUIRE(socket);
    const auto changed = socket->change_access({listen_type::stream, path, "no-such-group", {}});
    REQUIRE_FALSE(changed);
    CHECK(mentions(changed.error().text, "no-such-group"));
    CHECK(mode_of(path) == 0666);
    std::filesystem::remove(path);
    CHECK_FALSE(socket->change_access({listen_type::stream, path, {}, 0600}));
  }

} // TEST_SUITE
