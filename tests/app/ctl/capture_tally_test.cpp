#include "app/ctl/capture_tally.hpp"

#include <doctest/doctest.h>

#include "actors/capture/capture_tap.hpp"
#include "tests/support/bursts.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// What a switch writes: 5 frames, 100 lost, and an end by count.
std::string a_capture() {
  const auto channel = std::make_shared<capture_channel>([] {}, 4096);
  capture_request request;
  request.network = "net";
  request.count = 9;
  capture_tap tap{request, channel};
  const capture_tap::port port{1, "net.1"};
  tap.begin({&port, 1}, {});
  burst_maker make;
  std::string text;
  const auto drain = [&] {
    for (auto bytes = channel->readable(); !bytes.empty(); bytes = channel->readable()) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      channel->consume(bytes.size());
    }
  };
  const auto record = [&](std::size_t size) {
    tap.record(1, pcapng::direction::inbound, make(tagged_frame(vm_mac(2), vm_mac(1), 1, size)),
               {});
    tap.publish();
  };
  for (int i = 0; i < 8; ++i) {
    record(100);
    drain();
  }
  while (tap.delivered() + tap.lost() < 20)
    record(5000); // more than the ring
  record(60);
  drain();
  return text;
}

} // namespace

TEST_SUITE("capture_tally") {

  TEST_CASE("it counts frames, and reads losses and the reason at the end, in any pieces") {
    const auto stream = a_capture();
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
      CAPTURE(piece);
      capture_tally tally;
      for (std::size_t at = 0; at < stream.size(); at += piece) {
        CHECK_FALSE(tally.ended());
        tally.take(std::string_view{stream}.substr(at, piece));
      }
      CHECK(tally.frames() == 9);
      CHECK(tally.lost() == 12);
      CHECK(tally.ended());
      CHECK(tally.reason() == "9 frame(s) were captured, as was asked for");
    }
  }

  TEST_CASE("what breaks off has no end") {
    const auto stream = a_capture();
    capture_tally tally;
    tally.take(std::string_view{stream}.substr(0, stream.size() - 1));
    CHECK(tally.frames() == 9);
    CHECK_FALSE(tally.ended());
  }

  TEST_CASE("what is no such stream counts for nothing") {
    for (const std::string& text :
         {std::string(1000, '\0'), std::string(1000, '\xff'),
          std::string{"\x05\0\0\0\x0b\0\0\0xxx", 11}, std::string{"{\"error\": \"none\"}"}}) {
      capture_tally tally;
      tally.take(text);
      tally.take(text);
      CHECK(tally.frames() == 0);
      CHECK_FALSE(tally.ended());
    }
  }

} // TEST_SUITE
