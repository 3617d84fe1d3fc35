#include "tests/bench/contenders/contender.hpp"

#include <fstream>

#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/contenders/models.hpp"
#include "tests/bench/contenders/one_socket.hpp"
#include "tests/bench/contenders/switch_process.hpp"
#include "tests/support/process_usage.hpp"
#include "transport/connect.hpp"

namespace vmswitch::bench {

namespace {

// Somebody else's, which goes on after us.
class listening_switch final : public running_switch {
public:
  explicit listening_switch(std::string path) : path_{std::move(path)} {}
  result<std::unique_ptr<medium>> plug_in() override {
    auto connected = connect_stream(path_);
    if (!connected)
      return tl::unexpected{connected.error()};
    process_ = test::peer_process(connected->get());
    return stream_medium(std::move(*connected));
  }
  pid_t process() const noexcept override { return process_; }

private:
  const std::string path_;
  pid_t process_ = 0;
};

using started = result<std::unique_ptr<running_switch>>;

started start_model(void (*model)(owned_fd), int socket_type) {
  auto folder = private_folder::create();
  if (!folder)
    return tl::unexpected{folder.error()};
  auto socket = bind_at(at_a_socket::socket_in(*folder), socket_type);
  if (!socket)
    return tl::unexpected{socket.error()};
  auto process = switch_process::run([&] { model(std::move(*socket)); });
  if (!process)
    return tl::unexpected{process.error()};
  return std::make_unique<at_a_socket>(std::move(*folder), std::move(*process), socket_type);
}

started start_daemon(const contender_options& options, int socket_type) {
  auto folder = private_folder::create();
  if (!folder)
    return tl::unexpected{folder.error()};
  const std::string socket = at_a_socket::socket_in(*folder);
  const std::string pidfile = folder->file("pid");
  std::vector<std::string> command{options.daemon, "--pidfile=" + pidfile};
  if (options.daemon_options.empty())
    command.emplace_back("--log-level=warn");
  command.insert(command.end(), options.daemon_options.begin(), options.daemon_options.end());
  if (socket_type == SOCK_STREAM) {
    command.push_back(socket);
  } else {
    const std::string file = folder->file("config.toml");
    std::ofstream{file} << "[[network]]\nname = \"bench\"\n[[network.listen]]\ntype = \"dgram\"\n"
                           "path = \"switch.sock\"\n";
    command.push_back("--config=" + file);
  }
  auto process = start_ready({.command = command}, {pidfile});
  if (!process)
    return tl::unexpected{process.error()};
  return std::make_unique<at_a_socket>(std::move(*folder), std::move(*process), socket_type);
}

} // namespace

contender model_contender(std::string name, void (*model)(owned_fd), int socket_type) {
  return {std::move(name), [=](std::size_t) { return start_model(model, socket_type); }};
}

contender daemon_contender(const contender_options& options, int socket_type) {
  return {socket_type == SOCK_STREAM ? "vmswitchd" : "vmswitchd-dgram",
          [=](std::size_t) { return start_daemon(options, socket_type); }, true};
}

contender listening_contender(std::string path) {
  return {path,
          [path](std::size_t) -> started { return std::make_unique<listening_switch>(path); }};
}

result<contender> find_contender(const std::string& name, const contender_options& options) {
  if (name == "relay")
    return model_contender(name, run_relay, SOCK_STREAM);
  if (name == "dgram-relay")
    return model_contender(name, run_datagram_relay, SOCK_DGRAM);
  if (name == "flood")
    return model_contender(name, run_flood, SOCK_STREAM);
  if (name == "flood-host")
    return model_contender(name, run_flood_with_host, SOCK_STREAM);
  if (name == "vmswitch-host")
    return vmswitch_host_contender();
  if (name == "qemu-hub")
    return qemu_hub_contender();
  if (name == "vde")
    return vde_contender();
  if (name == "bridge")
    return bridge_contender();
  if (name.find('/') != std::string::npos)
    return listening_contender(name);
  const bool is_watched = name == "vmswitchd-watched" || name == "vmswitchd-captured";
  if (name != "vmswitchd" && name != "vmswitchd-dgram" && !is_watched)
    return fail("no contender is called " + name +
                "; there are relay, dgram-relay, flood, flood-host, vmswitchd, vmswitchd-dgram, "
                "vmswitchd-watched, vmswitchd-captured, vmswitch-host, qemu-hub, vde, bridge, and "
                "paths of stream sockets");
  if (::access(options.daemon.c_str(), X_OK) != 0)
    return fail(name + ": " + options.daemon + " is no program: give --daemon PATH");
  if (is_watched)
    return watched_contender(options, name == "vmswitchd-captured");
  return daemon_contender(options, name == "vmswitchd" ? SOCK_STREAM : SOCK_DGRAM);
}

} // namespace vmswitch::bench
