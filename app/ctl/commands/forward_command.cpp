#include "app/ctl/commands/forward_command.hpp"

#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;

client_result<void> usage(std::string text) {
  return tl::unexpected{client_failure{exit_code::usage, std::move(text)}};
}

class forward_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ = program.add_subcommand("forward", "Ports of the host that lead to VMs, as of now");
    command_->require_subcommand(1);
    list_ = command_->add_subcommand("list", "Which there are, and where they lead");
    by_network(*list_, "Only of this network");
    repeat_.declare(*list_);
    add_ = command_->add_subcommand("add", "Begin one, until it is removed or the daemon ends");
    by_network(*add_, "In this network; needed if there are several");
    add_->add_option("RULE", words_,
                     "[tcp|udp] [ADDRESS:]PORT -> VM[:PORT], as in 'tcp 127.0.0.1:2222 -> web:22', "
                     "quoted for the shell; or with \"to\" in place of the arrow. Without ADDRESS "
                     "it is for this host only")
        ->required();
    remove_ = command_->add_subcommand("rm", "End one, and its connections");
    by_network(*remove_, "Of this network");
    remove_->add_option("LISTEN", words_, "Where it listens: [tcp|udp] [ADDRESS:]PORT")->required();
  }
  bool chosen() const override { return command_->parsed(); }

  client_result<void> run(const ctl_context& context) override {
    return list_->parsed() ? list(context) : add_->parsed() ? add(context) : remove(context);
  }

private:
  void by_network(CLI::App& command, const char* help) {
    command.add_option("-n,--network", network_, help)->type_name("NAME");
  }

  client_result<void> list(const ctl_context& context) const {
    const auto target = "/v1/forwards" + query_of({{"network", network_}});
    return repeat_.run(context, [&]() -> client_result<std::string> {
      if (context.json)
        return context.client.call("GET", target);
      return fetch(context, target).map([&](const json& answer) {
        return forwards_view(answer, context.colour);
      });
    });
  }

  client_result<void> add(const ctl_context& context) const {
    if (words_.back().ends_with('-'))
      return usage("the shell took the rest of the arrow for itself, and may have made a file: "
                   "write the rule in quotes, or \"to\" in place of ->");
    json wanted{{"rule", rule()}};
    if (!network_.empty())
      wanted["network"] = network_;
    const auto answer = context.client.call("POST", "/v1/forwards", body_of(wanted));
    if (!answer)
      return tl::unexpected{answer.error()};
    context.print(context.json ? *answer : added_view(json::parse(*answer, nullptr, false)));
    return {};
  }

  client_result<void> remove(const ctl_context& context) const {
    const auto target =
        "/v1/forwards" +
        query_of({{"network", network_}, {"listen", fmt::format("{}", fmt::join(words_, " "))}});
    const auto answer = context.client.call("DELETE", target);
    if (!answer)
      return tl::unexpected{answer.error()};
    const auto done = json::parse(*answer, nullptr, false);
    context.print(context.json ? *answer
                               : fmt::format("{} is removed from network {}\n",
                                             text_of(done, "removed"), text_of(done, "network")));
    return {};
  }

  std::string rule() const {
    std::string text;
    for (const auto& word : words_)
      text += (text.empty() ? "" : " ") + (word == "to" ? "->" : word);
    return text;
  }

  static std::string added_view(const json& made) {
    const auto address = text_of(made, "address");
    return fmt::format("{} in network {}: {}\n", text_of(made, "rule"), text_of(made, "network"),
                       address.empty() ? "waits for the VM to get an address"
                                       : "leads to " + address);
  }

  CLI::App* command_ = nullptr;
  CLI::App* list_ = nullptr;
  CLI::App* add_ = nullptr;
  CLI::App* remove_ = nullptr;
  std::string network_;
  std::vector<std::string> words_;
  repetition repeat_;
};

} // namespace

std::unique_ptr<ctl_command> make_forward_command() {
  return std::make_unique<forward_command>();
}

} // namespace vmswitch
