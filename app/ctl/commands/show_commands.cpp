// The commands that show one thing: status, networks, ports, mac, leases, dns,
// captures, drops.

#include "app/ctl/commands/show_commands.hpp"

#include <utility>

#include <CLI/CLI.hpp>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;

// A command with a view, the targets that it is made from, and the filters that it takes.
class show_command final : public ctl_command {
public:
  struct plan {
    std::string name;
    std::string help;
    std::string target; // whose answer --json prints
    bool by_network = true;
    bool by_port = false;
    std::function<std::string(const json& answer, const ctl_context& context)> view;
  };
  explicit show_command(plan how) : how_{std::move(how)} {}

  void declare(CLI::App& program) override {
    command_ = program.add_subcommand(how_.name, how_.help);
    if (how_.by_network)
      command_->add_option("-n,--network", network_, "Only of this network")->type_name("NAME");
    if (how_.by_port)
      command_->add_option("-p,--port", port_, "Only of this port")->type_name("NAME");
    repeat_.declare(*command_);
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    const auto target = how_.target + query_of({{"network", network_}, {"port", port_}});
    return repeat_.run(context, [&]() -> client_result<std::string> {
      if (context.json)
        return context.client.call("GET", target);
      const auto answer = fetch(context, target);
      if (!answer)
        return tl::unexpected{answer.error()};
      return how_.view(*answer, context);
    });
  }

private:
  const plan how_;
  CLI::App* command_ = nullptr;
  std::string network_;
  std::string port_;
  repetition repeat_;
};

// A view that needs a second answer, which may fail for itself.
json other(const ctl_context& context, std::string_view target) {
  return fetch(context, target).value_or(json::object());
}

} // namespace

void add_show_commands(std::vector<std::unique_ptr<ctl_command>>& commands) {
  const auto add = [&](show_command::plan how) {
    commands.push_back(std::make_unique<show_command>(std::move(how)));
  };
  add({"status", "The daemon and its networks", "/v1/status", false, false,
       [](const json& answer, const ctl_context& context) {
         return status_view(answer, other(context, "/v1/networks"), context.colour);
       }});
  add({"networks", "The networks", "/v1/networks", false, false,
       [](const json& answer, const ctl_context& context) {
         return networks_view(answer, context.colour);
       }});
  add({"ports", "VMs and hosts: traffic, queues, drops", "/v1/ports", true, false,
       [](const json& answer, const ctl_context& context) {
         return ports_view(answer, context.colour);
       }});
  add({"mac", "Which MAC address is behind which port", "/v1/macs", true, true,
       [](const json& answer, const ctl_context& context) {
         return macs_view(answer, context.colour);
       }});
  add({"leases", "Addresses that VMs have by DHCP", "/v1/leases", true, false,
       [](const json& answer, const ctl_context& context) {
         return leases_view(answer, context.colour);
       }});
  add({"dns", "Names that the networks' DNS answers by itself", "/v1/dns", true, false,
       [](const json& answer, const ctl_context& context) {
         return dns_view(answer, context.colour);
       }});
  add({"captures", "Captures that run", "/v1/captures", true, false,
       [](const json& answer, const ctl_context& context) {
         return captures_view(answer, context.colour);
       }});
  add({"drops", "Which frames were dropped, and why", "/v1/networks", false, false,
       [](const json& answer, const ctl_context& context) {
         return drops_view(answer, other(context, "/v1/ports"), context.colour);
       }});
}

} // namespace vmswitch
