// A step of the build: writes the manual page of the program that is named to stdout.

#include <cstdio>
#include <string_view>

#include "app/command_info.hpp"
#include "app/command_line.hpp"
#include "app/ctl/ctl_command.hpp"
#include "app/man_page.hpp"

namespace {

std::string daemon_page() {
  return man_page(
      vmswitch::describe_vmswitchd(), 8,
      {{"FILES",
        {{"/run/vmswitch/control.sock", "The control socket of a daemon that root has started."},
         {"$XDG_RUNTIME_DIR/vmswitch/control.sock", "That of a daemon of a user."}}},
       {"EXIT STATUS",
        {{"0", "Stopped by a signal, or printed what was asked for."},
         {"64", "The command line is wrong."},
         {"66", "The configuration file cannot be read."},
         {"69", "The host interface cannot start."},
         {"71", "The system refused something that normally works, or not everything stopped in "
                "time."},
         {"73", "A socket or pidfile cannot be made, or the port of a forward is taken."},
         {"77", "A permission or privilege is lacking."},
         {"78", "The configuration file has mistakes."},
         {"128 + n", "A second signal n ended it at once."}}},
       {"SIGNALS",
        {{"SIGTERM, SIGINT", "End in good order; a second one at once."},
         {"SIGHUP", "Read the configuration file anew."}}},
       {"SEE ALSO", {{"", "vmswitchctl(1), vmswitch-run(1)"}}}});
}

std::string ctl_page() {
  vmswitch::ctl_program program;
  return man_page(
      vmswitch::describe(program.app()), 1,
      {{"ENVIRONMENT",
        {{"VMSWITCH_CONTROL", "Path of the control socket, where --control does not give it."},
         {"NO_COLOR", "If it is set, there are no colours unless --color=always."}}},
       {"EXIT STATUS",
        {{"0", "All went well."},
         {"1", "The daemon refused, or knows no such thing."},
         {"64", "The command line is wrong."},
         {"69", "There is no daemon at the socket, or it does not answer."},
         {"77", "This user may not connect, or not change anything."}}},
       {"EXAMPLES",
        {{"vmswitchctl ports --watch", "Watch what VMs send and receive."},
         {"vmswitchctl drops", "See which frames were dropped, and why."},
         {"vmswitchctl events --all", "What has happened, and what happens now."}}},
       {"SEE ALSO", {{"", "vmswitchd(8), vmswitch-run(1)"}}}});
}

// It hands all but these on, so its command line is not declared like the others.
std::string launcher_page() {
  const vmswitch::command_info launcher{
      "vmswitch-run",
      "vmswitch-run: runs a command with a connection to vmswitchd as file descriptor 3",
      {{{"SOCKET"}, "TEXT", {}, "The stream socket of a running vmswitchd", true, true},
       {{"CMD"}, "TEXT", {}, "What to run, and behind it its arguments", true, true},
       {{"-h", "--help"}, "", {}, "Print this help and exit", false},
       {{"-v", "--version"}, "", {}, "Print the version and exit", false}},
      {}};
  return man_page(launcher, 1,
                  {{"EXIT STATUS",
                    {{"", "That of CMD, or:"},
                     {"64", "The command line is wrong."},
                     {"69", "There is no daemon at SOCKET."},
                     {"77", "This user may not connect."},
                     {"126", "CMD cannot run."},
                     {"127", "CMD is not found."}}},
                   {"EXAMPLES",
                    {{"vmswitch-run vm.sock qemu-system-x86_64 -netdev socket,id=net0,fd=3 -device "
                      "virtio-net-pci,netdev=net0 disk.qcow2",
                      "A VM whose QEMU need not know the socket."}}},
                   {"SEE ALSO", {{"", "vmswitchd(8)"}}}});
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  std::string page;
  if (name == "vmswitchd")
    page = daemon_page();
  else if (name == "vmswitchctl")
    page = ctl_page();
  else if (name == "vmswitch-run")
    page = launcher_page();
  else
    return 64;
  return std::fputs(page.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 71 : 0;
}
