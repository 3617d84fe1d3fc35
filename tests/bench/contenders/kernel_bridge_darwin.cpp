#include "tests/bench/contenders/contender.hpp"

namespace vmswitch::bench {

result<contender> bridge_contender() {
  return fail("bridge: only Linux has TAP devices");
}

} // namespace vmswitch::bench
