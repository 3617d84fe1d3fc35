#include "actors/capture/capture_channel.hpp"

#include <cstring>
#include <string_view>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

struct lab {
  int wakes = 0;
  capture_channel channel{[this] { ++wakes; }, 64};

  void write(std::string_view text) {
    std::memcpy(channel.ring().reserve(text.size()), text.data(), text.size());
    channel.ring().commit(text.size());
    channel.publish();
  }
  std::string read() {
    const auto bytes = channel.readable();
    std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    channel.consume(bytes.size());
    return text;
  }
  static std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
  }
};

} // namespace

TEST_SUITE("capture_channel") {

  TEST_CASE("the tail comes behind what is in the ring, then it is over") {
    lab l;
    l.write("ring");
    l.channel.end(lab::bytes_of("tail"), {});
    CHECK_FALSE(l.channel.over());
    CHECK(l.read() == "ring");
    CHECK_FALSE(l.channel.over());
    CHECK(l.read() == "tail");
    CHECK(l.channel.over());
    CHECK(l.read() == "");
    CHECK(l.channel.refusal().empty());
  }

  TEST_CASE("the tail may be read in pieces") {
    lab l;
    l.channel.end(lab::bytes_of("tail"), {});
    l.channel.consume(1);
    CHECK(l.read() == "ail");
    CHECK(l.channel.over());
  }

  TEST_CASE("a reader that sleeps is woken by bytes, and by the end") {
    lab l;
    CHECK(l.channel.sleep());
    CHECK(l.wakes == 0);
    l.write("x");
    CHECK(l.wakes == 1);
    CHECK_FALSE(l.channel.sleep());
    l.read();
    CHECK(l.channel.sleep());
    l.channel.end({}, "no such port");
    CHECK(l.wakes == 2);
    CHECK_FALSE(l.channel.sleep());
    CHECK(l.channel.over());
    CHECK(l.channel.refusal() == "no such port");
  }

  TEST_CASE("it ends once: the first reason counts") {
    lab l;
    l.channel.end({}, "first");
    l.channel.end(lab::bytes_of("tail"), "second");
    CHECK(l.channel.over());
    CHECK(l.channel.refusal() == "first");
  }

} // TEST_SUITE
