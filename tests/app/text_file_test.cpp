#include "app/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_CASE("a file is read whole, up to the limit and not beyond") {
  const temporary_folder folder;
  const auto path = folder.write("f", std::string(40'000, 'x'));
  CHECK(read_text_file(path, 40'000) == std::string(40'000, 'x'));
  const auto larger = read_text_file(path, 39'999);
  REQUIRE_FALSE(larger.has_value());
  CHECK(larger.error().code == EFBIG);
  CHECK_FALSE(read_text_file("/dev/zero", 1000).has_value());
}

TEST_CASE("a file that is not there, and a folder, are named with the reason") {
  const temporary_folder folder;
  const auto missing = read_text_file(folder / "no", 10);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().code == ENOENT);
  CHECK(missing.error().text.find(folder / "no") != std::string::npos);
  CHECK(read_text_file(folder / "", 10).error().code == EISDIR);
}

TEST_CASE("a pipe is read until its writer closes it, and one without a writer is given up") {
  const temporary_folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer{[&] { std::ofstream{folder / "pipe"} << std::string(100'000, 'x'); }};
  CHECK(read_text_file(folder / "pipe", 100'000) == std::string(100'000, 'x'));
  writer.join();
  const auto silent = read_text_file(folder / "pipe", 10);
  REQUIRE_FALSE(silent.has_value());
  CHECK(silent.error().text.find("nobody writes to") != std::string::npos);
}
