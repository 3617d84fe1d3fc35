#include "app/pidfile.hpp"

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/app/config_support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

std::string own_pid_line() {
  return std::to_string(::getpid()) + "\n";
}

// A process that publishes the pidfile and stays; killed as by kill -9.
class other_daemon {
public:
  explicit other_daemon(const std::string& path) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      auto file = pidfile::acquire(path);
      const bool published = file && file->publish();
      [[maybe_unused]] const auto n = ::write(ends[1], published ? "y" : "n", 1);
      while (published)
        ::pause();
      ::_exit(1);
    }
    char answer = 0;
    REQUIRE(::read(ends[0], &answer, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
    REQUIRE(answer == 'y');
  }
  ~other_daemon() { kill(); }
  void kill() {
    if (child_ <= 0)
      return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  pid_t pid() const { return child_; }

private:
  pid_t child_ = -1;
};

} // namespace

TEST_CASE("the pidfile is not there before it is published, since it means: ready") {
  const temporary_folder folder;
  auto file = pidfile::acquire(folder / "pid");
  REQUIRE(file.has_value());
  CHECK(folder.count() == 0);
  REQUIRE(file->publish().has_value());
  CHECK(folder.read("pid") == own_pid_line());
  CHECK(folder.count() == 1);
}

TEST_CASE("the pidfile is removed at the end") {
  const temporary_folder folder;
  {
    auto file = pidfile::acquire(folder / "pid");
    REQUIRE(file.has_value());
    REQUIRE(file->publish().has_value());
  }
  CHECK(folder.count() == 0);
}

TEST_CASE("moving the owner neither removes the file nor forgets to") {
  const temporary_folder folder;
  {
    auto file = pidfile::acquire(folder / "pid");
    REQUIRE(file->publish().has_value());
    const std::optional<pidfile> moved{std::move(*file)};
    CHECK(folder.has("pid"));
  }
  CHECK_FALSE(folder.has("pid"));
}

TEST_CASE("a second daemon is refused, with the process id of the first") {
  const temporary_folder folder;
  const other_daemon first{folder / "pid"};
  const auto second = pidfile::acquire(folder / "pid");
  REQUIRE_FALSE(second.has_value());
  CHECK(contains(second.error().text, "process " + std::to_string(first.pid()) + " is running"));
  CHECK(folder.read("pid") == std::to_string(first.pid()) + "\n");
}

TEST_CASE("a second daemon that came between start and readiness is refused") {
  const temporary_folder folder;
  auto slow = pidfile::acquire(folder / "pid");
  REQUIRE(slow.has_value());
  {
    const other_daemon fast{folder / "pid"};
    const auto published = slow->publish();
    REQUIRE_FALSE(published.has_value());
    CHECK(contains(published.error().text, "process " + std::to_string(fast.pid())));
    CHECK(folder.count() == 1);
  }
}

TEST_CASE("the file of a daemon that was killed is taken over") {
  const temporary_folder folder;
  other_daemon killed{folder / "pid"};
  killed.kill();
  REQUIRE(folder.has("pid"));
  auto file = pidfile::acquire(folder / "pid");
  REQUIRE(file.has_value());
  CHECK_FALSE(folder.has("pid")); // nobody is to take it for readiness
  REQUIRE(file->publish().has_value());
  CHECK(folder.read("pid") == own_pid_line());
}

TEST_CASE("a file that is no longer ours is left alone at the end") {
  const temporary_folder folder;
  {
    auto file = pidfile::acquire(folder / "pid");
    REQUIRE(file->publish().has_value());
    std::filesystem::remove(folder / "pid");
    folder.write("pid", "4711\n");
  }
  CHECK(folder.read("pid") == "4711\n");
}

TEST_CASE("a refused daemon does not remove the file of the one that runs") {
  const temporary_folder folder;
  const other_daemon first{folder / "pid"};
  CHECK_FALSE(pidfile::acquire(folder / "pid").has_value());
  CHECK(folder.has("pid"));
}

TEST_CASE("hostile: a symbolic link is not followed, and its target not touched") {
  const temporary_folder folder;
  folder.write("target", "4711\n");
  std::filesystem::create_symlink(folder / "target", folder / "pid");
  const auto refused = pidfile::acquire(folder / "pid");
  REQUIRE_FALSE(refused.has_value());
  CHECK(contains(refused.error().text, "is no pidfile"));
  CHECK(folder.read("target") == "4711\n");
  CHECK(folder.has("pid"));

  // The link appears between start and readiness, and leads nowhere yet.
  std::filesystem::remove(folder / "pid");
  auto file = pidfile::acquire(folder / "pid");
  REQUIRE(file.has_value());
  std::filesystem::create_symlink(folder / "new", folder / "pid");
  CHECK_FALSE(file->publish().has_value());
  CHECK_FALSE(folder.has("new"));
}

TEST_CASE("a file that is no pidfile is never removed") {
  const temporary_folder folder;
  for (const auto* text :
       {"dear diary\n", "12x\n", "4711\n4712\n", "11111111111111111111111111111111111111111111"}) {
    folder.write("pid", text);
    const auto file = pidfile::acquire(folder / "pid");
    REQUIRE_FALSE(file.has_value());
    CHECK(contains(file.error().text, "is no pidfile"));
    CHECK(folder.read("pid") == text);
  }
}

TEST_CASE("an empty stale file is taken over") {
  const temporary_folder folder;
  folder.write("pid", "");
  CHECK(pidfile::acquire(folder / "pid").has_value());
}

TEST_CASE("hostile: a folder or a FIFO in place of the file is refused without waiting") {
  const temporary_folder folder;
  CHECK_FALSE(pidfile::acquire(folder / "").has_value());
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK_FALSE(pidfile::acquire(folder / "fifo").has_value());
  CHECK(folder.has("fifo"));
}

TEST_CASE("a folder that is not there, or not ours, is named before anything is started") {
  const temporary_folder folder;
  const auto missing = pidfile::acquire(folder / "no/pid");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == ENOENT);
  CHECK(contains(missing.error().text, "mkdir -p " + (folder / "no")));
  const bool is_root = ::geteuid() == 0; // who may do everything
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  if (is_root)
    REQUIRE(::seteuid(65534) == 0);
  const auto closed = pidfile::acquire(folder / "pid");
  if (is_root)
    REQUIRE(::seteuid(0) == 0);
  ::chmod(folder.path().c_str(), 0755);
  REQUIRE_FALSE(closed.has_value());
  CHECK(closed.error().code == EACCES);
  CHECK(contains(closed.error().text, folder / "pid"));
}

TEST_CASE("a folder that goes away meanwhile is named when the file is published") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder / "gone");
  auto file = pidfile::acquire(folder / "gone/pid");
  REQUIRE(file.has_value());
  std::filesystem::remove(folder / "gone");
  const auto published = file->publish();
  REQUIRE_FALSE(published.has_value());
  CHECK(published.error().code == ENOENT);
  CHECK(contains(published.error().text, folder / "gone/pid"));
}
