#include <cstdio>
#include <exception>

#include "app/ctl/ctl_command.hpp"
#include "app/shortage.hpp"

int main(int argc, char** argv) {
  using namespace vmswitch;
  try {
    return run_ctl(argc, argv);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "vmswitchctl: %s\n", shortage(thrown).text.c_str());
    return static_cast<int>(exit_code::os_error);
  }
}
