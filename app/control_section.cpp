#include "app/control_section.hpp"

#include "app/setting_values.hpp"

namespace vmswitch {

namespace {

constexpr std::size_t most_names = 256;

std::optional<std::vector<std::string>> read_names(toml_section& section, std::string_view key) {
  const auto written = section.texts(key, most_names);
  if (!written)
    return {};
  std::vector<std::string> names;
  for (const auto& one : *written) {
    auto name = parse_user_or_group(one.text);
    if (name)
      names.push_back(std::move(*name));
    else
      section.complain(key, std::move(name.error().text));
  }
  return names;
}

} // namespace

control_settings read_control(toml_section& daemon,
                              const std::function<std::string(const std::string&)>& resolve) {
  control_settings control;
  if (const auto path = daemon.text("control")) {
    control.path = *path == "none" || path->empty() ? std::string{} : resolve(*path);
    if (!control.path->empty())
      if (auto fits = parse_socket_path(*control.path); !fits)
        daemon.complain("control", std::move(fits.error().text));
  }
  control.group = daemon.parsed("control_group", parse_group);
  control.mode = daemon.parsed("control_mode", parse_socket_mode);
  control.admins = read_names(daemon, "control_admins").value_or(control.admins);
  control.readers = read_names(daemon, "control_readers");
  control.dashboard = daemon.parsed("dashboard", parse_loopback_endpoint);
  if (control.dashboard && control.path && control.path->empty())
    daemon.complain("dashboard", "the dashboard needs the control socket, which is switched off");
  return control;
}

} // namespace vmswitch
