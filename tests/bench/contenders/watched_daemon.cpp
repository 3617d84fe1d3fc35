#include <array>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include <sys/socket.h>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/contenders/one_socket.hpp"
#include "transport/connect.hpp"

namespace vmswitch::bench {

namespace {

using namespace std::chrono_literals;

// One scrape, as Prometheus does it. A daemon that does not answer shows in the figures.
void scrape(const std::string& control) {
  const auto connected = connect_stream(control);
  if (!connected)
    return;
  constexpr std::string_view request = "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n";
  if (::send(connected->get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return;
  std::array<char, 65536> answer;
  while (::recv(connected->get(), answer.data(), answer.size(), 0) > 0)
    continue;
}

// Those who look go before what they look at.
class watched_switch final : public running_switch {
public:
  watched_switch(private_folder folder, std::unique_ptr<running_switch> watched)
      : folder_{std::move(folder)}, watched_{std::move(watched)},
        scraper_{[control = control_in(folder_)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any wake;
          std::unique_lock lock{mutex};
          while (!wake.wait_for(lock, stop, 1s, [] { return false; }) && !stop.stop_requested())
            scrape(control);
        }} {}

  static std::string control_in(const private_folder& folder) { return folder.file("control"); }

  result<void> add(const std::string& program, const std::string& arguments) {
    auto started = switch_process::start(
        {.command = {"/bin/sh", "-c", "exec \"$0\" --control=\"$1\" " + arguments + " >/dev/null",
                     program, control_in(folder_)}});
    if (!started)
      return tl::unexpected{started.error()};
    watchers_.push_back(std::move(*started));
    return {};
  }

  result<std::unique_ptr<medium>> plug_in() override { return watched_->plug_in(); }
  pid_t process() const noexcept override { return watched_->process(); }

private:
  private_folder folder_;
  std::unique_ptr<running_switch> watched_;
  std::vector<switch_process> watchers_;
  std::jthread scraper_;
};

} // namespace

contender watched_contender(const contender_options& options, bool captured) {
  const auto start = [=](std::size_t vms) -> result<std::unique_ptr<running_switch>> {
    auto folder = private_folder::create();
    if (!folder)
      return tl::unexpected{folder.error()};
    const auto program =
        (std::filesystem::path{options.daemon}.parent_path() / "vmswitchctl").string();
    auto with_control = options;
    if (with_control.daemon_options.empty())
      with_control.daemon_options.emplace_back("--log-level=warn");
    with_control.daemon_options.push_back("--control=" + watched_switch::control_in(*folder));
    auto daemon = daemon_contender(with_control, SOCK_STREAM).start(vms);
    if (!daemon)
      return daemon;
    auto watched = std::make_unique<watched_switch>(std::move(*folder), std::move(*daemon));
    for (const char* arguments : {"top", captured ? "capture -w -" : nullptr})
      if (arguments != nullptr)
        if (auto added = watched->add(program, arguments); !added)
          return tl::unexpected{added.error()};
    return watched;
  };
  return {captured ? "vmswitchd-captured" : "vmswitchd-watched", start, true};
}

} // namespace vmswitch::bench
