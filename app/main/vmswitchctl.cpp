#include "app/ctl/ctl_command.hpp"

int main(int argc, char** argv) {
  return vmswitch::run_ctl(argc, argv);
}
