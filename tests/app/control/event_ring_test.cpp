#include "app/control/event_ring.hpp"

#include <doctest/doctest.h>

#include "app/ctl/event_lines.hpp"

using namespace vmswitch;

namespace {

const std::chrono::system_clock::time_point now{std::chrono::seconds{1'700'000'000}};

daemon_event event(const std::string& text) {
  return {"port_up", "lab", "lab.1", {}, text};
}

std::string next_of(stream_source& stream) {
  std::string out;
  CHECK(stream.fill(out));
  return out;
}

} // namespace

TEST_SUITE("event_ring") {

  TEST_CASE("an event is one server-sent event, with number, type and one line of JSON") {
    event_ring ring;
    ring.add(event("port lab.1 up\n"), now);
    std::string out;
    CHECK(ring.read(0, out) == 1);
    CHECK(out == "id: 1\nevent: port_up\ndata: "
                 R"({"time":"2023-11-14T22:13:20Z","type":"port_up","network":"lab",)"
                 R"("port":"lab.1","alias":null,"mac":null,"text":"port lab.1 up\n"})"
                 "\n\n");
  }

  TEST_CASE("a watcher is woken, gets what is new, and nothing twice") {
    event_ring ring;
    ring.add(event("before"), now);
    const auto stream = ring.watch(ring.latest());
    int woken = 0;
    stream->on_ready([&] { ++woken; });
    CHECK(next_of(*stream).empty());
    ring.add(event("one"), now);
    ring.add(event("two"), now);
    CHECK(woken == 2);
    const auto text = next_of(*stream);
    CHECK(text.find("before") == std::string::npos);
    CHECK(text.find("\"one\"") < text.find("\"two\""));
    CHECK(next_of(*stream).empty());
  }

  TEST_CASE("a watcher that was away too long is told how many it has missed") {
    event_ring ring;
    const auto stream = ring.watch(0);
    for (std::size_t i = 0; i < event_ring::capacity + 10; ++i)
      ring.add(event("x"), now);
    CHECK(next_of(*stream).find(R"({"type":"lost","events":10})") != std::string::npos);
  }

  TEST_CASE("one piece is bounded, the rest follows") {
    event_ring ring;
    const auto stream = ring.watch(0);
    for (int i = 0; i < 1000; ++i)
      ring.add(event(std::string(1000, 'x')), now);
    std::size_t pieces = 0;
    std::size_t events = 0;
    for (auto piece = next_of(*stream); !piece.empty(); piece = next_of(*stream)) {
      CHECK(piece.size() < 80 * 1024);
      ++pieces;
      event_lines{}.feed(piece, [&](std::string_view) { ++events; });
    }
    CHECK(pieces > 10);
    CHECK(events == 1000);
  }

  TEST_CASE("a number from the time of another daemon means from now on") {
    event_ring ring;
    ring.add(event("old"), now);
    const auto stream = ring.watch(500);
    CHECK(next_of(*stream).empty());
    ring.add(event("new"), now);
    CHECK(next_of(*stream).find("new") != std::string::npos);
  }

  TEST_CASE("a watcher that has gone is not woken") {
    event_ring ring;
    bool woken = false;
    {
      const auto stream = ring.watch(0);
      stream->on_ready([&] { woken = true; });
    }
    ring.add(event("x"), now);
    CHECK_FALSE(woken);
  }

} // TEST_SUITE

TEST_SUITE("event_lines") {

  TEST_CASE("events are put together from any pieces") {
    const std::string text = "id: 1\nevent: a\ndata: {\"x\":1}\n\n: comment\n\nid: 2\ndata: {}\n\n";
    for (std::size_t size = 1; size < text.size(); ++size) {
      event_lines lines;
      std::vector<std::string> seen;
      for (std::size_t at = 0; at < text.size(); at += size)
        lines.feed(std::string_view{text}.substr(at, size),
                   [&](std::string_view data) { seen.emplace_back(data); });
      CHECK(seen == std::vector<std::string>{"{\"x\":1}", "{}"});
    }
  }

  TEST_CASE("an event is one line for people, whatever is in it") {
    CHECK(event_view(
              R"({"time":"2026-01-31T12:00:00Z","type":"lease","network":"lab","text":"a\nb"})",
              false) == "12:00:00  lease           lab         a\\nb\n");
    CHECK(event_view("{", false).ends_with("\n"));
    CHECK(event_view(R"({"type":"drops"})", true).find("\x1b[31mdrops") != std::string::npos);
  }

} // TEST_SUITE
