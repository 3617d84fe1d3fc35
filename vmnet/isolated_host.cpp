#include "vmnet/isolated_host.hpp"

namespace vmswitch {

std::string isolated_host::describe() const {
  return "isolated, no host";
}

} // namespace vmswitch
