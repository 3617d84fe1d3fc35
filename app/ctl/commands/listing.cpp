#include "app/ctl/commands/listing.hpp"

#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

namespace vmswitch {

client_result<nlohmann::json> fetch(const ctl_context& context, std::string_view target) {
  auto body = context.client.call("GET", target);
  if (!body)
    return tl::unexpected{body.error()};
  auto parsed = nlohmann::json::parse(*body, nullptr, false);
  if (parsed.is_discarded())
    return tl::unexpected{client_failure{
        exit_code::failed, "the daemon's answer is not JSON: is this vmswitchd's socket?"}};
  return parsed;
}

std::string query_of(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string out;
  for (const auto& [name, value] : parameters)
    if (!value.empty())
      out += (out.empty() ? "?" : "&") + name + "=" + escaped(value);
  return out;
}

std::string body_of(const nlohmann::json& wanted) {
  return wanted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void repetition::declare(CLI::App& command) {
  command.add_flag("-w,--watch", watch, "Show it again and again, until Ctrl-C");
  command.add_option("-i,--interval", seconds, "... every so many seconds; default: 1")
      ->type_name("SECONDS")
      ->check(CLI::Range{0.1, 3600.0});
}

client_result<void> repetition::run(const ctl_context& context,
                                    const std::function<client_result<std::string>()>& show) const {
  for (bool first = true;; first = false) {
    const auto picture = show();
    if (!picture)
      return tl::unexpected{picture.error()};
    if (watch && context.is_terminal && !context.json)
      context.print("\x1b[H\x1b[2J" + *picture);
    else
      context.print((first || context.json ? "" : "\n") + *picture);
    if (!watch)
      return {};
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

} // namespace vmswitch
