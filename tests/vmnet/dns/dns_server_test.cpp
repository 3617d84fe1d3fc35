#include "vmnet/dns/dns_server.hpp"

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;
using std::chrono::seconds;

namespace {

/// A record of an answer that another server gives.
struct record {
  const char* owner;
  dns_type type;
  std::uint32_t ttl;
  std::string data;
  bool is_authority = false;
};

std::string address(int last) {
  return std::string{"\x0a\0\0", 3} + static_cast<char>(last);
}
std::string soa(std::uint8_t minimum) {
  std::string data = name_of("ns.example").wire() + name_of("root.example").wire();
  data.append(19, '\0');
  return data + static_cast<char>(minimum);
}

/// What another server answers to a question of ours.
dns_bytes reply_to(const dns_bytes& question, std::vector<record> records,
                   dns_rcode rcode = dns_rcode::no_error) {
  const auto query = parsed_query(question);
  dns_writer out{query, rcode, false};
  for (const auto& one : records)
    if (one.is_authority)
      out.authority(name_of(one.owner), one.type, one.ttl, one.data);
    else
      out.answer(name_of(one.owner), one.type, one.ttl, one.data);
  return out.finish();
}

struct bench {
  explicit bench(const dns_config& config = {}) : server{resolve_dns({}, {}, config), keep()} {}

  dns_server::reply keep() {
    return [this](const dns_peer& peer, dns_bytes message) {
      answers.push_back({peer, show(message)});
    };
  }
  static dns_peer peer(std::uint64_t client, std::uint16_t port = 40000) {
    dns_peer made;
    made.path.peer_mac = mac_address::from_integer(client);
    made.path.peer_port = port;
    made.limit = 1472;
    return made;
  }
  bool ask(const dns_bytes& message, std::uint64_t client = 1, std::uint16_t port = 40000) {
    return server.receive(peer(client, port), message, nullptr, now);
  }
  dns_server::question next() {
    auto question = server.next_question(now);
    REQUIRE(question);
    return std::move(*question);
  }
  void reply(const dns_server::question& to, std::vector<record> records,
             dns_rcode rcode = dns_rcode::no_error) {
    server.on_answer(to.number, reply_to(to.message, std::move(records), rcode), now);
  }

  struct told {
    dns_peer to;
    shown_answer what;
  };
  dns_server::time_point now{std::chrono::hours{1000}};
  std::vector<told> answers;
  dns_server server;
};

} // namespace

TEST_SUITE("DNS server") {
  TEST_CASE("a local name is answered at once, and no other server hears of it") {
    bench b;
    for (const auto type : {dns_type::a, dns_type::aaaa, dns_type::srv})
      for (const char* name :
           {"gateway.vm.internal", "nobody.vm.internal", "nobody", "9.105.168.192.in-addr.arpa"})
        if (type != dns_type::srv || std::string_view{name} != "nobody")
          CHECK(b.ask(query_for(name, type)));
    CHECK(b.answers.size() == 11);
    CHECK_FALSE(b.server.next_question(b.now));
    CHECK(b.server.counters().local == 11);
  }

  TEST_CASE("another name is asked for once, with EDNS, and whoever asked is told in its own way") {
    bench b;
    auto odd = query_for("www.example.com", dns_type::a, 5);
    odd[13] = std::byte{'W'};
    CHECK(b.ask(odd, 1));
    CHECK(b.ask(query_for("www.example.com", dns_type::a, 6, 1232), 2));
    CHECK_FALSE(b.ask(odd, 1)); // again, since no answer came yet
    const auto question = b.next();
    CHECK_FALSE(b.server.next_question(b.now));
    const auto asked = parsed_query(question.message);
    REQUIRE(asked.edns);
    CHECK(asked.edns->udp_size == 1232);
    b.reply(question, {{"www.example.com", dns_type::a, 300, address(1)}});
    REQUIRE(b.answers.size() == 2);
    CHECK(b.answers[0].to == bench::peer(1));
    CHECK(b.answers[0].what.id == 5);
    CHECK(b.answers[0].what.answers == strings{"Www.example.com 300 A 10.0.0.1"});
    CHECK_FALSE(b.answers[0].what.edns);
    CHECK(b.answers[1].what.id == 6);
    CHECK(b.answers[1].what.edns == 1232);
    CHECK(b.answers[1].what.answers == strings{"www.example.com 300 A 10.0.0.1"});
    CHECK(b.server.open_questions() == 0);
  }

  TEST_CASE("gtv#233, gtv#612: SRV, SOA and PTR are carried like any other type") {
    bench b;
    const std::string service = std::string{"\0\0\0\x05\0\x50", 6} + name_of("web.example").wire();
    b.ask(query_for("_http._tcp.example.com", dns_type::srv));
    b.reply(b.next(), {{"_http._tcp.example.com", dns_type::srv, 60, service}});
    b.ask(query_for("8.8.8.8.in-addr.arpa", dns_type::ptr));
    b.reply(b.next(), {{"8.8.8.8.in-addr.arpa", dns_type::ptr, 60, name_of("dns.google").wire()}});
    b.ask(query_for("example.com", dns_type::soa));
    b.reply(b.next(), {{"example.com", dns_type::soa, 60, soa(5)}});
    REQUIRE(b.answers.size() == 3);
    CHECK(b.answers[0].what.answers == strings{"_http._tcp.example.com 60 SRV 0 5 80 web.example"});
    CHECK(b.answers[1].what.answers == strings{"8.8.8.8.in-addr.arpa 60 PTR dns.google"});
    CHECK(b.answers[2].what.answers == strings{"example.com 60 SOA ns.example root.example 5"});
  }

  TEST_CASE("an answer is kept for its TTL, which counts down") {
    bench b;
    b.ask(query_for("www.example.com"));
    b.reply(b.next(), {{"www.example.com", dns_type::cname, 300, name_of("x.example").wire()},
                       {"x.example", dns_type::a, 60, address(1)}});
    b.now += seconds{59};
    b.ask(query_for("WWW.example.com"));
    REQUIRE(b.answers.size() == 2);
    CHECK(b.answers[1].what.answers ==
          strings{"www.example.com 241 CNAME x.example", "x.example 1 A 10.0.0.1"});
    b.now += seconds{1};
    b.ask(query_for("www.example.com"));
    CHECK(b.answers.size() == 2);
    CHECK(b.server.next_question(b.now));
    CHECK(b.server.counters().cached == 1);
  }

  TEST_CASE("a negative answer is kept as its SOA says, one without is not") {
    bench b;
    const auto negative = [&](std::vector<record> records, dns_rcode rcode) {
      b.ask(query_for("no.example.com"));
      b.reply(b.next(), std::move(records), rcode);
    };
    negative({{"example.com", dns_type::soa, 900, soa(20), true}}, dns_rcode::no_such_name);
    b.now += seconds{19};
    b.ask(query_for("no.example.com"));
    REQUIRE(b.answers.size() == 2);
    CHECK(b.answers[1].what.rcode == 3);
    b.now += seconds{1};
    negative({}, dns_rcode::no_such_name);
    negative({}, dns_rcode::no_error);
    negative({}, dns_rcode::refused);
    CHECK(b.server.counters().cached == 1);
  }

  TEST_CASE("what differs in DNSSEC is not mixed up, and a TTL of 0 is not kept") {
    bench b;
    b.ask(query_for("www.example.com", dns_type::a, 1, 1232, true));
    b.reply(b.next(), {{"www.example.com", dns_type::a, 60, address(1)}});
    b.ask(query_for("www.example.com", dns_type::a, 1, 1232));
    b.reply(b.next(), {{"www.example.com", dns_type::a, 0, address(1)}});
    b.ask(query_for("www.example.com", dns_type::a, 1, 1232));
    CHECK(b.server.next_question(b.now));
  }

  TEST_CASE("the cache has a limit, and what was used last stays") {
    dns_config config;
    config.cache_size = 2;
    bench b{config};
    const auto ask = [&](const char* name) {
      b.ask(query_for(name));
      if (const auto question = b.server.next_question(b.now)) {
        b.reply(*question, {{name, dns_type::a, 60, address(1)}});
        return true;
      }
      return false;
    };
    CHECK(ask("a.example"));
    CHECK(ask("b.example"));
    CHECK_FALSE(ask("a.example"));
    CHECK(ask("c.example"));
    CHECK_FALSE(ask("a.example"));
    CHECK(ask("b.example"));
    b.server.forget_answers();
    CHECK(ask("b.example"));
  }

  TEST_CASE("no answer, or one that makes no sense, is SERVFAIL for all who asked") {
    bench b;
    b.ask(query_for("www.example.com", dns_type::a, 1), 1);
    b.ask(query_for("www.example.com", dns_type::a, 2), 2);
    b.server.on_answer(b.next().number, {}, b.now);
    CHECK(b.answers.size() == 2);
    CHECK(b.answers[0].what.rcode == 2);
    const auto garbled = [&](auto change) {
      b.ask(query_for("www.example.com"));
      const auto question = b.next();
      auto message = reply_to(question.message, {{"www.example.com", dns_type::a, 9, address(1)}});
      change(message);
      b.server.on_answer(question.number, message, b.now);
      CHECK(b.answers.back().what.rcode == 2);
    };
    garbled([](dns_bytes& m) { m.resize(11); });
    garbled([](dns_bytes& m) { m.resize(m.size() - 12); });
    garbled([](dns_bytes& m) { m[2] &= std::byte{0x7f}; });
    garbled([](dns_bytes& m) { m[13] = std::byte{'x'}; });
    garbled([](dns_bytes& m) { m[7] = std::byte{200}; });
    garbled([](dns_bytes& m) { m[2] |= std::byte{2}; });
    CHECK(b.server.counters().failed == 7);
    CHECK(b.server.open_questions() == 0);
  }

  TEST_CASE("an answer that is too long for UDP is cut, and says so; TCP has it whole") {
    dns_config config;
    for (int i = 0; i < 3; ++i)
      config.records.push_back(
          {"big", dns_type::txt, std::string(500, static_cast<char>('a' + i))});
    bench b{config};
    b.ask(query_for("big.vm.internal", dns_type::txt));
    b.ask(query_for("big.vm.internal", dns_type::txt, 77, 4096));
    b.ask(query_for("gateway.vm.internal", dns_type::a));
    auto tcp = bench::peer(1);
    tcp.connection = 1;
    tcp.limit = 65535;
    b.server.receive(tcp, query_for("big.vm.internal", dns_type::txt), nullptr, b.now);
    REQUIRE(b.answers.size() == 4);
    for (int i : {0, 1}) {
      CHECK(b.answers[i].what.truncated);
      CHECK(b.answers[i].what.answers.empty());
      CHECK(b.answers[i].what.size <= 512);
    }
    CHECK(b.answers[1].what.edns);
    CHECK_FALSE(b.answers[2].what.truncated);
    CHECK(b.answers[3].what.answers.size() == 3);
    CHECK(b.server.counters().truncated == 2);
  }

  TEST_CASE("what is asked at one time is limited for a VM, and another one is served beside it") {
    bench b;
    std::size_t dropped = 0;
    for (int i = 0; i < 3000; ++i)
      dropped += b.ask(query_for(("n" + std::to_string(i) + ".example").c_str())) ? 0 : 1;
    CHECK(dropped == 3000 - dns_queue::most_waiting_of_one);
    CHECK(b.server.counters().over_limit == dropped);
    std::vector<dns_server::question> asked;
    while (auto question = b.server.next_question(b.now))
      asked.push_back(std::move(*question));
    CHECK(asked.size() == dns_queue::most_active_of_one);
    CHECK(b.ask(query_for("other.example"), 2));
    CHECK(to_string(parsed_query(b.next().message).name) == "other.example");
    b.ask(query_for("gateway.vm.internal"), 1); // local names do not wait
    CHECK(b.answers.size() == 1);
  }

  TEST_CASE("a question that has waited too long is given up") {
    bench b;
    for (int i = 0; i < 200; ++i)
      b.ask(query_for(("n" + std::to_string(i) + ".example").c_str()));
    std::vector<dns_server::question> asked;
    while (auto question = b.server.next_question(b.now))
      asked.push_back(std::move(*question));
    b.now += seconds{6};
    for (const auto& one : asked)
      b.server.on_answer(one.number, {}, b.now);
    CHECK_FALSE(b.server.next_question(b.now));
    CHECK(b.answers.size() == 200);
    CHECK(b.server.open_questions() == 0);
  }

  TEST_CASE("too many who ask the same are dropped, and the others have their answer") {
    bench b;
    for (std::uint16_t i = 0; i < 300; ++i)
      b.ask(query_for("www.example.com", dns_type::a, i), 1, static_cast<std::uint16_t>(1000 + i));
    b.reply(b.next(), {{"www.example.com", dns_type::a, 60, address(1)}});
    CHECK(b.answers.size() == dns_server::most_askers);
  }

  TEST_CASE("with no other server a name outside is refused, so that the client asks elsewhere") {
    dns_config config;
    config.upstream.emplace();
    bench b{config};
    b.ask(query_for("www.example.com"));
    REQUIRE(b.answers.size() == 1);
    CHECK(b.answers[0].what.rcode == 5);
    CHECK_FALSE(b.server.next_question(b.now));
  }

  TEST_CASE("what is no query is counted, and a malformed one is told so") {
    bench b;
    CHECK_FALSE(b.ask({}));
    auto cut = query_for("www.example.com");
    cut.pop_back();
    CHECK(b.ask(cut));
    CHECK(b.answers.size() == 1);
    CHECK(b.answers[0].what.rcode == 1);
    CHECK(b.server.counters().ignored == 2);
  }

  TEST_CASE("EDNS records of the other server are its own: the client has ours, or none") {
    bench b;
    b.ask(query_for("www.example.com", dns_type::a, 3));
    const auto question = b.next();
    auto message = reply_to(question.message, {{"www.example.com", dns_type::a, 9, address(1)}});
    REQUIRE(show(message).edns); // our question had it
    b.server.on_answer(question.number, message, b.now);
    CHECK_FALSE(b.answers[0].what.edns);
    CHECK(b.answers[0].what.answers.size() == 1);
  }
}
