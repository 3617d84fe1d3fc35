#include "app/ctl/commands/dashboard_command.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"
#include "app/printable.hpp"

namespace vmswitch {

namespace {

class dashboard_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand(
        "dashboard", "Opens the dashboard for a browser of this machine, until Ctrl-C");
    command_
        ->add_option("--listen", listen_, "Loopback address; default: 127.0.0.1 and any free port")
        ->type_name("ADDRESS:PORT");
    command_->add_flag("--read-only", is_read_only_, "The page may look, and change nothing");
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    nlohmann::json body = nlohmann::json::object();
    if (!listen_.empty())
      body["listen"] = listen_;
    if (is_read_only_)
      body["role"] = "read-only";
    std::string line;
    return context.client.stream(
        "/v1/dashboard",
        [&](std::string_view piece) {
          line += piece;
          if (const auto end = line.find('\n'); end != std::string::npos) {
            context.print(context.json ? line : view(line.substr(0, end)));
            line.clear();
          }
          return true;
        },
        {}, "POST", body_of(body));
  }

private:
  static std::string view(const std::string& json) {
    const auto told = nlohmann::json::parse(json, nullptr, false);
    return fmt::format("{}\nCtrl-C ends it. Who has this address may do what you may.\n",
                       printable(text_of(told, "url")));
  }

  CLI::App* command_ = nullptr;
  std::string listen_;
  bool is_read_only_ = false;
};

} // namespace

std::unique_ptr<ctl_command> make_dashboard_command() {
  return std::make_unique<dashboard_command>();
}

} // namespace vmswitch
