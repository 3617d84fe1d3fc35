#include "app/ctl/commands/log_command.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

class log_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand("log", "Show or change the level of the daemon's log");
    command_->add_option("LEVEL", level_, "trace, debug, info, warn or error");
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    const auto answer = level_.empty()
                            ? context.client.call("GET", "/v1/log")
                            : context.client.call("PUT", "/v1/log", body_of({{"level", level_}}));
    if (!answer)
      return tl::unexpected{answer.error()};
    context.print(context.json
                      ? *answer
                      : text_of(nlohmann::json::parse(*answer, nullptr, false), "level") + "\n");
    return {};
  }

private:
  CLI::App* command_ = nullptr;
  std::string level_;
};

} // namespace

std::unique_ptr<ctl_command> make_log_command() {
  return std::make_unique<log_command>();
}

} // namespace vmswitch
