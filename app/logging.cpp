#include "app/logging.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "app/log_line.hpp"

namespace vmswitch {

namespace {

spdlog::level::level_enum spdlog_level(log_level level) noexcept {
  switch (level) {
  case log_level::trace:
    return spdlog::level::trace;
  case log_level::debug:
    return spdlog::level::debug;
  case log_level::info:
    return spdlog::level::info;
  case log_level::warn:
    return spdlog::level::warn;
  case log_level::error:
    return spdlog::level::err;
  }
  return spdlog::level::info;
}

class line_formatter final : public spdlog::formatter {
public:
  explicit line_formatter(log_format format) noexcept : format_{format} {}

  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto level = spdlog::level::to_string_view(message.level);
    const std::string_view name{level.data(), level.size()};
    const std::string_view text{message.payload.data(), message.payload.size()};
    auto line = format_ == log_format::json ? json_log_line(message.time, name, text)
                                            : text_log_line(message.time, name, text);
    line += '\n';
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<line_formatter>(format_);
  }

private:
  const log_format format_;
};

} // namespace

void setup_logging(const log_settings& settings) {
  auto logger = std::make_shared<spdlog::logger>("vmswitch",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::make_unique<line_formatter>(settings.format));
  logger->set_level(spdlog_level(settings.level));
  spdlog::set_default_logger(std::move(logger));
}

void change_logging(const log_settings& settings) {
  spdlog::default_logger_raw()->set_formatter(std::make_unique<line_formatter>(settings.format));
  set_log_level(settings.level);
}

void set_log_level(log_level level) noexcept {
  spdlog::default_logger_raw()->set_level(spdlog_level(level));
}

log_level current_log_level() noexcept {
  switch (spdlog::default_logger_raw()->level()) {
  case spdlog::level::trace:
    return log_level::trace;
  case spdlog::level::debug:
    return log_level::debug;
  case spdlog::level::info:
    return log_level::info;
  case spdlog::level::warn:
    return log_level::warn;
  default:
    return log_level::error;
  }
}

} // namespace vmswitch
