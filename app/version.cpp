#include "app/version.hpp"

namespace vmswitch {

std::string_view version() noexcept {
  return VMSWITCH_VERSION;
}

} // namespace vmswitch
