#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "tests/bench/vm/medium.hpp"
#include "transport/error.hpp"

namespace vmswitch::bench {

/// A switch that is up, in a process of its own. It ends with its owner.
class running_switch {
public:
  virtual ~running_switch() = default;
  /// Connects one more VM.
  virtual result<std::unique_ptr<medium>> plug_in() = 0;
  /// Whose CPU time and memory the switch's are; 0 if no process's are.
  virtual pid_t process() const noexcept = 0;
};

/// One that takes part in a comparison.
struct contender {
  std::string name;
  /// Starts a fresh one, for so many VMs at most. The caller has one thread.
  std::function<result<std::unique_ptr<running_switch>>(std::size_t vms)> start;
  bool ours = false; ///< it must not lose, double or flood a frame
};

/// What every contender is made of.
struct contender_options {
  std::string daemon;                      // path of vmswitchd
  std::vector<std::string> daemon_options; // handed on to it
};

/// relay: only copies bytes between two neighbours, the limit of the medium.
/// dgram-relay: the same for datagrams, with recvmmsg and sendmmsg.
/// flood: a model of a daemon with a thread per connection that floods every frame.
/// vmswitchd, vmswitchd-dgram: ours, by stream and by datagram.
/// vmswitchd-watched, vmswitchd-captured: ours by stream, while `vmswitchctl top` runs and metrics
/// are scraped every second; and with a capture of all frames in addition.
/// flood-host, vmswitch-host: the model and our actors, with a model of a host that has data for
/// VMs.
/// qemu-hub, vde, bridge: QEMU as a hub, vde_switch, the kernel's bridge between TAP devices.
/// Anything with a slash: the path of a stream socket at which a switch listens.
/// The error says why it cannot take part here.
result<contender> find_contender(const std::string& name, const contender_options& options);

contender model_contender(std::string name, void (*model)(owned_fd), int socket_type);
contender daemon_contender(const contender_options& options, int socket_type);
contender watched_contender(const contender_options& options, bool captured);
contender vmswitch_host_contender();
contender listening_contender(std::string path);
result<contender> qemu_hub_contender();
result<contender> vde_contender();
result<contender> bridge_contender();

} // namespace vmswitch::bench
