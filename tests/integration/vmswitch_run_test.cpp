// vmswitch-run as people call it: a real process, a real socket, a real shell as the command.

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/child_process.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/owned_fd.hpp"
#include "transport/unix_address.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

std::string drain(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t count; (count = ::read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(count));
  return text;
}

struct outcome {
  int code = -1;
  std::string error; // its stderr
};

enum class descriptor_3 { closed, in_use };

// Runs vmswitch-run to its end, with descriptor 3 closed or in use as a caller may leave it.
outcome run(std::initializer_list<std::string> arguments,
            descriptor_3 state = descriptor_3::closed) {
  child_process::plan how{{VMSWITCH_BIN_DIR "/vmswitch-run"}};
  how.command.insert(how.command.end(), arguments);
  how.prepare = [state] {
    for (int fd = 3; fd < 64; ++fd)
      ::close(fd);
    if (state == descriptor_3::in_use)
      ::dup2(::open("/dev/null", O_RDWR), 3);
  };
  auto child = child_process::start(how);
  REQUIRE(child);
  const auto code = child->wait(child_process::clock::now() + std::chrono::minutes{1});
  return {code.value_or(-1), child->error_output()};
}

class listening_socket {
public:
  explicit listening_socket(const std::string& path) : fd_{::socket(AF_UNIX, SOCK_STREAM, 0)} {
    const auto address = unix_address::from_path(path);
    REQUIRE(::bind(fd_.get(), address->data(), address->length()) == 0);
    REQUIRE(::listen(fd_.get(), 8) == 0);
  }
  // What the next client sent until it closed; "(nobody)" if none came.
  std::string next_message() {
    pollfd waiting{fd_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) != 1)
      return "(nobody)";
    const owned_fd client{::accept(fd_.get(), nullptr, nullptr)};
    return drain(client.get());
  }

private:
  owned_fd fd_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the command finds the daemon's socket at descriptor 3, whether 3 was free or in use") {
  const temporary_folder folder;
  listening_socket daemon{folder / "s"};
  for (const auto state : {descriptor_3::closed, descriptor_3::in_use}) {
    const auto out =
        run({folder / "s", "--", "sh", "-c", "test -S /dev/fd/3 && echo frame >&3"}, state);
    CHECK(out.code == 0);
    CHECK(out.error.empty());
    CHECK(daemon.next_message() == "frame\n");
  }
}

TEST_CASE("the command inherits the connection once, and nothing else beyond stderr") {
  const temporary_folder folder;
  listening_socket daemon{folder / "s"};
  for (const auto state : {descriptor_3::closed, descriptor_3::in_use}) {
    const auto out = run(
        {folder / "s", "sh", "-c", "for n in 4 5 6 7 8; do test -S /dev/fd/$n && exit 1; done; :"},
        state);
    CHECK(out.code == 0);
  }
}

TEST_CASE("the exit code is the command's, and its options are its own") {
  const temporary_folder folder;
  listening_socket daemon{folder / "s"};
  CHECK(run({folder / "s", "sh", "-c", "exit 42"}).code == 42);
  CHECK(run({folder / "s", "--", "sh", "-c", "test \"$1\" = --help", "sh", "--help"}).code == 0);
}

TEST_CASE("a command that does not exist is 127, one that cannot run is 126") {
  const temporary_folder folder;
  listening_socket daemon{folder / "s"};
  const auto missing = run({folder / "s", "vmswitch-no-such-command"});
  CHECK(missing.code == 127);
  CHECK(contains(missing.error, "vmswitch-no-such-command"));
  CHECK(run({folder / "s", folder.write("data", "not a program")}).code == 126);
}

TEST_CASE("without a daemon the command is not run, and the error says how to start one") {
  const temporary_folder folder;
  const auto out = run({folder / "s", "touch", folder / "ran"});
  CHECK(out.code == 69);
  CHECK(contains(out.error, "start it with: vmswitchd " + (folder / "s")));
  CHECK_FALSE(folder.has("ran"));
}

TEST_CASE("a daemon that was killed and left its socket is no daemon") {
  const temporary_folder folder;
  { const listening_socket daemon{folder / "s"}; }
  CHECK(run({folder / "s", "true"}).code == 69);
}

TEST_CASE("a socket path that cannot be one, and a missing command, are usage errors") {
  CHECK(run({std::string(200, 'x'), "true"}).code == 64);
  CHECK(run({"/s"}).code == 64);
  CHECK(run({}).code == 64);
}
