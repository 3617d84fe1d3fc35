#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <termios.h>

namespace vmswitch {

/// The terminal as one screen to draw on, until its end, which puts everything back; so do SIGINT,
/// SIGTERM and SIGHUP, which end wait_key(). One at a time.
class terminal_screen {
public:
  terminal_screen();
  terminal_screen(const terminal_screen&) = delete;
  ~terminal_screen();

  struct size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  size measure() const;

  /// Replaces what is there. Lines must fit.
  void draw(std::string_view lines);

  /// The next key, or nothing when the time is up or the size has changed. 'q' if a signal says to
  /// end.
  std::optional<char> wait_key(std::chrono::milliseconds most);

private:
  termios before_{};
  bool is_raw_ = false;
};

} // namespace vmswitch
