#include "app/ctl/commands/capture_command.hpp"
#include "app/ctl/commands/completion_command.hpp"
#include "app/ctl/commands/dashboard_command.hpp"
#include "app/ctl/commands/events_command.hpp"
#include "app/ctl/commands/forward_command.hpp"
#include "app/ctl/commands/log_command.hpp"
#include "app/ctl/commands/port_command.hpp"
#include "app/ctl/commands/reload_command.hpp"
#include "app/ctl/commands/show_commands.hpp"
#include "app/ctl/commands/top_command.hpp"
#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

std::vector<std::unique_ptr<ctl_command>> all_ctl_commands() {
  std::vector<std::unique_ptr<ctl_command>> all;
  add_show_commands(all);
  all.push_back(make_top_command());
  all.push_back(make_events_command());
  all.push_back(make_capture_command());
  all.push_back(make_dashboard_command());
  all.push_back(make_forward_command());
  all.push_back(make_port_command());
  all.push_back(make_log_command());
  all.push_back(make_reload_command());
  all.push_back(make_completion_command());
  all.push_back(make_names_command());
  return all;
}

} // namespace vmswitch
