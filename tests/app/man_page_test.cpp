#include "app/man_page.hpp"

#include <doctest/doctest.h>

#include "app/command_line.hpp"

using namespace vmswitch;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE("man_page") {

  TEST_CASE("a page has the options and commands with their values") {
    command_info program{"thing",
                         "thing: does things",
                         {{{"-n", "--name"}, "TEXT", {}, "A name", false},
                          {{"FILE"}, "TEXT", {}, "What to read", true},
                          {{"PLACE"}, "TEXT", {}, "Where to", true, true}},
                         {{"sub", "Does a part", {{{"--fast"}, "", {}, "Hurry", false}}, {}}}};
    const auto page = man_page(program, 1, {{"NOTES", {{"", ".dot \\ back-slash"}, {"tag", "x"}}}});
    CHECK(has(page, ".TH THING 1"));
    CHECK(has(page, "thing \\- does things"));
    CHECK(has(page, "[\\fIFILE\\fR] \\fIPLACE\\fR\n"));
    CHECK(has(page, ".TP\n\\fB\\-n\\fR, \\fB\\-\\-name\\fR \\fITEXT\\fR\nA name\n"));
    CHECK(has(page, ".SS sub\nDoes a part.\n.TP\n\\fB\\-\\-fast\\fR\nHurry\n"));
    CHECK(has(page, "\\&.dot \\e back\\-slash"));
  }

  TEST_CASE("the daemon's page has every option") {
    const auto info = describe_vmswitchd();
    const auto page = man_page(info, 8, {});
    CHECK(info.options.size() > 15);
    CHECK(has(page, "\\fB\\-\\-vmnet\\-mode\\fR \\fIMODE\\fR"));
    CHECK(has(page, "\\fB\\-\\-control\\fR \\fIPATH\\fR"));
  }

} // TEST_SUITE
