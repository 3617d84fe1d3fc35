// What vmswitchd costs: threads, wake-ups and descriptors with many VMs.

#include <csignal>
#include <deque>
#include <thread>

#include <sys/resource.h>

#include "tests/integration/control_lab.hpp"
#include "tests/support/process_usage.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t many = 200;

// Connects as many VMs, and waits until the daemon has accepted them all.
void crowd(const daemon_lab& lab, const child_process& daemon, std::deque<frame_socket>& vms,
           std::size_t count) {
  const auto before = descriptors_of(daemon.pid());
  for (std::size_t i = 0; i < count; ++i)
    vms.push_back(lab.connect());
  REQUIRE(poll_until([&] { return descriptors_of(daemon.pid()) >= before + count; }, soon()));
}

std::uint64_t switches_in(const child_process& daemon, std::chrono::milliseconds time) {
  const auto before = threads_of(daemon.pid());
  std::this_thread::sleep_for(time); // the time that is measured
  const auto after = threads_of(daemon.pid());
  REQUIRE((before && after));
  return after->context_switches - before->context_switches;
}

double cpu_in(const child_process& daemon, std::chrono::milliseconds time) {
  const auto before = usage_of(daemon.pid());
  std::this_thread::sleep_for(time); // the time that is measured
  const auto after = usage_of(daemon.pid());
  REQUIRE((before && after));
  return after->cpu_seconds - before->cpu_seconds;
}

} // namespace

TEST_CASE("two hundred VMs take no thread more than one") {
  for (const char* mode : {"--vmnet-mode=isolated", "--vmnet-mode=user"}) {
    CAPTURE(mode);
    const daemon_lab lab;
    const auto daemon = lab.start({mode});
    std::deque<frame_socket> vms;
    crowd(lab, daemon, vms, 2);
    REQUIRE(hears(vms[0], vms[1]));
    const auto with_few = threads_of(daemon.pid());
    crowd(lab, daemon, vms, many - 2);
    REQUIRE(hears(vms.front(), vms.back()));
    const auto with_many = threads_of(daemon.pid());
    REQUIRE((with_few && with_many));
    CHECK(with_many->threads == with_few->threads);
    CHECK(with_many->threads < 16);
  }
}

TEST_CASE("idle is idle: with two hundred silent VMs nothing wakes up") {
  for (const char* mode : {"--vmnet-mode=isolated", "--vmnet-mode=user"}) {
    CAPTURE(mode);
    const daemon_lab lab;
    const auto daemon = lab.start({mode});
    std::deque<frame_socket> vms;
    crowd(lab, daemon, vms, many);
    for (std::size_t i = 1; i < vms.size(); i += 50)
      REQUIRE(hears(vms[0], vms[i]));
    // What the frames have set off comes to its end first.
    poll_until([&] { return switches_in(daemon, 200ms) == 0; }, frame_socket::clock::now() + 5s);
    CHECK(switches_in(daemon, 3s) <= 20);
  }
}

TEST_CASE("with more VMs than descriptors it waits without spinning, and goes on when some leave") {
  for (const char* mode : {"--vmnet-mode=isolated", "--vmnet-mode=user"}) {
    CAPTURE(mode);
    const control_lab lab;
    constexpr rlim_t few = 64;
    child_process::plan how;
    how.prepare = [] {
      const rlimit limit{few, few};
      ::setrlimit(RLIMIT_NOFILE, &limit);
    };
    auto daemon = lab.daemon_lab::start({mode, "--control=" + lab.control()}, how);
    auto a = lab.connect(), b = lab.connect();
    REQUIRE(hears(b, a));
    std::deque<frame_socket> vms;
    for (rlim_t i = 0; i < 2 * few; ++i)
      vms.push_back(lab.connect());
    REQUIRE(poll_until([&] { return contains(daemon.error_output(), "open files"); }, soon()));
    // One shows a loop that never sleeps, the other, on a busy machine too, one that hardly does.
    CHECK(cpu_in(daemon, 1s) < 0.3);
    CHECK(switches_in(daemon, 1s) < 200);
    CHECK(hears(a, b));
    for (int i = 0; i < 3; ++i) // a person can see what is going on
      CHECK(lab.status_of("GET", "/v1/status") == "200");
    vms.clear();
    auto late = lab.connect();
    CHECK(hears(late, a));
    CHECK(hears(a, late));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait(soon()) == 0);
    CHECK_FALSE(lab.folder.has("pid"));
  }
}
