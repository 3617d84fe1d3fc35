#include "vmnet/dns/dns_message.hpp"

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

unsigned rcode_of(const dns_bytes& message) {
  const auto got = parse_dns_query(message);
  CHECK_FALSE(got.query);
  REQUIRE(got.refusal);
  return show(*got.refusal).rcode;
}

} // namespace

TEST_SUITE("DNS message") {
  TEST_CASE("a query is read, its spelling kept") {
    auto message = query_for("web.vm.internal", dns_type::aaaa, 4711);
    message[13] = std::byte{'W'};
    const auto query = parsed_query(message);
    CHECK(query.id == 4711);
    CHECK(to_string(query.name) == "web.vm.internal");
    CHECK(query.spelled.substr(1, 3) == "Web");
    CHECK(query.type == dns_type::aaaa);
    CHECK(query.recursion_desired);
    CHECK_FALSE(query.edns);
  }

  TEST_CASE("EDNS: the size is 512 at least, and the DO bit counts") {
    const auto small = parsed_query(query_for("a.example", dns_type::a, 1, 100));
    REQUIRE(small.edns);
    CHECK(small.edns->udp_size == 512);
    const auto large = parsed_query(query_for("a.example", dns_type::a, 1, 4096, true));
    CHECK(large.edns->udp_size == 4096);
    CHECK(large.dnssec_ok());
  }

  TEST_CASE("what is no query has no answer") {
    CHECK_FALSE(parse_dns_query({}).refusal);
    dns_bytes answer = query_for("a.example");
    answer[2] |= std::byte{0x80};
    const auto got = parse_dns_query(answer);
    CHECK_FALSE(got.query);
    CHECK_FALSE(got.refusal);
    CHECK_FALSE(parse_dns_query(dns_bytes(largest_dns_query + 1)).refusal);
  }

  TEST_CASE("what is wrong with a query is told") {
    auto update = query_for("a.example");
    update[2] |= std::byte{5 << 3};
    CHECK(rcode_of(update) == 4);
    auto two = query_for("a.example");
    two[5] = std::byte{2};
    CHECK(rcode_of(two) == 1);
    auto cut = query_for("a.example");
    cut.pop_back();
    CHECK(rcode_of(cut) == 1);
    auto chaos = query_for("version.bind", dns_type::txt);
    chaos[chaos.size() - 1] = std::byte{3};
    CHECK(rcode_of(chaos) == 5);
    CHECK(rcode_of(query_for("example.com", dns_type::axfr)) == 5);
    auto version = query_for("a.example", dns_type::a, 1, 1232);
    version[version.size() - 5] = std::byte{1};
    CHECK(rcode_of(version) == 16);
    auto two_opts = query_for("a.example", dns_type::a, 1, 1232);
    two_opts.insert(two_opts.end(), two_opts.end() - 11, two_opts.end());
    two_opts[11] = std::byte{2};
    CHECK(rcode_of(two_opts) == 1);
    auto lying = query_for("a.example", dns_type::a, 1, 1232);
    lying[lying.size() - 1] = std::byte{1}; // an option that is not there
    CHECK(rcode_of(lying) == 1);
  }

  TEST_CASE("an answer is written with what the question asks for") {
    const auto query = parsed_query(query_for("web.vm.internal", dns_type::a, 9, 1232));
    dns_writer out{query, dns_rcode::no_error, true};
    out.answer(query.name, dns_type::a, 10, std::string_view{"\xc0\xa8\x69\x14", 4});
    out.answer(name_of("db.vm.internal"), dns_type::a, 11, std::string_view{"\x01\x02\x03\x04", 4});
    out.authority(name_of("example.com"), dns_type::txt, 12, std::string_view{"\x01x", 2});
    const auto message = out.finish();
    const auto shown = show(message);
    CHECK(shown.id == 9);
    CHECK(shown.authoritative);
    CHECK(shown.recursion_available);
    CHECK(shown.answers == std::vector<std::string>{"web.vm.internal 10 A 192.168.105.20",
                                                    "db.vm.internal 11 A 1.2.3.4"});
    CHECK(shown.authorities == std::vector<std::string>{"example.com 12 TXT x"});
    CHECK(shown.edns == 1232);
    // The first owner is a pointer to the question.
    CHECK(dns_u16(message, dns_header_size + query.spelled.size() + 4) == 0xc00c);
  }

  TEST_CASE("a message does not grow over 64 KiB") {
    const auto query = parsed_query(query_for("big.example", dns_type::txt, 9, 1232));
    dns_writer out{query, dns_rcode::no_error, false};
    const std::string data(4000, 'x');
    for (int i = 0; i < 20; ++i)
      out.answer(query.name, dns_type{65280}, 1, data);
    const auto message = out.finish();
    CHECK(message.size() <= 65535);
    CHECK(show(message).answers.size() == 16);
  }
}
