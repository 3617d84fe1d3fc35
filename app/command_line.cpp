#include "app/command_line.hpp"

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp> // command lines with help and checks
#include <fmt/format.h>

#include "app/command_options.hpp"
#include "app/config_file.hpp"
#include "app/control/control_path.hpp"
#include "app/program_name.hpp"
#include "app/render_config.hpp"
#include "app/setting_values.hpp"
#include "app/text_file.hpp"
#include "app/toml_document.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace {

// CLI11 takes "--option=" as an option whose value follows, so that a script's empty variable would
// swallow the next argument. Here it becomes an option with an empty value.
std::vector<std::string> with_empty_values(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (auto i = arguments.begin(); i != arguments.end() && *i != "--"; ++i) {
    if (i->starts_with("--") && i->find('=') == i->size() - 1) {
      i->pop_back();
      i = arguments.insert(i + 1, std::string{});
    }
  }
  return arguments;
}

// Reads the options one by one and remembers what is wrong with them.
class option_reader {
public:
  template <class T, class Parse>
  std::optional<T> take(std::string_view option, const std::optional<std::string>& text,
                        Parse parse) {
    if (!text)
      return {};
    result<T> value = parse(*text);
    if (value)
      return std::move(*value);
    messages_.push_back(fmt::format("{}: {}", option, value.error().text));
    return {};
  }
  void complain(std::string message) { messages_.push_back(std::move(message)); }
  std::vector<std::string>& messages() noexcept { return messages_; }

private:
  std::vector<std::string> messages_;
};

tl::unexpected<command_line_failure> usage_error(std::vector<std::string> messages,
                                                 const called_as& called) {
  messages.push_back(fmt::format("\"{} --help\" lists the options", called.program));
  return tl::unexpected{command_line_failure{exit_code::usage, std::move(messages)}};
}

tl::expected<daemon_settings, command_line_failure> load(const std::string& path,
                                                         const file_reader& read) {
  auto text = read(path);
  if (!text)
    return tl::unexpected{
        command_line_failure{exit_code::no_input, {"--config: " + text.error().text}}};
  auto settings = parse_config(*text, path);
  if (settings)
    return std::move(*settings);
  command_line_failure failure{exit_code::config, {}};
  for (const auto& mistake : settings.error())
    failure.messages.push_back(to_string(mistake));
  return tl::unexpected{std::move(failure)};
}

daemon_settings without_file(const called_as& called) {
  daemon_settings settings;
  auto& network = settings.networks.emplace_back();
  network.listeners.emplace_back();
  network.host.mode = called.mode;
  return settings;
}

void put_socket(daemon_settings& settings, std::string path, option_reader& options) {
  if (settings.networks.size() == 1 && settings.networks[0].listeners.size() == 1)
    settings.networks[0].listeners[0].path = std::move(path);
  else
    options.complain(
        fmt::format("SOCKET: the file has several sockets, and \"{}\" cannot stand for "
                    "one of them: change the file, or leave SOCKET out",
                    path));
}

// The rules are those of the daemon that these options come from.
void put_subnet(daemon_settings& settings, const raw_options& raw, option_reader& options) {
  const auto gateway = options.take<ipv4_address>("--vmnet-gateway", raw.gateway, parse_address);
  const auto end = options.take<ipv4_address>("--vmnet-dhcp-end", raw.dhcp_end, parse_address);
  const auto mask = options.take<std::uint8_t>("--vmnet-mask", raw.mask, parse_netmask);
  for (const auto& [name, text] :
       {std::pair{"--vmnet-dhcp-end", raw.dhcp_end}, std::pair{"--vmnet-mask", raw.mask}})
    if (text && !raw.gateway)
      options.complain(fmt::format("{}: give --vmnet-gateway as well", name));
  if (!gateway || (raw.dhcp_end && !end) || (raw.mask && !mask))
    return;
  if (settings.networks.size() != 1) {
    options.complain("--vmnet-gateway: the file has several networks, which cannot have one "
                     "gateway: set it there");
    return;
  }
  auto& network = settings.networks[0];
  if (!owns_subnet(network.host.mode)) {
    options.complain(fmt::format("--vmnet-gateway: a network in mode {} has no gateway of ours",
                                 to_string(network.host.mode)));
    return;
  }
  auto& host = network.host;
  host.subnet.prefix_length = mask.value_or(24);
  host.subnet.network.value = gateway->value & host.subnet.mask().value;
  host.gateway = *gateway;
  if (const auto right = check_host_config(host); !right) {
    options.complain("--vmnet-gateway: " + right.error().text);
    return;
  }
  const ipv4_address usual_end{(gateway->value & ~0xffU) | 254};
  const ipv4_address last_host{host.subnet.broadcast().value - 1};
  network.dhcp.range = {{gateway->value + 1},
                        end.value_or(host.subnet.is_host(usual_end) ? usual_end : last_host)};
  if (const auto right = check_dhcp_range(host, *network.dhcp.range); !right)
    options.complain(
        fmt::format("{}: {}", end ? "--vmnet-dhcp-end" : "--vmnet-gateway", right.error().text));
}

// The device's name comes before the mode is judged, which may need it.
void put_interface(daemon_settings& settings, const raw_options& raw,
                   const std::optional<host_mode>& mode, option_reader& options) {
  auto interface = options.take<std::string>("--vmnet-interface", raw.interface, parse_device_name);
  if (!interface)
    return;
  if (settings.networks.size() != 1) {
    options.complain("--vmnet-interface: the file has several networks: write the interface there");
    return;
  }
  auto& host = settings.networks[0].host;
  const auto wanted = mode.value_or(host.mode);
  if (!uses_tap(wanted) && !(raw.mode && !mode))
    options.complain(fmt::format("--vmnet-interface: mode {} has no network device; host, shared "
                                 "and bridged have",
                                 to_string(wanted)));
  host.interface = std::move(*interface);
  host.tap_fd.reset();
}

// A mode that was laid over the file's must not meet keys of the file that are not its own.
void change_mode(network_config& network, host_mode mode, option_reader& options) {
  auto& host = network.host;
  if (!uses_tap(mode)) {
    host.interface.clear();
    host.tap_fd.reset();
  }
  if (mode != host_mode::bridged)
    host.bridge_helper.clear();
  if (!owns_subnet(mode))
    host.ipv6_prefix.reset();
  host.mode = mode;
  if (mode == host_mode::bridged && host.interface.empty() && !host.tap_fd) {
    options.complain("--vmnet-mode=bridged needs --vmnet-interface with the name of a bridge of "
                     "this host, such as br0");
    return;
  }
  if (const auto right = check_host_config(host); !right)
    options.complain(fmt::format("--vmnet-mode: network {} cannot be {}: {}", network.name,
                                 to_string(mode), right.error().text));
}

void lay_over(daemon_settings& settings, const raw_options& raw, option_reader& options,
              std::vector<std::string>& notes) {
  const auto level = options.take<log_level>("--log-level", raw.level, parse_log_level);
  settings.log.level = level.value_or(settings.log.level);
  const auto format = options.take<log_format>("--log-format", raw.format, parse_log_format);
  settings.log.format = format.value_or(settings.log.format);
  if (auto pidfile = options.take<std::string>("--pidfile", raw.pidfile, parse_path))
    settings.pidfile = std::move(*pidfile);
  if (raw.control) {
    const bool is_none = raw.control->empty() || *raw.control == "none";
    if (auto path = is_none ? result<std::string>{""} : parse_socket_path(*raw.control))
      settings.control.path = std::move(*path);
    else
      options.complain("--control: " + path.error().text);
  }
  if (auto at =
          options.take<loopback_endpoint>("--dashboard", raw.dashboard, parse_loopback_endpoint))
    settings.control.dashboard = std::move(*at);
  if (settings.control.dashboard && settings.control.path && settings.control.path->empty())
    options.complain("the dashboard needs the control socket, which is switched off");
  const auto workers = options.take<std::int64_t>("--workers", raw.workers, [](const auto& text) {
    return parse_integer(text, 1, max_workers);
  });
  if (workers)
    settings.workers = static_cast<std::size_t>(*workers);

  if (auto user = options.take<std::string>("--user", raw.user, parse_user))
    settings.user = std::move(*user);
  if (auto group = options.take<std::string>("--group", raw.user_group, parse_group))
    settings.group = std::move(*group);
  if (settings.group && !settings.user && !raw.user)
    options.complain("--group: without --user it changes nothing");

  const auto mode = options.take<host_mode>("--vmnet-mode", raw.mode, parse_host_mode);
  put_interface(settings, raw, mode, options);
  const auto group = options.take<std::string>("--socket-group", raw.group, parse_group);
  const auto permissions =
      options.take<mode_t>("--socket-mode", raw.socket_mode, parse_socket_mode);
  if (auto path = options.take<std::string>("SOCKET", raw.socket, parse_socket_path))
    put_socket(settings, std::move(*path), options);
  for (auto& network : settings.networks) {
    if (raw.disable_dhcp)
      network.dhcp.enabled = false;
    if (mode && network.host.mode != *mode)
      change_mode(network, *mode, options);
    for (auto& listener : network.listeners) {
      if (group)
        listener.group = group;
      if (permissions)
        listener.mode = permissions;
      if (settings.control.path == listener.path && !listener.path.empty())
        options.complain(fmt::format("\"{}\" is to be a socket for VMs and the control socket: "
                                     "choose another path for one of them",
                                     listener.path));
      if (settings.pidfile == listener.path && !listener.path.empty())
        options.complain(
            fmt::format("\"{}\" is to be a socket and the pidfile: choose another path "
                        "for one of them",
                        listener.path));
    }
  }
  const auto complaints = options.messages().size();
  put_identity(settings, raw.identity, options.messages(), notes);
  put_subnet(settings, raw, options);
  if (options.messages().size() != complaints)
    return;
  for (const auto& network : settings.networks) {
    auto right = check_dhcp_config(network.host, network.dhcp);
    for (auto rule = network.forwards.begin(); right && rule != network.forwards.end(); ++rule)
      right = check_forward(*rule, network.host, serves_dhcp(network.host, network.dhcp));
    if (!right)
      options.complain(
          fmt::format("network {} cannot be so: {}", network.name, right.error().text));
  }
}

// $STATE_DIRECTORY of systemd: leases are kept there unless the file says where.
void keep_leases(daemon_settings& settings, const std::string& state_folder) {
  const auto folder = state_folder.substr(0, state_folder.find(':'));
  if (folder.empty())
    return;
  for (auto& network : settings.networks)
    if (!network.dhcp.lease_file && serves_dhcp(network.host, network.dhcp))
      network.dhcp.lease_file = folder + "/" + network.name + ".leases";
}

constexpr auto about = "vmswitch: an Ethernet switch that virtual machines plug into";

} // namespace

command_info describe_vmswitchd() {
  CLI::App app{about, "vmswitchd"};
  raw_options raw;
  declare(app, raw, {"vmswitchd", host_mode::user});
  return describe(app);
}

tl::expected<command_line, command_line_failure>
parse_command_line(int argc, const char* const* argv, const file_reader& read,
                   const std::string& state_folder, const std::string& usual_control) {
  called_as called{program_name(argc, argv, "vmswitchd"), host_mode::user};
  if (called.program == socket_vmnet_name)
    called.mode = host_mode::shared;
  CLI::App app{about, called.program};
  raw_options raw;
  declare(app, raw, called);

  const auto arguments = with_empty_values(argc, argv);
  std::vector<const char*> pointers;
  for (const auto& argument : arguments)
    pointers.push_back(argument.c_str());
  try { // CLI11 reports by exceptions; this is as far as they get
    app.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const CLI::CallForHelp&) {
    return command_line{daemon_action::print, app.help(), {}};
  } catch (const CLI::ParseError& e) {
    return usage_error({e.what()}, called);
  }
  if (raw.version)
    return command_line{daemon_action::print, fmt::format("vmswitchd {}\n", version()), {}};

  option_reader options;
  if (!raw.socket && !raw.config)
    options.complain(fmt::format("where are VMs to connect? Give the path of a socket, as in \"{} "
                                 "/tmp/vm.sock\", or --config FILE",
                                 called.program));
  auto settings = raw.config
                      ? load(*raw.config, read)
                      : tl::expected<daemon_settings, command_line_failure>{without_file(called)};
  auto base = settings.value_or(without_file(called)); // goes on, to name the mistakes of both
  std::vector<std::string> notes;
  lay_over(base, raw, options, notes);

  if (!settings) {
    auto failure = std::move(settings.error());
    failure.messages.insert(failure.messages.begin(), options.messages().begin(),
                            options.messages().end());
    return tl::unexpected{std::move(failure)};
  }
  if (!options.messages().empty())
    return usage_error(std::move(options.messages()), called);
  keep_leases(base, state_folder);
  base.control.usual = usual_control;
  if (raw.check)
    return command_line{daemon_action::print, render_config(base), {}, std::move(notes)};
  return command_line{daemon_action::run, {}, std::move(base), std::move(notes)};
}

namespace {

tl::expected<command_line, command_line_failure>
parse_with(int argc, const char* const* argv,
           result<std::string> (*read)(const std::string& path, std::size_t most)) {
  const auto* state_folder = std::getenv("STATE_DIRECTORY");
  return parse_command_line(
      argc, argv, [read](const std::string& path) { return read(path, max_config_size); },
      state_folder == nullptr ? "" : state_folder, usual_control_path());
}

} // namespace

tl::expected<command_line, command_line_failure> parse_command_line(int argc,
                                                                    const char* const* argv) {
  return parse_with(argc, argv, read_text_file);
}

tl::expected<daemon_settings, std::vector<std::string>>
read_settings_again(int argc, const char* const* argv) {
  auto parsed = parse_with(argc, argv, read_regular_file);
  if (!parsed)
    return tl::unexpected{std::move(parsed.error().messages)};
  return std::move(parsed->settings);
}

} // namespace vmswitch
