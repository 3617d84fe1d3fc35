#include "app/ctl/commands/top_command.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/ctl/commands/listing.hpp"
#include "app/ctl/ctl_views.hpp"
#include "app/ctl/terminal_screen.hpp"
#include "app/ctl/text_table.hpp"
#include "app/ctl/top_model.hpp"

namespace vmswitch {

namespace {

using clock_type = std::chrono::steady_clock;
using order = top_model::order;

constexpr auto keys = "q quit   t traffic   i in   o out   d drops   n name   space next";

std::optional<order> order_for(char key, order now) {
  switch (key) {
  case 't':
    return order::total;
  case 'i':
    return order::in;
  case 'o':
    return order::out;
  case 'd':
    return order::drops;
  case 'n':
    return order::name;
  case ' ':
    return next_order(now);
  default:
    return {};
  }
}

class top_command final : public ctl_command {
public:
  void declare(CLI::App& program) override {
    command_ =
        program.add_subcommand("top", "Ports by traffic, live; as text if not on a terminal");
    command_->add_option("-n,--network", network_, "Only of this network")->type_name("NAME");
    command_->add_option("-i,--interval", seconds_, "Look every so many seconds; default: 1")
        ->type_name("SECONDS")
        ->check(CLI::Range{0.1, 3600.0});
    command_->add_option("-c,--count", count_, "End after so many pictures")
        ->type_name("N")
        ->check(CLI::Range{1, 1'000'000});
    command_->add_option("-s,--sort", sort_, "traffic, in, out, drops or name")
        ->type_name("COLUMN")
        ->check(CLI::IsMember{{"traffic", "in", "out", "drops", "name"}});
  }
  bool chosen() const override { return command_->parsed(); }

  client_result<void> run(const ctl_context& context) override {
    while (name_of(by_) != sort_)
      by_ = next_order(by_);
    // The first look has nothing to compare with.
    if (auto looked = look(context); !looked)
      return looked;
    if (context.is_terminal && !context.json && ::isatty(STDIN_FILENO) != 0)
      return run_screen(context);
    for (int shown = 0; count_ == 0 || shown < count_; ++shown) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
      if (auto looked = look(context); !looked)
        return looked;
      context.print(context.json ? answer_ : (shown == 0 ? "" : "\n") + picture(0, 200, false, ""));
    }
    return {};
  }

private:
  client_result<void> look(const ctl_context& context) {
    auto body = context.client.call("GET", "/v1/ports" + query_of({{"network", network_}}));
    if (!body)
      return tl::unexpected{body.error()};
    answer_ = std::move(*body);
    const auto parsed = nlohmann::json::parse(answer_, nullptr, false);
    model_.update(parsed,
                  std::chrono::duration<double>(clock_type::now().time_since_epoch()).count());
    return {};
  }

  client_result<void> run_screen(const ctl_context& context) {
    terminal_screen screen;
    title_ = context.client.socket();
    const auto pause =
        std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(seconds_));
    auto next = clock_type::now() + pause;
    for (int shown = 0; count_ == 0 || shown < count_;) {
      const auto size = screen.measure();
      screen.draw(picture(size.height, size.width, context.colour, keys));
      const auto rest =
          std::chrono::duration_cast<std::chrono::milliseconds>(next - clock_type::now());
      if (rest.count() > 0) {
        const auto key = screen.wait_key(rest);
        if (key == 'q' || key == '\x1b')
          break;
        if (key)
          by_ = order_for(*key, by_).value_or(by_);
        if (clock_type::now() < next)
          continue;
      }
      next = clock_type::now() + pause;
      ++shown;
      if (auto looked = look(context); !looked)
        return looked; // the screen goes first, then it is told
    }
    return {};
  }

  std::string picture(std::size_t height, std::size_t width, bool colour,
                      const std::string& last_line) const {
    return top_view(model_, {width, height, colour, by_,
                             title_.empty() ? "vmswitch" : "vmswitch at " + title_, last_line});
  }

  CLI::App* command_ = nullptr;
  std::string network_;
  double seconds_ = 1;
  int count_ = 0;
  std::string sort_ = "traffic";
  order by_ = order::total;
  std::string title_;
  std::string answer_;
  top_model model_;
};

} // namespace

std::unique_ptr<ctl_command> make_top_command() {
  return std::make_unique<top_command>();
}

} // namespace vmswitch
