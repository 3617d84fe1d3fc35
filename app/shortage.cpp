#include "app/shortage.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include <boost/system/system_error.hpp>
#include <fmt/format.h>

namespace vmswitch {

namespace {

int code_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return ENOMEM;
  if (const auto* from_library = dynamic_cast<const std::system_error*>(&thrown))
    return from_library->code().value();
  if (const auto* from_boost = dynamic_cast<const boost::system::system_error*>(&thrown))
    return from_boost->code().value();
  return 0;
}

} // namespace

error shortage(const std::exception& thrown) {
  const int code = code_of(thrown);
  switch (code) {
  case EMFILE:
    return {"no more descriptors may be opened: raise their limit (ulimit -n; LimitNOFILE= of "
            "systemd)",
            code};
  case ENFILE:
    return {"the system has no descriptors left (sysctl fs.file-max)", code};
  case EAGAIN:
    return {"no more threads may be started: raise their limit (ulimit -u; TasksMax= of systemd)",
            code};
  case ENOMEM:
    return {"there is no memory left (ulimit -v; MemoryMax= of systemd)", code};
  default:
    return {fmt::format("unexpected: {}", thrown.what()), code};
  }
}

} // namespace vmswitch
