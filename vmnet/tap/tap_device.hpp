#pragma once

#include <string>

#include "transport/error.hpp"
#include "transport/frame/mac_address.hpp"
#include "transport/owned_fd.hpp"
#include "vmnet/host_config.hpp"

namespace vmswitch {

/// A TAP: a network device of the kernel whose wire is a descriptor (Documentation/networking/
/// tuntap.rst). One read or write is one frame, without prefix and without a header of the
/// kernel's. The descriptor does not block.
///
/// A device that we made vanishes with its descriptor, however the process ends; so nothing is left
/// of a daemon that was killed, and its name is free. A persistent one, which somebody made for us,
/// stays.
class tap_device {
public:
  /// What `config` asks for: the inherited descriptor, the TAP that has the name, a new one, or,
  /// for a bridge and without privilege, one from QEMU's bridge helper. Not yet configured.
  static result<tap_device> open(const host_config& config);

  int fd() const noexcept { return fd_.get(); }
  const std::string& name() const noexcept { return name_; }
  /// Made by us, or by the helper for us.
  bool ours() const noexcept { return origin_ != origin::existing; }
  /// Ready as it is: the helper has put it into its bridge and set it up.
  bool is_ready() const noexcept { return origin_ == origin::helper; }
  /// False for a device of another network namespace, whose name means nothing here.
  bool is_here() const noexcept;
  mac_address mac() const noexcept;

private:
  enum class origin : std::uint8_t { made, existing, helper };
  tap_device(owned_fd fd, std::string name, origin from)
      : fd_{std::move(fd)}, name_{std::move(name)}, origin_{from} {}

  static result<tap_device> attach(const std::string& name);
  static result<tap_device> attach_chosen(const host_config& config);
  static result<tap_device> adopt(int inherited);
  static result<tap_device> identify(owned_fd fd, origin from);
  static result<tap_device> for_bridge(const host_config& config);

  owned_fd fd_;
  std::string name_;
  origin origin_;
};

} // namespace vmswitch
