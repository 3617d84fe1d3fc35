#include "vmnet/dns/ares_upstream.hpp"

#include <array>
#include <memory>

#include <doctest/doctest.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/vmnet/dns/dns_text.hpp"
#include "tests/vmnet/dns/loopback_dns.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using clock_type = ares_upstream::clock;

namespace {

dns_bytes reply_to(const dns_bytes& question, std::size_t texts = 1, bool cut = false,
                   dns_rcode rcode = dns_rcode::no_error) {
  const auto query = parsed_query(question);
  dns_writer out{query, rcode, false};
  for (std::size_t i = 0; i < texts; ++i)
    out.answer(query.name, dns_type::txt, 60, std::string(1, '\x64') + std::string(100, 'x'));
  auto message = out.finish();
  if (cut)
    message[2] |= std::byte{2};
  return message;
}

struct bench {
  explicit bench(ares_settings with)
      : polls{poll_set::open().value()}, upstream{with_patience(std::move(with)), polls} {}
  explicit bench(std::vector<dns_endpoint> servers)
      : bench{ares_settings{std::move(servers), "", 1500ms, 2}} {}

  static ares_settings with_patience(ares_settings settings) {
    settings.patience = 100ms;
    return settings;
  }
  void ask(std::uint32_t number, const char* name = "www.example.com") {
    dns_query query;
    query.name = name_of(name);
    query.type = dns_type::txt;
    upstream.ask(number, make_dns_question(query), now + skew);
  }
  /// Works on what is ready or due, as the owner does.
  void work() {
    std::array<poll_set::ready, 16> ready;
    const auto got = polls.collect(ready);
    for (std::size_t i = 0; i < got.count; ++i)
      upstream.process(ready[i]);
    if (got.timer)
      upstream.on_time();
    if (const auto due = upstream.due(clock_type::now()))
      polls.wake_at(*due);
    for (auto& one : upstream.take_answers())
      answers.push_back(std::move(one));
  }
  /// Until so many answers are there, while `serve` runs. Five seconds at most.
  template <class Serve>
  bool await(std::size_t count, Serve&& serve) {
    const auto deadline = clock_type::now() + 5s;
    while (answers.size() < count && clock_type::now() < deadline) {
      serve();
      work();
      is_readable(polls.fd(), 5);
    }
    return answers.size() == count;
  }

  poll_set polls;
  clock_type::time_point now = clock_type::now();
  std::chrono::seconds skew{0}; // for what happens after a while
  std::vector<ares_upstream::answer> answers;
  ares_upstream upstream;
};

auto answering(loopback_dns& server, int& asked) {
  return [&] { asked += server.serve([](const dns_bytes& q, bool) { return reply_to(q); }); };
}

} // namespace

TEST_SUITE("upstream DNS") {
  TEST_CASE("a question is answered, and then no socket and no timer is left") {
    loopback_dns server;
    bench b{{server.endpoint()}};
    CHECK_FALSE(b.upstream.due(b.now));
    b.ask(7);
    CHECK_FALSE(b.upstream.is_idle());
    CHECK(b.upstream.due(b.now));
    int asked = 0;
    REQUIRE(b.await(1, answering(server, asked)));
    CHECK(b.answers[0].number == 7);
    REQUIRE(b.answers[0].message);
    CHECK(show(*b.answers[0].message).answers.size() == 1);
    CHECK(asked == 1);
    CHECK(b.upstream.is_idle());
    CHECK_FALSE(b.upstream.due(b.now));
    b.work();
    CHECK_FALSE(is_readable(b.polls.fd(), 150));
  }

  TEST_CASE("rootlesskit#438: an IPv6 server is asked") {
    loopback_dns server{"::1"};
    bench b{{server.endpoint()}};
    b.ask(1);
    int asked = 0;
    REQUIRE(b.await(1, answering(server, asked)));
    CHECK(b.answers[0].message);
  }

  TEST_CASE("slirp4netns#347: the next server answers for one that is silent, then before it") {
    loopback_dns silent, good;
    bench b{{silent.endpoint(), good.endpoint()}};
    int asked = 0;
    b.ask(1);
    REQUIRE(b.await(1, answering(good, asked)));
    CHECK(b.answers[0].message);
    CHECK(silent.is_asked());
    silent.serve([](const dns_bytes&, bool) { return dns_bytes{}; });
    b.ask(2);
    REQUIRE(b.await(2, answering(good, asked)));
    CHECK_FALSE(silent.is_asked());
    CHECK(b.upstream.servers().front() == good.endpoint());
    b.skew = ares_upstream::memory;
    b.ask(3);
    CHECK(b.upstream.servers().front() == silent.endpoint());
    CHECK(silent.is_asked());
    CHECK(b.await(3, answering(good, asked)));
  }

  TEST_CASE("the next server answers for one that fails, refuses, or is not there") {
    loopback_dns good;
    auto failing = std::make_unique<loopback_dns>();
    bench b{{failing->endpoint(), good.endpoint()}};
    auto rcode = dns_rcode::server_failure;
    SUBCASE("fails") {}
    SUBCASE("refuses") {
      rcode = dns_rcode::refused;
    }
    SUBCASE("is not there") {
      failing.reset();
    }
    b.ask(1);
    int asked = 0;
    REQUIRE(b.await(1, [&] {
      if (failing)
        failing->serve([&](const dns_bytes& q, bool) { return reply_to(q, 0, false, rcode); });
      answering(good, asked)();
    }));
    REQUIRE(b.answers[0].message);
    CHECK(show(*b.answers[0].message).rcode == 0);
  }

  TEST_CASE("an answer that is cut is fetched by TCP, and 1200 bytes come by UDP") {
    loopback_dns server;
    bench b{{server.endpoint()}};
    b.ask(1);
    bool by_tcp = false;
    REQUIRE(b.await(1, [&] {
      server.serve([&](const dns_bytes& q, bool tcp) {
        by_tcp = tcp;
        return tcp ? reply_to(q, 40) : reply_to(q, 0, true);
      });
    }));
    CHECK(by_tcp);
    REQUIRE(b.answers[0].message);
    CHECK(b.answers[0].message->size() > 4096);
    b.ask(2);
    REQUIRE(b.await(2, [&] {
      server.serve([&](const dns_bytes& q, bool tcp) {
        by_tcp = tcp;
        return reply_to(q, 10);
      });
    }));
    CHECK_FALSE(by_tcp);
    CHECK(b.answers[1].message->size() > 1000);
  }

  TEST_CASE("a dead server is given up, and asked again when it is back") {
    loopback_dns server;
    bench b{{server.endpoint()}};
    b.ask(1);
    REQUIRE(b.await(1, [] {}));
    CHECK_FALSE(b.answers[0].message);
    CHECK(b.upstream.is_idle());
    server.serve([](const dns_bytes&, bool) { return dns_bytes{}; });
    b.ask(2);
    int asked = 0;
    REQUIRE(b.await(2, answering(server, asked)));
    CHECK(b.answers[1].message);
  }

  TEST_CASE(
      "other servers in resolv.conf are asked from then on, and open questions are answered") {
    const temporary_folder folder;
    // A port cannot be written there, so these are not real: what counts is whom it would ask.
    folder.write("resolv.conf", "nameserver 127.0.0.1\n");
    bench b{ares_settings{{}, folder / "resolv.conf", 100ms, 1}};
    b.ask(1);
    CHECK(b.upstream.take_changed());
    CHECK_FALSE(b.upstream.take_changed());
    CHECK(to_string(b.upstream.servers()) == "127.0.0.1");
    folder.write("resolv.conf", "nameserver 127.0.0.2\nnameserver ::1\n");
    b.ask(2);
    CHECK_FALSE(b.upstream.take_changed()); // not so soon
    b.skew = 2s;
    b.ask(3);
    CHECK(b.upstream.take_changed());
    CHECK(to_string(b.upstream.servers()) == "127.0.0.2, ::1");
    CHECK(b.await(3, [] {}));
  }

  TEST_CASE("many questions at once are all answered") {
    loopback_dns server;
    bench b{{server.endpoint()}};
    for (std::uint32_t i = 0; i < 100; ++i)
      b.ask(i, ("n" + std::to_string(i) + ".example").c_str());
    int asked = 0;
    CHECK(b.await(100, answering(server, asked)));
    for (const auto& one : b.answers)
      CHECK(one.message);
  }

  TEST_CASE("what is open when it ends is forgotten") {
    loopback_dns server;
    auto b = std::make_unique<bench>(std::vector{server.endpoint()});
    b->ask(1);
    b.reset();
    CHECK(server.is_asked());
  }
}
