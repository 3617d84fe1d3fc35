#include "app/ctl/terminal_screen.hpp"

#include <csignal>
#include <string>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace vmswitch {

namespace {

volatile std::sig_atomic_t is_over = 0;

void on_end(int) {
  is_over = 1;
}
void on_resize(int) {} // it ends poll()

void handle(int number, void (*with)(int)) {
  struct sigaction action {};
  action.sa_handler = with; // without SA_RESTART
  ::sigaction(number, &action, nullptr);
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

} // namespace

terminal_screen::terminal_screen() {
  is_over = 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    handle(number, on_end);
  handle(SIGWINCH, on_resize);
  if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
    auto raw = before_;
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  write_all("\x1b[?1049h\x1b[?25l"); // another screen, no cursor
}

terminal_screen::~terminal_screen() {
  write_all("\x1b[?25h\x1b[?1049l");
  if (is_raw_)
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH})
    std::signal(number, SIG_DFL);
}

terminal_screen::size terminal_screen::measure() const {
  winsize found{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0 || found.ws_row == 0)
    return {};
  return {found.ws_col, found.ws_row};
}

void terminal_screen::draw(std::string_view lines) {
  // Each line clears its own rest: without a blank screen in between nothing flickers. The last
  // line has no end, or the screen would scroll.
  std::string out = "\x1b[H";
  if (lines.ends_with('\n'))
    lines.remove_suffix(1);
  for (const char c : lines)
    out += c == '\n' ? std::string{"\x1b[K\r\n"} : std::string(1, c);
  write_all(out + "\x1b[J");
}

std::optional<char> terminal_screen::wait_key(std::chrono::milliseconds most) {
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  const int ready = is_over ? 0 : ::poll(&keyboard, 1, static_cast<int>(most.count()));
  if (is_over)
    return 'q';
  char key = 0;
  if (ready <= 0)
    return {};
  if (::read(STDIN_FILENO, &key, 1) != 1)
    return 'q'; // nobody is there any more
  return key;
}

} // namespace vmswitch
