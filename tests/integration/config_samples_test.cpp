#include <filesystem>

#include "tests/integration/daemon_lab.hpp"

using namespace vmswitch::test;

TEST_CASE("every sample of a configuration is valid, and needs no privilege to be checked") {
  const daemon_lab lab;
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator{VMSWITCH_CONFIG_DIR}) {
    if (file.path().extension() != ".toml")
      continue;
    CAPTURE(file.path().string());
    const auto checked = lab.run({"--config", file.path(), "--check"});
    CHECK(checked.code == 0);
    CHECK(checked.error.empty());
    CHECK(contains(checked.output, "[[network]]"));
    ++seen;
  }
  CHECK(seen >= 8);
}

TEST_CASE("the effective configuration of a network with a chosen device shows its name") {
  const daemon_lab lab;
  const auto checked = lab.run({"--vmnet-mode=shared", "--check", "/s"});
  CHECK(checked.code == 0);
  CHECK(contains(checked.output, "# interface = \"vms-default\""));
}
