#include "app/ctl/top_model.hpp"

#include <sstream>

#include <doctest/doctest.h>

#include "app/ctl/text_table.hpp"

using namespace vmswitch;
using nlohmann::json;

namespace {

json port(const std::string& name, double bytes_in, double bytes_out, double dropped = 0,
          const std::string& state = "up") {
  return {{"name", name},
          {"network", "lab"},
          {"since", "2026"},
          {"state", state},
          {"bytes_in", bytes_in},
          {"bytes_out", bytes_out},
          {"frames_in", bytes_in / 100},
          {"frames_out", bytes_out / 100},
          {"dropped", dropped},
          {"queue", {{"frames", 3}}},
          {"macs", {"02:00:00:00:00:01"}}};
}

std::vector<std::string> names(const top_model& model, top_model::order by) {
  std::vector<std::string> all;
  for (const auto& each : model.sorted(by))
    all.push_back(each.name);
  return all;
}

top_model busy_lab() {
  top_model model;
  model.update({{"ports", {port("a", 0, 0), port("b", 0, 0), port("c", 0, 0)}}}, 10);
  model.update({{"ports", {port("a", 1000, 0), port("b", 0, 5000), port("c", 0, 0, 8)}}}, 12);
  return model;
}

using strings = std::vector<std::string>;

} // namespace

TEST_SUITE("top") {

  TEST_CASE("rates are what has changed between two looks, by the time between them") {
    const auto ports = busy_lab().sorted(top_model::order::name);
    REQUIRE(ports.size() == 3);
    CHECK(ports[0].bits_in == 4000);
    CHECK(ports[0].frames_in == 5);
    CHECK(ports[1].bits_out == 20000);
    CHECK(ports[2].drops == 4);
    CHECK(busy_lab().total().bits_out == 20000);
  }

  TEST_CASE("a port is called as a person has named it, and stays the same when he does") {
    top_model model;
    model.update({{"ports", {port("a", 0, 0)}}}, 10);
    auto named = port("a", 1000, 0);
    named["alias"] = "web";
    model.update({{"ports", {named}}}, 12);
    const auto ports = model.sorted(top_model::order::name);
    REQUIRE(ports.size() == 1);
    CHECK(ports[0].name == "web");
    CHECK(ports[0].bits_in == 4000);
  }

  TEST_CASE("ports are sorted as wanted") {
    const auto model = busy_lab();
    CHECK(names(model, top_model::order::total) == strings{"b", "a", "c"});
    CHECK(names(model, top_model::order::in) == strings{"a", "b", "c"});
    CHECK(names(model, top_model::order::drops) == strings{"c", "a", "b"});
    CHECK(names(model, top_model::order::name) == strings{"a", "b", "c"});
    auto by = top_model::order::total;
    for (int i = 0; i < 5; ++i)
      by = next_order(by);
    CHECK(by == top_model::order::total);
  }

  TEST_CASE("a new port has no rate, one that has gone is forgotten, a restart is no traffic") {
    auto model = busy_lab();
    model.update({{"ports", {port("a", 10, 0), port("d", 9e9, 0)}}}, 13);
    CHECK(names(model, top_model::order::name) == strings{"a", "d"});
    CHECK(model.total().bits_in == 0);
  }

  TEST_CASE("a port that does not answer keeps its last figures, and is compared with them later") {
    auto model = busy_lab();
    model.update({{"ports", {port("a", 0, 0, 0, "silent")}}}, 13);
    CHECK(model.total().bits_in == 4000);
    model.update({{"ports", {port("a", 2000, 0)}}}, 14);
    CHECK(model.total().bits_in == 4000); // 1000 bytes in 2 s
  }

  TEST_CASE("the picture fits the screen") {
    top_model model;
    json many = json::array();
    for (int i = 0; i < 50; ++i)
      many.push_back(port("port-with-a-long-name-" + std::to_string(i), 0, 0));
    model.update({{"ports", many}}, 1);
    for (const std::size_t width : {20, 80, 132})
      for (const std::size_t height : {1, 5, 24}) {
        std::istringstream lines{top_view(model, {width, height, false, {}, "title", "keys"})};
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count)
          CHECK(display_width(line) <= width);
        CHECK(count <= std::max<std::size_t>(height, 5));
      }
    const auto all = top_view(model, {200, 0, false, {}, "title", ""});
    CHECK(std::count(all.begin(), all.end(), '\n') == 54);
  }

  TEST_CASE("a sparkline has as many characters as it is wide, and reaches from floor to ceiling") {
    CHECK(sparkline({}, 3) == "   ");
    CHECK(sparkline({0, 7, 14}, 4) == " ▁▅█");
    CHECK(sparkline({1, 2, 3, 4}, 2) == "▆█");
    CHECK(sparkline({0, 0}, 2) == "▁▁");
  }

  TEST_CASE("an answer of another shape is no end") {
    top_model model;
    for (const char* text : {"null", "[]", R"({"ports":[1,{}]})", R"({"ports":[{"queue":7}]})"})
      model.update(json::parse(text), 1);
    CHECK_FALSE(top_view(model, {}).empty());
  }

} // TEST_SUITE
