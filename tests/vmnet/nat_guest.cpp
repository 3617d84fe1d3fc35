#include "tests/vmnet/nat_guest.hpp"

#include <chrono>
#include <utility>

#include <poll.h>

namespace vmswitch::test {

namespace {

bool wait_readable(int fd, int milliseconds) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

} // namespace

std::size_t nat_guest::send(std::span<const frame> frames) {
  std::size_t refused = 0;
  for (const frame& one : frames)
    while (builder_.append(one) == burst_builder::outcome::full)
      refused += host_.write(builder_.take()).frames;
  refused += host_.write(builder_.take()).frames;
  return refused;
}

std::optional<frame> nat_guest::await(const std::function<bool(const frame&)>& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (true) {
    auto& frames = log_.frames;
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (wanted(frames[i])) {
        frame found = std::move(frames[i]);
        frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return found;
      }
    frames.clear();
    if (std::chrono::steady_clock::now() > deadline)
      return std::nullopt;
    if (wait_readable(host_.fd(), 1000))
      while (host_.process().value_or(false))
        ;
  }
}

void nat_guest::settle() {
  while (wait_readable(host_.fd(), 0))
    while (host_.process().value_or(false))
      ;
}

std::optional<tcp_segment> nat_guest::await_tcp(std::uint16_t port) {
  std::optional<tcp_segment> found;
  await([&](const frame& bare) {
    const auto packet = parse_ipv4(bare);
    found = packet ? parse_tcp(*packet) : std::nullopt;
    return found && found->destination_port == port;
  });
  return found;
}

std::optional<tcp_segment> nat_guest::exchange(const route& way, const tcp_segment& segment) {
  send(tcp(way, segment));
  return await_tcp(segment.source_port);
}

std::optional<dhcp_message> nat_guest::get_address() {
  dhcp_message message;
  message.client = mac;
  message.transaction = 0x1234;
  std::optional<dhcp_message> answer;
  const auto is_answer = [&](const frame& bare) {
    answer = parse_dhcp_reply(bare);
    return answer && answer->client == mac;
  };
  send(dhcp_from_client(message));
  if (!await(is_answer) || answer->kind != dhcp_message::offer)
    return std::nullopt;
  message.kind = dhcp_message::request;
  message.requested = answer->your_address;
  message.server = answer->server;
  send(dhcp_from_client(message));
  return await(is_answer) ? answer : std::nullopt;
}

} // namespace vmswitch::test
