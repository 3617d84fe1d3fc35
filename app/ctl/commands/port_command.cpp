#include "app/ctl/commands/port_command.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;

class port_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    auto* const port = program.add_subcommand("port", "Change a port while it is there");
    port->require_subcommand(1);
    set_ = port->add_subcommand(
        "set", "Name a port, isolate it, or set it down, until its VM disconnects: a VM that "
               "connects again is a new port, without these settings");
    set_->add_option("PORT", port_, "Its name, as in \"vmswitchctl ports\"")->required();
    set_->add_option("-n,--network", network_,
                     "Of this network; needed if several have a port of that name")
        ->type_name("NAME");
    named_ = set_->add_option("--name", name_,
                              "Another name for it, valid wherever a port is named; \"\": none")
                 ->type_name("ALIAS");
    set_->add_option("--isolate", isolate_,
                     "on: it and other isolated ports exchange no frames; the host and other ports "
                     "are reached as before")
        ->type_name("WHETHER")
        ->check(CLI::IsMember{{"on", "off"}});
    auto* const up = set_->add_flag("--up", up_, "Forward again what it sends and is sent");
    set_->add_flag("--down", down_, "Forward nothing from or to it; it stays connected")
        ->excludes(up);
  }
  bool chosen() const override { return set_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    const auto wanted = change();
    if (wanted.empty())
      return tl::unexpected{client_failure{
          exit_code::usage, "what is to be set? Say --name, --isolate, --up or --down"}};
    const auto answer = context.client.call(
        "PATCH", "/v1/ports/" + escaped(port_) + query_of({{"network", network_}}),
        body_of(wanted));
    if (!answer)
      return tl::unexpected{answer.error()};
    const json ports{{"ports", json::array({json::parse(*answer, nullptr, false)})}};
    context.print(context.json ? *answer : ports_view(ports, context.colour));
    return {};
  }

private:
  json change() const {
    auto wanted = json::object();
    if (named_->count() > 0)
      wanted["name"] = name_;
    if (!isolate_.empty())
      wanted["isolated"] = isolate_ == "on";
    if (up_ || down_)
      wanted["up"] = up_;
    return wanted;
  }

  CLI::App* set_ = nullptr;
  std::string port_;
  std::string network_;
  CLI::Option* named_ = nullptr;
  std::string name_;
  std::string isolate_;
  bool up_ = false;
  bool down_ = false;
};

} // namespace

std::unique_ptr<ctl_command> make_port_command() {
  return std::make_unique<port_command>();
}

} // namespace vmswitch
