#include "app/shortage.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include <boost/system/system_error.hpp>
#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("shortage") {

  TEST_CASE("what is lacking is told with the limit to raise, whichever library says so") {
    const auto told = [](const std::exception& thrown, const char* limit) {
      return shortage(thrown).text.find(limit) != std::string::npos;
    };
    const auto& system = std::generic_category();
    const auto& boosted = boost::system::system_category();
    CHECK(told(std::bad_alloc{}, "ulimit -v"));
    CHECK(told(std::system_error{EMFILE, system}, "ulimit -n"));
    CHECK(told(boost::system::system_error{{EMFILE, boosted}}, "ulimit -n"));
    CHECK(told(std::system_error{EAGAIN, system}, "ulimit -u"));
    CHECK(told(std::system_error{ENFILE, system}, "fs.file-max"));
    CHECK(shortage(std::system_error{EMFILE, system}).code == EMFILE);
  }

  TEST_CASE("of what is not known the words of the exception are told") {
    const auto told = shortage(std::runtime_error{"no entropy"});
    CHECK(told.text.find("no entropy") != std::string::npos);
    CHECK(told.code == 0);
  }

} // TEST_SUITE
