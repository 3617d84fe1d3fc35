// Any frames to the DHCP server: what it answers is a whole reply from the gateway to the client,
// of a size that the network carries, and no address is with two clients.
//
// Input: frames, each behind its length (2 bytes) and the seconds before it (1 byte). The highest
// bit of the length says that only a DHCP message is given, which is put into a right frame. A
// lease file of the same bytes is read as well.

#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "transport/frame/ethernet.hpp"
#include "vmnet/dhcp/dhcp_server.hpp"
#include "vmnet/dhcp/lease_file.hpp"

using namespace vmswitch;

namespace {

constexpr std::size_t headers = 14 + 20 + 8, chaddr = 28;

void require(bool condition) {
  if (!condition)
    std::abort();
}

dhcp_settings settings() {
  dhcp_config config;
  config.range = {{0xc0a86904}, {0xc0a8690b}};
  config.domain = "vm.internal";
  config.search.assign(64, "a-rather-long-label-for-a-domain.internal");
  config.options = {{66, std::string(255, 'x')}};
  config.reservations = {{mac_address::from_integer(2), ipv4_address{0xc0a86905}, "web"},
                         {mac_address::from_integer(4), ipv4_address{0xc0a869c8}, ""}};
  return resolve_dhcp({}, config);
}

std::vector<std::byte> framed(std::span<const std::byte> message) {
  std::vector<std::byte> frame(headers);
  frame.insert(frame.end(), message.begin(), message.end());
  std::memset(frame.data(), 0xff, 6);
  if (message.size() >= chaddr + 6)
    std::memcpy(frame.data() + 6, message.data() + chaddr, 6);
  const auto put = [&](std::size_t at, std::size_t value) {
    frame[at] = static_cast<std::byte>(value >> 8);
    frame[at + 1] = static_cast<std::byte>(value);
  };
  put(12, 0x0800);
  frame[14] = std::byte{0x45};
  put(16, frame.size() - 14);
  frame[23] = std::byte{17};
  std::memset(frame.data() + 30, 0xff, 4);
  put(36, 67);
  put(38, frame.size() - 34);
  return frame;
}

void check_reply(std::span<const std::byte> frame) {
  require(frame.size() >= 14 + 28 && frame.size() <= 14 + 1500);
  const auto ethernet = ethernet_view::unchecked(frame);
  require(ethernet.source() == mac_address::from_integer(0x5255));
  if (ethernet.type() == 0x0806)
    return;
  require(ethernet.type() == 0x0800 && frame.size() >= headers + 300);
  const auto length =
      std::to_integer<std::size_t>(frame[16]) << 8 | std::to_integer<std::size_t>(frame[17]);
  require(length + 14 == frame.size());
  for (std::size_t at = headers + 240;;) { // the options end before the frame does
    require(at < frame.size());
    if (frame[at] == std::byte{255})
      break;
    require(at + 1 < frame.size());
    at += 2 + std::to_integer<std::size_t>(frame[at + 1]);
  }
}

void check_table(const lease_table& table, lease_table::time_point now) {
  std::set<ipv4_address> lent;
  std::set<mac_address> clients;
  table.for_each([&](const lease_table::entry& one) {
    require(one.address.value != 0xc0a86901 && one.address.value != 0xc0a86903);
    if (one.is != lease_table::state::bound || !one.is_live(now))
      return;
    require(lent.insert(one.address).second && clients.insert(one.client).second);
    require(table.find(one.client) == &one);
  });
  require(table.size() <= 9);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::chrono::sys_seconds calendar{std::chrono::seconds{1'764'500'000}};
  lease_table::time_point now{std::chrono::hours{1000}};
  const auto given = settings();
  dhcp_server server{given};
  server.set_mac(mac_address::from_integer(0x5255));
  const auto content = parse_leases(std::string_view{reinterpret_cast<const char*>(data), size});
  restore(content.leases, server.leases(), given.lease_time, now, calendar);

  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  while (rest.size() >= 3) {
    const auto first = std::to_integer<std::size_t>(rest[0]);
    const auto length =
        std::min((first & 0x7f) << 8 | std::to_integer<std::size_t>(rest[1]), rest.size() - 3);
    now += std::chrono::seconds{std::to_integer<int>(rest[2])};
    const auto piece = rest.subspan(3, length);
    rest = rest.subspan(3 + length);
    const auto frame =
        (first & 0x80) != 0 ? framed(piece) : std::vector<std::byte>{piece.begin(), piece.end()};
    if (frame.size() >= ethernet_header_size && frame[12] == std::byte{8} &&
        frame[13] == std::byte{6})
      server.observe_arp(frame, now);
    if (!server.is_for_server(frame))
      continue;
    const auto outcome = server.receive(frame, now);
    for (const auto& each : outcome.frames)
      check_reply(each);
    if (outcome.event)
      require(!to_string(*outcome.event).empty());
    check_table(server.leases(), now);
  }
  const auto leases = remembered(server.leases(), now, calendar);
  const auto again = parse_leases(render_leases(leases));
  require(again.skipped_lines == 0 && again.leases == leases);
  return 0;
}
