#include "vmnet/make_host_interface.hpp"

#include "vmnet/isolated_host.hpp"
#include "vmnet/tap/tap_host.hpp"
#include "vmnet/user_host.hpp"

namespace vmswitch {

std::unique_ptr<host_interface> make_host_interface(const host_config& config) {
  switch (config.mode) {
  case host_mode::isolated:
    return std::make_unique<isolated_host>();
  case host_mode::host:
  case host_mode::shared:
  case host_mode::bridged:
    return std::make_unique<tap_host>(config);
  case host_mode::user:
    break;
  }
  return std::make_unique<user_host>(config);
}

} // namespace vmswitch
