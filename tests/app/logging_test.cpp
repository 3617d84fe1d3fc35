#include "app/logging.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "transport/owned_fd.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// What is written to stderr while it lives; puts spdlog's default logger back as well.
class captured_stderr {
public:
  captured_stderr() : before_{::dup(2)}, logger_{spdlog::default_logger()} {
    const owned_fd file{::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    REQUIRE(::dup2(file.get(), 2) == 2);
  }
  captured_stderr(const captured_stderr&) = delete;
  captured_stderr& operator=(const captured_stderr&) = delete;
  ~captured_stderr() {
    ::dup2(before_.get(), 2);
    spdlog::set_default_logger(logger_);
  }
  std::string text() const { return folder_.read("err"); }

private:
  temporary_folder folder_;
  owned_fd before_;
  std::shared_ptr<spdlog::logger> logger_;
};

} // namespace

TEST_CASE("log lines go to stderr as text, from the level that was set") {
  std::string text;
  {
    const captured_stderr captured;
    setup_logging({log_level::info, log_format::text});
    spdlog::debug("hidden");
    spdlog::info("port {} connected", "lab/1");
    text = captured.text();
  }
  CHECK(text.ends_with(" info    port lab/1 connected\n"));
  CHECK(text.find("hidden") == std::string::npos);
}

TEST_CASE("log lines go to stderr as JSON, an object a line, at once") {
  std::string text;
  {
    const captured_stderr captured;
    setup_logging({log_level::trace, log_format::json});
    spdlog::warn("say \"{}\"", "x\ny");
    text = captured.text();
  }
  CHECK(text.starts_with("{\"time\":\""));
  CHECK(text.ends_with(R"(","level":"warning","message":"say \"x\ny\""})"
                       "\n"));
}

TEST_CASE("the level can be changed while the daemon runs") {
  std::string text;
  {
    const captured_stderr captured;
    setup_logging({log_level::error, log_format::text});
    spdlog::info("one");
    set_log_level(log_level::info);
    spdlog::info("two");
    set_log_level(log_level::warn);
    spdlog::info("three");
    text = captured.text();
  }
  CHECK(text.find("one") == std::string::npos);
  CHECK(text.find("two") != std::string::npos);
  CHECK(text.find("three") == std::string::npos);
}
