#include "app/ctl/commands/events_command.hpp"

#include <CLI/CLI.hpp>

#include "app/ctl/event_lines.hpp"

namespace vmswitch {

namespace {

class events_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand("events", "What happens, as it happens");
    command_->add_flag("-a,--all", all_, "Begin with those that the daemon still knows");
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    event_lines lines;
    return context.client.stream(all_ ? "/v1/events?since=0" : "/v1/events",
                                 [&](std::string_view piece) {
                                   lines.feed(piece, [&](std::string_view json) {
                                     context.print(context.json ? std::string{json} + "\n"
                                                                : event_view(json, context.colour));
                                   });
                                   return true;
                                 });
  }

private:
  CLI::App* command_ = nullptr;
  bool all_ = false;
};

} // namespace

std::unique_ptr<ctl_command> make_events_command() {
  return std::make_unique<events_command>();
}

} // namespace vmswitch
