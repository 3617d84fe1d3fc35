#include "app/network_fleet.hpp"

#include <cerrno>
#include <optional>

#include <boost/asio/executor_work_guard.hpp>
#include <doctest/doctest.h>

#include "tests/support/resource_limit.hpp"

using namespace vmswitch;

TEST_SUITE("network fleet") {

  TEST_CASE("a network that gets no thread of its own fails, others go on, and it may come later") {
    register_messages();
    boost::asio::io_context context;
    const auto work = boost::asio::make_work_guard(context);
    network_fleet fleet{context, 1, {}};
    std::optional<network_event> told;
    network_config config;
    config.name = "lab";
    const auto add = [&] {
      told = {};
      fleet.add(config, [&](const network_event& event) { told = event; });
    };
    {
      const test::resource_limit shortage{RLIMIT_NOFILE, 0};
      add();
    }
    CHECK_FALSE(told); // not before add() has returned
    while (!told)
      context.run_one();
    CHECK(told->kind == network_event::what::failed);
    CHECK(told->network == "lab");
    CHECK(told->code == EMFILE);
    CHECK(told->text.find("ulimit -n") != std::string::npos);
    CHECK(fleet.size() == 0);

    add();
    while (!told)
      context.run_one();
    CHECK(told->kind == network_event::what::up);
    bool is_down = false;
    fleet.stop_all([&] { is_down = true; });
    while (!is_down)
      context.run_one();
  }

} // TEST_SUITE
