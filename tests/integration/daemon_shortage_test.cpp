// When the system lacks something: programs say what, end in order, and leave nothing behind.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/control_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr uid_t no_ones_id = 65433; // whose processes are these only
constexpr int cannot_create = 73, os_error = 71, unavailable = 69;
constexpr int not_loaded = 127; // the dynamic linker lacked them

child_process::plan limited(decltype(RLIMIT_NOFILE) which, rlim_t most) {
  child_process::plan how;
  how.prepare = [which, most] {
    const rlimit limit{most, most};
    ::setrlimit(which, &limit);
  };
  return how;
}

} // namespace

TEST_CASE("with too few descriptors a daemon says so and exits; it does not crash") {
  const control_lab lab;
  bool has_started = false;
  for (rlim_t most = 4; most < 64 && !has_started; ++most) {
    CAPTURE(most);
    auto daemon = lab.start_with(
        {"--control=" + lab.control(), "--pidfile=" + lab.pidfile(), "--workers=1", lab.socket()},
        limited(RLIMIT_NOFILE, most));
    poll_until([&] { return lab.folder.has("pid") || daemon.wait(); }, soon());
    has_started = !daemon.wait();
    if (has_started)
      break;
    const auto code = *daemon.wait();
    if (code == not_loaded)
      continue;
    INFO(daemon.error_output());
    CHECK((code == os_error || code == cannot_create || code == unavailable));
    CHECK((contains(daemon.error_output(), "ulimit -n") ||
           contains(daemon.error_output(), "Too many open files")));
    CHECK(lab.folder.count() == 0);
  }
  CHECK(has_started);
}

TEST_CASE("with too few threads a daemon says so and exits; it does not crash") {
  const daemon_lab lab;
  ::chmod(lab.folder.path().c_str(), 0777);
  bool has_started = false;
  for (rlim_t most = 1; most < 64 && !has_started; ++most) {
    CAPTURE(most);
    child_process::plan how;
    how.environment = {"ASAN_OPTIONS=detect_leaks=0"}; // which needs one itself
    how.prepare = [most] {
      if (::geteuid() == 0 && (::setgid(no_ones_id) != 0 || ::setuid(no_ones_id) != 0))
        ::_exit(99);
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_NPROC, &limit);
    };
    if (most == 1 && lab.run({"--version"}, how).code != 0) {
      MESSAGE("skipped: the program's folder is closed to other users");
      return;
    }
    auto daemon = lab.start_with({"--control=" + (lab.folder / "c"), "--pidfile=" + lab.pidfile(),
                                  "--workers=1", lab.socket()},
                                 std::move(how));
    poll_until([&] { return lab.folder.has("pid") || daemon.wait(); }, soon());
    has_started = !daemon.wait();
    if (has_started)
      break;
    const auto code = *daemon.wait();
    INFO(daemon.error_output());
    CHECK((code == os_error || code == cannot_create));
    CHECK(contains(daemon.error_output(), "ulimit -u"));
    CHECK(lab.folder.count() == 0);
  }
  CHECK((has_started || ::geteuid() != 0)); // a user may have more processes than that already
}

TEST_CASE("a pidfile that may not grow ends the start, and leaves no draft of it") {
  const daemon_lab lab;
  const auto ran = lab.run({"--vmnet-mode=isolated", "--pidfile=" + lab.pidfile(), lab.socket()},
                           limited(RLIMIT_FSIZE, 0));
  CHECK(ran.code == cannot_create);
  CHECK(lab.folder.count() == 0);
}

TEST_CASE("with too few descriptors vmswitchctl says so; it does not crash") {
  const control_lab lab;
  auto daemon = lab.start();
  int code = -1;
  for (rlim_t most = 4; most < 64 && code != 0; ++most) {
    CAPTURE(most);
    auto how = limited(RLIMIT_NOFILE, most);
    how.environment = {"ASAN_OPTIONS=detect_leaks=0"}; // which needs some itself
    how.command = {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + lab.control(), "status"};
    auto ctl = child_process::start(how);
    REQUIRE(ctl);
    code = ctl->wait(soon()).value_or(-1);
    if (code == not_loaded)
      continue;
    INFO(ctl->error_output());
    CHECK((code == os_error || code == unavailable || code == 0));
    CHECK((code == 0 || contains(ctl->error_output(), "ulimit -n") ||
           contains(ctl->error_output(), "Too many open files")));
  }
  CHECK(code == 0);
}
