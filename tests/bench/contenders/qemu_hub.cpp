#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/contenders/switch_process.hpp"
#include "transport/connect.hpp"

namespace vmswitch::bench {

namespace {

constexpr auto program = "qemu-system-x86_64";

// QEMU without a machine: each VM has a listening socket of its own, and all are on one hub.
class qemu_hub final : public running_switch {
public:
  qemu_hub(private_folder folder, switch_process process)
      : folder_{std::move(folder)}, process_{std::move(process)} {}

  static std::string socket_in(const private_folder& folder, std::size_t vm) {
    return folder.file("vm" + std::to_string(vm));
  }
  result<std::unique_ptr<medium>> plug_in() override {
    auto connected = connect_stream(socket_in(folder_, vms_++));
    if (!connected)
      return tl::unexpected{connected.error()};
    return stream_medium(std::move(*connected));
  }
  pid_t process() const noexcept override { return process_.pid(); }

private:
  private_folder folder_;
  switch_process process_;
  std::size_t vms_ = 0;
};

result<std::unique_ptr<running_switch>> start(std::size_t vms) {
  auto folder = private_folder::create();
  if (!folder)
    return tl::unexpected{folder.error()};
  std::vector<std::string> command{program_path(program), "-M",       "none",
                                   "-nodefaults",         "-display", "none"};
  std::vector<std::string> sockets;
  for (std::size_t i = 0; i < vms; ++i) {
    const std::string id = std::to_string(i);
    sockets.push_back(qemu_hub::socket_in(*folder, i));
    command.insert(command.end(),
                   {"-netdev",
                    "stream,id=s" + id + ",server=on,addr.type=unix,addr.path=" + sockets.back(),
                    "-netdev", "hubport,id=h" + id + ",hubid=0,netdev=s" + id});
  }
  auto process = start_ready({.command = command}, sockets);
  if (!process)
    return tl::unexpected{process.error()};
  return std::make_unique<qemu_hub>(std::move(*folder), std::move(*process));
}

} // namespace

result<contender> qemu_hub_contender() {
  if (program_path(program).empty())
    return fail(std::string{"qemu-hub: "} + program + " is not installed");
  return contender{"qemu-hub", start};
}

} // namespace vmswitch::bench
