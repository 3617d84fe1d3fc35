#include "vmnet/dhcp/lease_file.hpp"

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/vmnet/dhcp/dhcp_bench.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::sys_seconds noon{1'764'500'000s};

} // namespace

TEST_SUITE("lease file") {
  TEST_CASE("what is written is read again") {
    const std::vector<remembered_lease> leases{
        {vm(1), ip("192.168.105.10"), noon + 60s, noon, "web"},
        {vm(2), ip("192.168.105.11"), noon - 60s, noon - 100s, ""}};
    const auto text = render_leases(leases);
    CHECK(std::ranges::count(text, '\n') == 2);
    const auto again = parse_leases(text);
    CHECK(again.leases == leases);
    CHECK(again.skipped_lines == 0);
  }

  TEST_CASE("minikube#17987: a bad line is skipped and told, the others count") {
    const std::string good =
        R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":1764500000,"new":[1]})";
    for (
        const std::string bad :
        {"}{", "{\"mac\":", "[]", "7", "null", "\xff\xfe\x00", "{}",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10"})",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":"soon"})",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":-5})",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":1e99})",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":18446744073709551615})",
         R"({"mac":"52:54:00:00:00:01","address":"192.168.105.1000","expires":1764500000})",
         R"({"mac":"01:54:00:00:00:01","address":"192.168.105.10","expires":1764500000})",
         R"({"mac":7,"address":"192.168.105.10","expires":1764500000})"}) {
      CAPTURE(bad);
      const auto content = parse_leases(bad + "\n" + good + "\n\n" + good);
      CHECK(content.leases.size() == 2);
      CHECK(content.skipped_lines == 1);
      REQUIRE(content.skipped.size() == 1);
      CHECK(content.skipped[0].starts_with("line 1 "));
    }
  }

  TEST_CASE("hostile: a line without end, brackets without end, a million bad lines") {
    CHECK(parse_leases(std::string(1 << 20, '[')).skipped_lines == 1);
    CHECK(parse_leases(std::string(1 << 20, 'x')).skipped_lines == 1);
    std::string lines;
    for (int i = 0; i < 100'000; ++i)
      lines += "x\n";
    const auto content = parse_leases(lines);
    CHECK(content.skipped_lines == 100'000);
    CHECK(content.skipped.size() < 10);
  }

  TEST_CASE("a name that is none does not reach the log through the file") {
    const auto content = parse_leases(
        R"({"mac":"52:54:00:00:00:01","address":"192.168.105.10","expires":1,"name":"a\nb"})");
    REQUIRE(content.leases.size() == 1);
    CHECK(content.leases[0].name.empty());
  }

  TEST_CASE("the file is replaced in one step, is private, and leaves no other behind") {
    const temporary_folder folder;
    const auto path = folder / "leases";
    folder.write("leases.vmswitch-new", "half a li"); // of a writer that was killed
    REQUIRE(write_lease_file(path, "one\n"));
    struct stat first {};
    REQUIRE(::stat(path.c_str(), &first) == 0);
    CHECK((first.st_mode & 07777) == 0600);
    REQUIRE(write_lease_file(path, "two\n"));
    struct stat second {};
    REQUIRE(::stat(path.c_str(), &second) == 0);
    CHECK(second.st_ino != first.st_ino);
    CHECK(folder.read("leases") == "two\n");
    CHECK(folder.count() == 1);
  }

  TEST_CASE("what cannot be written or read is an error that names the file") {
    const temporary_folder folder;
    const auto nowhere = folder / "no/such/folder";
    const auto written = write_lease_file(nowhere, "x");
    REQUIRE_FALSE(written);
    CHECK(written.error().text.find(nowhere) != std::string::npos);
    CHECK_FALSE(read_lease_file((folder / "."))); // a folder
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    CHECK_FALSE(read_lease_file((folder / "fifo"))); // and does not wait for a writer
    const auto missing = read_lease_file((folder / "missing"));
    REQUIRE(missing); // the first start
    CHECK(missing->leases.empty());
    CHECK_FALSE(write_lease_file((folder / "."), "x"));
  }

  TEST_CASE("hostile: what was not written here is refused, and not replaced") {
    const temporary_folder folder;
    folder.write("diary", "my diary\n\nand more\n");
    const auto diary = read_lease_file(folder / "diary");
    REQUIRE_FALSE(diary);
    CHECK(diary.error().text.find("2 line(s) skipped: line 1 is no JSON; line 3") !=
          std::string::npos);
    folder.write("large", "");
    std::filesystem::resize_file(folder / "large", largest_lease_file + 1);
    CHECK_FALSE(read_lease_file(folder / "large"));
    std::filesystem::create_symlink("diary", folder / "link");
    std::filesystem::create_symlink("nowhere", folder / "dangling");
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    for (const char* name : {"link", "dangling", "fifo", "."}) {
      CAPTURE(name);
      CHECK_FALSE(read_lease_file(folder / name));
      const auto written = write_lease_file(folder / name, "x");
      REQUIRE_FALSE(written);
      CHECK(written.error().text.find(folder / name) != std::string::npos);
    }
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(std::filesystem::is_symlink(folder / "dangling"));
    CHECK(folder.read("diary") == "my diary\n\nand more\n");
    CHECK(folder.count() == 5);
  }

  TEST_CASE("a neighbour's file is not taken for our draft") {
    const temporary_folder folder;
    folder.write("leases.new", "of another network");
    REQUIRE(write_lease_file(folder / "leases", "one\n"));
    CHECK(folder.read("leases.new") == "of another network");
    CHECK(folder.count() == 2);
  }

  TEST_CASE("fabric#394: through a file leases persist: nobody gets an address that is lent") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.12")};
    const auto first = *b.lease(vm(1));
    b.now += 10s;
    const auto second = *b.lease(vm(2));
    b.release(vm(2), second);
    const auto text = render_leases(remembered(b.server.leases(), b.now, noon));

    b.restart();
    b.now = lease_table::time_point{5h}; // another machine time
    const auto unfit = restore(parse_leases(text).leases, b.server.leases(), b.config.lease_time,
                               b.now, noon + 30s);
    CHECK(unfit == 0);
    CHECK(b.reboot(vm(9), first)->kind == dhcp_message::nak);
    const auto third = b.lease(vm(3));
    REQUIRE(third);
    CHECK(*third != first);
    CHECK(*third != second); // remembered, as long as there are others
    CHECK(b.lease(vm(4)) == second);
    CHECK(b.renew(vm(1), first)->kind == dhcp_message::ack);
    CHECK(b.event->kind == dhcp_event::what::renewed);
  }

  TEST_CASE("a lease ends when it would have ended, and a clock that jumps does not keep it") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.10")};
    const auto text = render_leases({{vm(1), ip("192.168.105.10"), noon + 60s, noon, ""}});
    const auto leases = parse_leases(text).leases;
    const auto until = [&](std::chrono::sys_seconds calendar) {
      b.restart();
      restore(leases, b.server.leases(), 86400s, b.now, calendar);
      return b.server.leases().find(vm(1))->until - b.now;
    };
    CHECK(until(noon) == 60s);
    CHECK(until(noon + 50s) == 10s);
    CHECK(until(noon - 24h * 3650) == 86400s); // the battery was empty
    CHECK(until(noon + 24h * 3650) < 0s);
    CHECK(b.lease(vm(2)) == ip("192.168.105.10"));
    b.restart();
    const std::chrono::sys_seconds year_9999{253'402'300'799s};
    CHECK(restore({{vm(1), ip("192.168.105.10"), year_9999, {}, ""}}, b.server.leases(), 60s, b.now,
                  noon) == 0);
    CHECK(b.server.leases().find(vm(1))->until - b.now == 60s);
  }

  TEST_CASE("leases that do not fit the network any more are left out") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.12")};
    const std::vector<remembered_lease> leases{
        {vm(1), ip("192.168.105.10"), noon + 60s, noon, ""},
        {vm(2), ip("192.168.105.10"), noon + 60s, noon, ""}, // twice
        {vm(1), ip("192.168.105.11"), noon + 60s, noon, ""}, // likewise
        {vm(3), ip("192.168.105.13"), noon + 60s, noon, ""}, // out of the range
        {vm(4), ip("10.0.0.1"), noon + 60s, noon, ""}};
    CHECK(restore(leases, b.server.leases(), 60s, b.now, noon) == 4);
    CHECK(b.server.leases().size() == 1);
  }
}
