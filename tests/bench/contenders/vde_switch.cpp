#include <cerrno>
#include <cstdint>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/contenders/switch_process.hpp"
#include "transport/connect.hpp"

namespace vmswitch::bench {

namespace {

constexpr auto program = "vde_switch";

// What a client says on the control socket (version 3 of the protocol); the answer is the address
// that its datagrams go to.
struct [[gnu::packed]] join_request {
  std::uint32_t magic = 0xfeedface;
  std::uint32_t version = 3;
  std::uint32_t any_port = 0;
  sockaddr_un own{};
  char description[8] = "bench";
};

class vde final : public running_switch {
public:
  vde(private_folder folder, switch_process process)
      : folder_{std::move(folder)}, process_{std::move(process)} {}

  static std::string folder_in(const private_folder& folder) { return folder.file("vde"); }

  result<std::unique_ptr<medium>> plug_in() override {
    auto control = connect_stream(folder_in(folder_) + "/ctl");
    if (!control)
      return tl::unexpected{control.error()};
    const std::string own = folder_.file("vm" + std::to_string(++vms_));
    auto socket = bind_at(own, SOCK_DGRAM);
    if (!socket)
      return tl::unexpected{socket.error()};
    join_request request;
    request.own.sun_family = AF_UNIX;
    std::strncpy(request.own.sun_path, own.c_str(), sizeof request.own.sun_path - 1);
    sockaddr_un answer{};
    if (::send(control->get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request ||
        ::recv(control->get(), &answer, sizeof answer, MSG_WAITALL) != sizeof answer)
      return fail("vde_switch does not let a VM in");
    if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&answer), sizeof answer) != 0)
      return fail_errno("connecting to a port of vde_switch", errno);
    return datagram_medium(std::move(*socket), own, std::move(*control));
  }
  pid_t process() const noexcept override { return process_.pid(); }

private:
  private_folder folder_;
  switch_process process_;
  int vms_ = 0;
};

// It ends at the end of its standard input: a pipe that it holds both ends of has none.
void keep_stdin_open() {
  int ends[2];
  if (::pipe(ends) == 0)
    ::dup2(ends[0], STDIN_FILENO);
}

result<std::unique_ptr<running_switch>> start(std::size_t vms) {
  auto folder = private_folder::create();
  if (!folder)
    return tl::unexpected{folder.error()};
  const std::string where = vde::folder_in(*folder);
  auto process = start_ready(
      {.command = {program_path(program), "--sock", where, "--numports", std::to_string(vms + 1)},
       .prepare = keep_stdin_open},
      {where + "/ctl"});
  if (!process)
    return tl::unexpected{process.error()};
  return std::make_unique<vde>(std::move(*folder), std::move(*process));
}

} // namespace

result<contender> vde_contender() {
  if (program_path(program).empty())
    return fail(std::string{"vde: "} + program + " is not installed");
  return contender{"vde", start};
}

} // namespace vmswitch::bench
