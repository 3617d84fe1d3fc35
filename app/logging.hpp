#pragma once

#include "app/settings.hpp"

namespace vmswitch {

/// Sends what spdlog::info() and its kin say to stderr, a line each, as told. Called once, before
/// other threads log; what is logged earlier looks as spdlog likes it.
void setup_logging(const log_settings& settings);

/// Changes level and format while the daemon runs. Thread-safe.
void change_logging(const log_settings& settings);

/// Changes the level while the daemon runs. Thread-safe.
void set_log_level(log_level level) noexcept;

/// The level that is in force. Thread-safe.
log_level current_log_level() noexcept;

} // namespace vmswitch
