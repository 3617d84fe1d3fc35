#include "app/ctl/commands/capture_command.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/ctl/capture_tally.hpp"
#include "app/ctl/commands/listing.hpp"
#include "app/printable.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

// Half-closed, the daemon ends the capture in order: statistics come, then the end. Before there is
// a connection, and at a second signal, we end at once.
std::atomic<int> open_connection{-1};
static_assert(std::atomic<int>::is_always_lock_free); // or a handler may not touch it

void end_capture(int) {
  const int kept = errno;
  const int fd = open_connection;
  if (fd < 0)
    ::_exit(0);
  ::shutdown(fd, SHUT_WR);
  errno = kept;
}

void on_first_signal(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM})
    ::sigaction(number, &action, nullptr);
}

class capture_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand(
        "capture", "Record frames, live, as pcapng: vmswitchctl capture | tcpdump -n -r -");
    command_->add_option("-n,--network", network_, "Of this network; needed if there are several")
        ->type_name("NAME");
    command_
        ->add_option("-p,--port", port_,
                     "What this port sends and gets; default: all ports, each frame once, where "
                     "it comes in")
        ->type_name("NAME");
    command_
        ->add_option("-f,--filter", filter_,
                     "Only such frames, as in tcpdump: \"tcp port 80\" (pcap-filter(7))")
        ->type_name("FILTER");
    command_->add_option("-w,--write", file_, "Into this file; -, the default: to another program")
        ->type_name("FILE");
    command_->add_option("-s,--snaplen", snaplen_, "Keep so many bytes of each frame; default: all")
        ->type_name("BYTES");
    command_->add_option("-c,--count", count_, "End after so many frames")->type_name("FRAMES");
    command_->add_option("-d,--duration", duration_, "End after so many seconds")
        ->type_name("SECONDS");
  }
  bool chosen() const override { return command_->parsed(); }

  client_result<void> run(const ctl_context& context) override {
    if (file_ == "-" && context.is_terminal)
      return tl::unexpected{client_failure{exit_code::usage,
                                           "a capture is no text for a terminal: add "
                                           "\"| tcpdump -n -r -\", or -w FILE"}};
    on_first_signal(end_capture);
    capture_tally tally;
    client_failure failure{exit_code::ok, {}};
    const auto streamed = context.client.stream(
        "/v1/capture" + query_of({{"network", network_},
                                  {"port", port_},
                                  {"filter", filter_},
                                  {"snaplen", snaplen_},
                                  {"count", count_},
                                  {"duration", duration_}}),
        [&](std::string_view piece) {
          tally.take(piece);
          return keep(piece, failure);
        },
        [](int fd) { open_connection = fd; });
    open_connection = -1;
    if (!failure.text.empty())
      return tl::unexpected{failure};
    if (!streamed && !tally.ended())
      return streamed;
    std::fprintf(stderr, "%s", summary(tally).c_str());
    return {};
  }

private:
  // False, with the reason, if it cannot be kept. The file is made when there is something for it.
  bool keep(std::string_view piece, client_failure& failure) {
    if (file_ != "-" && !output_) {
      output_ = owned_fd{::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
      if (!output_) {
        failure = {errno == EACCES || errno == EPERM ? exit_code::no_permission
                                                     : exit_code::cannot_create,
                   fmt::format("{}: {}", file_, std::strerror(errno))};
        return false;
      }
    }
    const int fd = output_ ? output_.get() : STDOUT_FILENO;
    while (!piece.empty()) {
      const auto written = ::write(fd, piece.data(), piece.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0) {
        failure = {exit_code::os_error, fmt::format("{}: {}", file_ == "-" ? "the output" : file_,
                                                    std::strerror(errno))};
        return false;
      }
      piece.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  static std::string summary(const capture_tally& tally) {
    auto text = fmt::format("{} frame(s) captured, {} lost", tally.frames(), tally.lost());
    if (tally.lost() > 0)
      text += " because they came faster than they were read (-s 128 keeps headers only)";
    if (!tally.reason().empty())
      text += "; " + printable(tally.reason());
    return text + "\n";
  }

  CLI::App* command_ = nullptr;
  std::string network_;
  std::string port_;
  std::string filter_;
  std::string file_ = "-";
  std::string snaplen_;
  std::string count_;
  std::string duration_;
  owned_fd output_;
};

} // namespace

std::unique_ptr<ctl_command> make_capture_command() {
  return std::make_unique<capture_command>();
}

} // namespace vmswitch
