#include <cerrno>
#include <fstream>
#include <optional>

#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/contenders/host_model.hpp"
#include "tests/bench/contenders/one_socket.hpp"
#include "tests/support/running_network.hpp"

namespace vmswitch::bench {

namespace {

using namespace std::chrono_literals;

constexpr int frames_per_turn = 256;

// The host's model behind the interface that libslirp and TAP devices are behind.
class modelled_host final : public host_interface {
public:
  result<void> start(frame_sink& out) override {
    wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_)
      return fail_errno("eventfd", errno);
    out_ = &out;
    model_.emplace([this] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto told = ::write(wake_.get(), &one, sizeof one);
    });
    return {};
  }
  void stop() noexcept override { model_.reset(); }
  mac_address address() const noexcept override { return {}; }
  int fd() const noexcept override { return wake_.get(); }

  result<bool> process() override {
    std::uint64_t ignored;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &ignored, sizeof ignored);
    for (int i = 0; i < frames_per_turn; ++i) {
      if (!out_->has_room())
        return true;
      const auto frame = model_->next();
      if (frame.empty())
        return false;
      out_->deliver(frame);
    }
    return true;
  }

  frame_tally write(const burst& frames) override {
    frames.for_each_frame([this](std::span<const std::byte> frame) { model_->take(frame); });
    return {};
  }
  std::string describe() const override { return "a model of a host"; }

private:
  frame_sink* out_ = nullptr;
  owned_fd wake_;
  std::optional<host_model> model_;
};

void serve(const std::string& socket, const std::string& ready) {
  network_config config;
  config.dhcp.enabled = false;
  config.listeners = {{listen_type::stream, socket, {}, {}}};
  test::running_network network{
      std::move(config), 2, [](const host_config&) { return std::make_unique<modelled_host>(); }};
  if (network.next_event().kind != network_event::what::up)
    return;
  std::ofstream{ready} << "up\n";
  for (;;)
    ::pause();
}

} // namespace

contender vmswitch_host_contender() {
  return {
      "vmswitch-host",
      [](std::size_t) -> result<std::unique_ptr<running_switch>> {
        auto folder = private_folder::create();
        if (!folder)
          return tl::unexpected{folder.error()};
        const std::string ready = folder->file("ready");
        auto process = switch_process::run([&] { serve(at_a_socket::socket_in(*folder), ready); });
        if (!process)
          return tl::unexpected{process.error()};
        const bool up =
            test::poll_until([&] { return ::access(ready.c_str(), F_OK) == 0 || process->wait(); },
                             switch_process::clock::now() + 10s);
        if (!up || process->wait())
          return fail("the network did not come up");
        return std::make_unique<at_a_socket>(std::move(*folder), std::move(*process), SOCK_STREAM);
      },
      true};
}

} // namespace vmswitch::bench
