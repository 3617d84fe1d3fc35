#include "app/ctl/commands/completion_command.hpp"

#include <CLI/CLI.hpp>

#include "app/command_info.hpp"
#include "app/ctl/commands/listing.hpp"
#include "app/ctl/completion.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

class completion_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    program_ = &program;
    command_ = program.add_subcommand("completion", "Print the completion script for a shell");
    command_->add_option("SHELL", shell_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember{{"bash", "zsh", "fish"}});
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    context.print(completion_script(describe(*program_), shell_).value_or(""));
    return {};
  }

private:
  CLI::App* program_ = nullptr;
  CLI::App* command_ = nullptr;
  std::string shell_;
};

class names_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand("names", "")->group(""); // hidden
    command_->add_option("KIND", kind_)->required()->check(CLI::IsMember{{"networks", "ports"}});
  }
  bool chosen() const override { return command_->parsed(); }
  client_result<void> run(const ctl_context& context) override {
    const auto answer = fetch(context, "/v1/" + kind_);
    if (!answer)
      return tl::unexpected{answer.error()};
    for (const auto& each : list_of(*answer, kind_.c_str()))
      for (const auto* key : {"name", "alias"})
        if (const auto name = text_of(each, key); !name.empty())
          context.print(name + "\n");
    return {};
  }

private:
  CLI::App* command_ = nullptr;
  std::string kind_;
};

} // namespace

std::unique_ptr<ctl_command> make_completion_command() {
  return std::make_unique<completion_command>();
}

std::unique_ptr<ctl_command> make_names_command() {
  return std::make_unique<names_command>();
}

} // namespace vmswitch
