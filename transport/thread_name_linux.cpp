#include "transport/thread_name.hpp"

#include <pthread.h>

namespace vmswitch {

void name_this_thread(const std::string& name) noexcept {
  ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
}

} // namespace vmswitch
