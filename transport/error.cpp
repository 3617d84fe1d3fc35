#include "transport/error.hpp"

#include <system_error>

namespace vmswitch {

tl::unexpected<error> fail_errno(const std::string& what, int code) {
  return fail(what + ": " + std::system_category().message(code), code);
}

} // namespace vmswitch
