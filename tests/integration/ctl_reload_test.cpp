// vmswitchctl reload, and the request behind it.

#include "tests/integration/control_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct reload_lab : control_lab {
  std::string network(const std::string& name) const {
    return "[[network]]\nname = \"" + name +
           "\"\nmode = \"isolated\"\n[[network.listen]]\npath = \"" + folder / name + "\"\n";
  }
  void write(const std::string& text) const { folder.write("vm.toml", text); }
  child_process start_file() const {
    auto daemon = start_with({"--config", folder / "vm.toml", "--pidfile", pidfile(),
                              "--control=" + control(), "--workers=1"});
    await_ready(daemon);
    return daemon;
  }
};

std::vector<std::string> changes_in(const std::string& report) {
  std::vector<std::string> texts;
  const auto parsed = nlohmann::json::parse(report);
  for (const auto& change : parsed.at("changes"))
    texts.push_back(change.at("text"));
  return texts;
}

} // namespace

TEST_CASE("reload --dry-run changes nothing, and tells what reload does then") {
  const reload_lab lab;
  lab.write(lab.network("a") + lab.network("b"));
  auto daemon = lab.start_file();
  auto a1 = lab.connect("a"), a2 = lab.connect("a"), b = lab.connect("b");
  lab.write("[daemon]\nuser = \"nobody\"\n" + lab.network("a") + lab.network("d"));
  const auto would = lab.ctl({"reload", "--dry-run", "--json"});
  REQUIRE(would.code == 0);
  CHECK(changes_in(would.output).size() == 2);
  CHECK(lab.folder.has("b"));
  CHECK_FALSE(lab.folder.has("d"));
  const auto done = lab.ctl({"reload", "--json"});
  REQUIRE(done.code == 0);
  CHECK(changes_in(done.output) == changes_in(would.output));
  CHECK(nlohmann::json::parse(done.output).at("needs_restart") ==
        nlohmann::json::parse(would.output).at("needs_restart"));
  CHECK_FALSE(lab.folder.has("b"));
  CHECK(frame_socket::stream(lab.folder / "d"));
  CHECK(is_hung_up(b));
  CHECK(hears(a2, a1));
  const auto again = lab.ctl({"reload"});
  CHECK(again.code == 0);
  CHECK(contains(again.output, "needs a restart: user default -> nobody"));
  CHECK(contains(again.output, "0 change(s) made"));
}

TEST_CASE("reload of a broken file tells all mistakes, and what fails is told with its reason") {
  const reload_lab lab;
  lab.write(lab.network("a"));
  auto daemon = lab.start_file();
  lab.write("[daemon]\nworkers = 0\nlog_level = \"loud\"\n" + lab.network("b"));
  for (const auto& words : {daemon_lab::words{"reload"}, {"reload", "--dry-run"}}) {
    const auto refused = lab.ctl(words);
    CHECK(refused.code == 1);
    CHECK(contains(refused.error, "daemon.workers"));
    CHECK(contains(refused.error, "daemon.log_level"));
  }
  lab.folder.write("b", "precious");
  lab.write(lab.network("a") + lab.network("b"));
  const auto failed = lab.ctl({"reload"});
  CHECK(failed.code == 1);
  CHECK(contains(failed.output, "not done: cannot make the socket"));
  CHECK(lab.folder.read("b") == "precious");
  CHECK(frame_socket::stream(lab.folder / "a"));
}
