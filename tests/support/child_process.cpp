#include "tests/support/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): not declared everywhere

namespace vmswitch::test {

namespace {

using namespace std::chrono_literals;

result<owned_fd> unnamed_file() {
  char path[] = "/tmp/vmswitch-test-output-XXXXXX";
  owned_fd file{::mkstemp(path)};
  if (!file)
    return fail_errno("creating a file like " + std::string{path}, errno);
  ::unlink(path);
  ::fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  return file;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const auto& word : words)
    all.push_back(const_cast<char*>(word.c_str()));
  return all;
}

std::string content(int file) {
  std::string text;
  char piece[4096];
  for (ssize_t count;
       (count = ::pread(file, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0;)
    text.append(piece, static_cast<std::size_t>(count));
  return text;
}

// Between fork() and exec() the test framework would report a signal as the crash of a test.
void forget_handlers() {
  for (const int number : {SIGTERM, SIGINT})
    ::signal(number, SIG_DFL);
}

} // namespace

bool poll_until(const std::function<bool()>& done, std::chrono::steady_clock::time_point until) {
  while (!done()) {
    if (std::chrono::steady_clock::now() >= until)
      return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

result<child_process> child_process::start(const plan& how) {
  owned_fd output;
  owned_fd error;
  for (owned_fd* each : {&output, &error})
    if (how.keep_output) {
      auto file = unnamed_file();
      if (!file)
        return tl::unexpected{file.error()};
      *each = std::move(*file);
    }
  auto argv = pointers(how.command);
  argv.push_back(nullptr);
  auto envp = pointers(how.environment); // first, since the first of a name counts
  for (char** each = environ; *each; ++each)
    envp.push_back(*each);
  envp.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid < 0)
    return fail_errno("fork", errno);
  if (pid == 0) {
    forget_handlers();
    if (output)
      ::dup2(output.get(), STDOUT_FILENO);
    if (error)
      ::dup2(error.get(), STDERR_FILENO);
    if (how.prepare)
      how.prepare();
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(errno == EACCES ? 126 : 127);
  }
  child_process started{pid};
  started.output_ = std::move(output);
  started.error_ = std::move(error);
  return started;
}

result<child_process> child_process::run(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid < 0)
    return fail_errno("fork", errno);
  if (pid == 0) {
    forget_handlers();
    body();
    ::_exit(1);
  }
  return child_process{pid};
}

child_process::child_process(child_process&& other) noexcept
    : pid_{std::exchange(other.pid_, 0)}, code_{other.code_}, output_{std::move(other.output_)},
      error_{std::move(other.error_)} {}

child_process::~child_process() {
  signal(SIGTERM);
  if (pid_ == 0 || wait(clock::now() + 5s))
    return;
  signal(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void child_process::signal(int number) const noexcept {
  if (pid_ > 0)
    ::kill(pid_, number);
}

std::optional<int> child_process::wait(clock::time_point until) {
  poll_until(
      [this] {
        int status = 0;
        if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
          pid_ = 0;
          code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return pid_ == 0;
      },
      until);
  return code_;
}

std::string child_process::output() const {
  return content(output_.get());
}
std::string child_process::error_output() const {
  return content(error_.get());
}

} // namespace vmswitch::test
