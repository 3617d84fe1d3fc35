#include <cerrno>
#include <vector>

#include <doctest/doctest.h>

#include "actors/host/host_actor.hpp"
#include "actors/network/network_forwards.hpp"
#include "tests/support/actor_fixture.hpp"

namespace vmswitch {

using strings = std::vector<std::string>;

namespace {

/// Carries forwards in words only. A port that is `taken` cannot be had.
class carrier_in_words final : public forward_carrier {
public:
  result<void> open(const forward_rule& rule) override {
    if (rule.listen.port == taken)
      return fail("the port is taken", EADDRINUSE);
    return {};
  }
  result<void> aim(const forward_listen&, std::optional<ip_address>) override { return {}; }
  void close(const forward_listen&, std::function<void()> closed) override {
    closing = std::move(closed);
  }
  std::optional<forward_traffic> traffic(const forward_listen&) const override { return {}; }

  static constexpr std::uint16_t taken = 99;
  std::function<void()> closing;
};

class host_in_words final : public host_interface {
public:
  explicit host_in_words(bool carries) : carries_{carries} {}
  result<void> start(frame_sink&) override { return starts ? result<void>{} : fail("not today"); }
  void stop() noexcept override {}
  int fd() const noexcept override { return -1; }
  result<bool> process() override { return false; }
  frame_tally write(const burst&) override { return {}; }
  mac_address address() const noexcept override { return {}; }
  std::string describe() const override { return "a host in words"; }
  forward_carrier* forwards() noexcept override { return carries_ ? &carrier : nullptr; }

  carrier_in_words carrier;
  bool starts = true;

private:
  const bool carries_;
};

struct bench : test::actor_fixture {
  explicit bench(std::vector<forward_rule> rules = {}, bool carries = true) {
    asker = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {
          [this](const host_state& message) { states.push_back(message); },
          [this](const service_note& note) { notes.push_back(note.text); },
          [this](const forward_answer& message) { answers.push_back(message); },
          [this](const forward_listing& message) { listings.push_back(message); },
          [](const part_changed&) {},
          [self](const stop&) { self->quit(); },
      };
    });
    auto owned = std::make_unique<host_in_words>(carries);
    backend = owned.get();
    host = spawn_host(system(), nullptr,
                      {{0, 0},
                       vm_switch.handle,
                       asker,
                       std::move(owned),
                       stock(),
                       1518,
                       {},
                       {{}, {}, rules, {}}});
    run();
  }
  ~bench() {
    tell(host, stop{});
    tell(host, detached{});
    tell(asker, stop{});
    run();
  }
  forward_answer ask_to_add(const char* text) {
    pass_on(host, forward_add{parse_forward(text)->front(), asker, ++tag, by});
    return answered();
  }
  void ask_to_remove(const char* text) {
    pass_on(host, forward_remove{*parse_forward_listen(text), asker, ++tag, by});
    run();
  }
  // What the host's side is made of anew; the other one starts, or it does not.
  void replace(bool starts = true) {
    auto other = std::make_unique<host_in_words>(true);
    other->starts = starts;
    auto next = std::make_shared<std::unique_ptr<host_interface>>(std::move(other));
    backend = starts ? static_cast<host_in_words*>(next->get()) : backend;
    tell(host, replace_host{1, std::move(next), network_config{}});
    run();
  }
  strings origins() {
    strings all;
    for (const auto& each : list())
      all.push_back(std::to_string(each.rule.listen.port) + " " +
                    (each.by.empty() ? "configuration" : each.by));
    return all;
  }
  forward_answer answered() {
    run();
    REQUIRE(!answers.empty());
    CHECK(answers.back().tag == tag);
    return answers.back();
  }
  std::vector<forward_status> list() {
    pass_on(host, forward_list{asker, ++tag});
    run();
    REQUIRE(!listings.empty());
    CHECK(listings.back().tag == tag);
    return listings.back().forwards;
  }

  std::string by = "pid 1, uid 0"; // who asks
  test::probe vm_switch{*this};
  std::vector<host_state> states;
  std::vector<std::string> notes;
  std::vector<forward_answer> answers;
  std::vector<forward_listing> listings;
  std::uint64_t tag = 0;
  host_in_words* backend = nullptr;
  caf::actor asker;
  caf::actor host;
};

} // namespace

TEST_CASE("the forwards of the configuration are open when the host says that it is up") {
  bench b{*parse_forward("80-81 -> 192.168.105.9")};
  REQUIRE(b.states.size() == 1);
  CHECK(b.states[0].failure.empty());
  CHECK(b.list().size() == 2);
}

TEST_CASE("one that cannot be opened is the failure of the network, with its errno") {
  bench b{*parse_forward("99 -> 192.168.105.9")};
  REQUIRE(b.states.size() == 1);
  CHECK(b.states[0].failure == "the port is taken");
  CHECK(b.states[0].code == EADDRINUSE);
  CHECK(b.states[0].is_of_forward);
  CHECK(b.vm_switch.seen().detaches.size() == 1);
}

TEST_CASE("forwards are added, listed and removed while the network runs") {
  bench b;
  CHECK(b.ask_to_add("80 -> web").failure.empty());
  CHECK(b.notes == strings{"tcp 127.0.0.1:80 -> web:80 waits for the VM to get an address",
                           "forward tcp 127.0.0.1:80 -> web:80 added by pid 1, uid 0"});
  CHECK(b.ask_to_add("99 -> web").code == EADDRINUSE);
  CHECK(b.ask_to_add("81 -> 10.0.0.1").failure.find("not an address for a host") !=
        std::string::npos);
  REQUIRE(b.list().size() == 1);
  CHECK(to_string(b.list()[0].rule) == "tcp 127.0.0.1:80 -> web:80");
  CHECK_FALSE(b.list()[0].address);
  const auto before = b.answers.size();
  b.ask_to_remove("80");
  CHECK(b.notes.back() == "forward tcp 127.0.0.1:80 -> web:80 removed by pid 1, uid 0");
  CHECK(b.answers.size() == before); // not before the port is free
  b.backend->carrier.closing();
  CHECK(b.answered().failure.empty());
  CHECK(b.list().empty());
  b.ask_to_remove("80");
  CHECK(b.answered().code == ENOENT);
}

TEST_CASE("a forward that the network cannot have is the asker's mistake, a taken port is not") {
  bench b;
  CHECK(b.ask_to_add("80 -> 10.0.0.1").code == EINVAL);
  CHECK(b.ask_to_add("80 -> web").code == 0);
  CHECK(b.ask_to_add("80 -> db").code == EADDRINUSE);
}

TEST_CASE("a reload neither takes away nor doubles what was added meanwhile") {
  bench b{*parse_forward("80 -> 192.168.105.9")};
  CHECK(b.ask_to_add("81 -> web").failure.empty());
  b.by.clear(); // the configuration
  b.ask_to_remove("81");
  CHECK(b.answered().failure.empty());
  CHECK(b.origins() == strings{"80 configuration", "81 pid 1, uid 0"});
  CHECK(b.ask_to_add("81 -> db").code == EADDRINUSE);
  CHECK(b.ask_to_add("81 -> web").failure.empty());
  CHECK(b.notes.back() == "forward tcp 127.0.0.1:81 -> web:81 added by the configuration");
  CHECK(b.origins() == strings{"80 configuration", "81 configuration"});
}

TEST_CASE("what a reload would end and somebody has ended before is as the reload wants it") {
  bench b{*parse_forward("80 -> 192.168.105.9")};
  b.ask_to_remove("80");
  b.backend->carrier.closing();
  CHECK(b.answered().failure.empty());
  b.by.clear();
  b.ask_to_remove("80");
  CHECK(b.answered().failure.empty());
  CHECK(b.list().empty());
}

TEST_CASE("forwards stay, and stay whose they are, when the host's side is made anew") {
  bench b{*parse_forward("80 -> 192.168.105.9")};
  CHECK(b.ask_to_add("81 -> web").failure.empty());
  for (const bool starts : {true, false}) {
    CAPTURE(starts);
    b.replace(starts);
    CHECK(b.origins() == strings{"80 configuration", "81 pid 1, uid 0"});
  }
}

TEST_CASE("who looks in is told the forwards") {
  bench b{*parse_forward("80 -> 192.168.105.9")};
  tell(b.host, report_counters{b.vm_switch.handle, {}, {.services = true}});
  b.run();
  REQUIRE(b.vm_switch.seen().reports.size() == 1);
  CHECK(b.vm_switch.seen().reports[0].services.forwards.size() == 1);
}

TEST_CASE("a network without a host's side answers that it has none") {
  bench b{{}, false};
  CHECK(b.ask_to_add("80 -> web").failure.find("carries no forwards") != std::string::npos);
  CHECK(b.list().empty());
  b.tag = 7;
  pass_on(caf::actor{}, forward_add{parse_forward("80 -> web")->front(), b.asker, 7});
  CHECK(b.answered().failure.find("isolated") != std::string::npos);
}

} // namespace vmswitch
