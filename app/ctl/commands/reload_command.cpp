#include "app/ctl/commands/reload_command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

std::string view(const nlohmann::json& report) {
  std::string text;
  for (const auto& each : list_of(report, "changes")) {
    text += text_of(each, "text") + "\n";
    if (const auto failure = text_of(each, "failure"); !failure.empty())
      text += "  not done: " + failure + "\n";
  }
  for (const auto& each : list_of(report, "needs_restart"))
    text += fmt::format("needs a restart: {} ({})\n", text_of(each, "text"), text_of(each, "why"));
  return text + text_of(report, "summary") + "\n";
}

class reload_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand(
        "reload", "Read the configuration again, and change what differs while VMs stay connected");
    command_->add_flag("--dry-run", dry_run_, "Only tell what would be changed");
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    const auto answer = context.client.call("POST", "/v1/reload", body_of({{"dry_run", dry_run_}}));
    if (!answer)
      return tl::unexpected{answer.error()};
    const auto report = nlohmann::json::parse(*answer, nullptr, false);
    context.print(context.json ? *answer : view(report));
    if (number_of(report, "failed") > 0)
      return tl::unexpected{
          client_failure{exit_code::failed, "not everything was done; the rest is as before"}};
    return {};
  }

private:
  CLI::App* command_ = nullptr;
  bool dry_run_ = false;
};

} // namespace

std::unique_ptr<ctl_command> make_reload_command() {
  return std::make_unique<reload_command>();
}

} // namespace vmswitch
