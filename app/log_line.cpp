#include "app/log_line.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp> // JSON escaping that copes with broken UTF-8

#include "app/printable.hpp"

namespace vmswitch {

namespace {

std::string timestamp(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto second = floor<seconds>(time);
  const auto rest = duration_cast<milliseconds>(time - second);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(system_clock::to_time_t(second)),
                     rest.count());
}

} // namespace

std::string text_log_line(std::chrono::system_clock::time_point time, std::string_view level,
                          std::string_view message) {
  return fmt::format("{} {:<7} {}", timestamp(time), level, printable(message));
}

std::string json_log_line(std::chrono::system_clock::time_point time, std::string_view level,
                          std::string_view message) {
  using nlohmann::ordered_json;
  const ordered_json line{{"time", timestamp(time)}, {"level", level}, {"message", message}};
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace vmswitch
