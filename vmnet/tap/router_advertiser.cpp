#include "vmnet/tap/router_advertiser.hpp"

#include <algorithm>
#include <utility>

#include "transport/frame/ethernet.hpp"

namespace vmswitch {

namespace {

using std::chrono::seconds;

constexpr std::size_t ipv6_header_size = 40;
constexpr std::size_t least_solicitation = 8; // RFC 4861, 4.1
constexpr std::uint8_t icmpv6 = 58;
constexpr std::uint8_t advertisement = 134;
constexpr std::uint8_t source_option = 1, prefix_option = 3, mtu_option = 5, dns_option = 25;

constexpr seconds least_pause{3};                             // MIN_DELAY_BETWEEN_RAS
constexpr seconds least_interval{200}, longest_interval{600}; // RFC 4861, 6.2.1
constexpr std::uint16_t router_lifetime = 9000;               // s; the most there is
constexpr std::uint32_t valid_lifetime = 2'592'000, preferred_lifetime = 604'800;
constexpr std::uint32_t dns_lifetime = router_lifetime;
constexpr unsigned answers_per_second = 10;

constexpr mac_address all_nodes_mac = mac_address::from_integer(0x3333'0000'0001ULL);

ipv6_address all_nodes() {
  ipv6_address made;
  made.octets = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return made;
}

class writer {
public:
  writer& u8(unsigned value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  writer& u16(unsigned value) { return u8(value >> 8 & 0xff).u8(value & 0xff); }
  writer& u32(std::uint32_t value) { return u16(value >> 16).u16(value & 0xffff); }
  writer& mac(mac_address address) {
    bytes_.resize(bytes_.size() + 6);
    address.write(bytes_.data() + bytes_.size() - 6);
    return *this;
  }
  writer& ip(const ipv6_address& address) {
    for (const auto octet : address.octets)
      u8(octet);
    return *this;
  }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

// Over the pseudo-header (RFC 8200, 8.1) and the message: 0 if it holds its checksum, else the
// checksum it should hold in place of zeros. `packet` is an IPv6 header and its payload.
std::uint16_t icmpv6_checksum(std::span<const std::byte> packet) {
  std::uint32_t sum = static_cast<std::uint32_t>(packet.size() - ipv6_header_size) + icmpv6;
  const auto add = [&](std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      sum += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  };
  add(packet.subspan(8));
  while (sum > 0xffff)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

struct solicitation {
  mac_address from_mac;
  ipv6_address from;
};

// RFC 4861, 6.1.1.
std::optional<solicitation> parse(std::span<const std::byte> bare) {
  const auto octet = [&](std::size_t at) { return std::to_integer<std::uint8_t>(bare[at]); };
  if (bare.size() < ethernet_header_size + ipv6_header_size + least_solicitation ||
      !router_advertiser::concerns(bare))
    return std::nullopt;
  const auto packet = bare.subspan(ethernet_header_size);
  const std::size_t length = static_cast<std::size_t>(octet(18) << 8 | octet(19));
  if (octet(14) >> 4 != 6 || octet(21) != 255 || length < least_solicitation ||
      length > packet.size() - ipv6_header_size)
    return std::nullopt;
  const auto whole = packet.first(ipv6_header_size + length);
  if (icmpv6_checksum(whole) != 0 || whole[ipv6_header_size + 1] != std::byte{0})
    return std::nullopt;
  solicitation found{mac_address::read(bare.data() + 6), {}};
  for (std::size_t i = 0; i < 16; ++i)
    found.from.octets[i] = octet(ethernet_header_size + 8 + i);
  auto options = whole.subspan(ipv6_header_size + least_solicitation);
  while (!options.empty()) {
    const std::size_t size = options.size() < 2 ? 0 : std::to_integer<std::size_t>(options[1]) * 8;
    if (size == 0 || size > options.size())
      return std::nullopt;
    if (options[0] == std::byte{source_option} && found.from.is_unspecified())
      return std::nullopt;
    options = options.subspan(size);
  }
  if (found.from_mac.is_group() || found.from.octets[0] == 0xff)
    return std::nullopt;
  return found;
}

} // namespace

router_advertiser::router_advertiser(const advertised_network& network, std::uint64_t seed)
    : network_{network}, random_{seed | 1} {}

router_advertiser::frame router_advertiser::to(mac_address mac, const ipv6_address& address) const {
  writer message;
  message.u8(advertisement).u8(0).u16(0);
  message.u8(64).u8(0).u16(network_.leads_to_world ? router_lifetime : 0).u32(0).u32(0);
  message.u8(source_option).u8(1).mac(network_.mac);
  message.u8(mtu_option).u8(1).u16(0).u32(network_.mtu);
  constexpr unsigned on_link_and_autonomous = 0xc0;
  message.u8(prefix_option).u8(4).u8(64).u8(on_link_and_autonomous);
  message.u32(valid_lifetime).u32(preferred_lifetime).u32(0).ip(network_.prefix);
  if (network_.dns)
    message.u8(dns_option).u8(3).u16(0).u32(dns_lifetime).ip(*network_.dns);

  writer whole;
  whole.mac(mac).mac(network_.mac).u16(0x86dd);
  whole.u32(0x6000'0000).u16(static_cast<unsigned>(message.bytes().size())).u8(icmpv6).u8(255);
  whole.ip(network_.link_local).ip(address);
  auto& bytes = whole.bytes();
  bytes.insert(bytes.end(), message.bytes().begin(), message.bytes().end());
  const auto checksum =
      icmpv6_checksum(std::span<const std::byte>{bytes}.subspan(ethernet_header_size));
  constexpr std::size_t checksum_at = ethernet_header_size + ipv6_header_size + 2;
  bytes[checksum_at] = static_cast<std::byte>(checksum >> 8);
  bytes[checksum_at + 1] = static_cast<std::byte>(checksum & 0xff);
  return std::move(bytes);
}

std::optional<router_advertiser::frame>
router_advertiser::on_solicitation(std::span<const std::byte> bare, clock::time_point now) {
  const auto asked = parse(bare);
  if (!asked)
    return std::nullopt;
  heard(now);
  if (asked->from.is_unspecified()) {
    schedule_by(told_all_ ? std::max(now, *told_all_ + least_pause) : now);
    return on_time(now);
  }
  if (!may_answer(now))
    return std::nullopt;
  return to(asked->from_mac, asked->from);
}

void router_advertiser::heard(clock::time_point now) {
  heard_ = true;
  if (!due_)
    schedule_by(told_all_ ? std::max(now, *told_all_ + least_interval) : now);
}

std::optional<router_advertiser::frame> router_advertiser::on_time(clock::time_point now) {
  if (!due_ || now < *due_)
    return std::nullopt;
  told_all_ = now;
  due_.reset();
  if (std::exchange(heard_, false))
    due_ = now + next_interval();
  return to(all_nodes_mac, all_nodes());
}

bool router_advertiser::may_answer(clock::time_point now) {
  if (now - answers_since_ >= seconds{1}) {
    answers_since_ = now;
    answers_ = 0;
  }
  return ++answers_ <= answers_per_second;
}

void router_advertiser::schedule_by(clock::time_point when) {
  if (!due_ || when < *due_)
    due_ = when;
}

// xorshift64.
seconds router_advertiser::next_interval() noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const auto span = static_cast<std::uint64_t>((longest_interval - least_interval).count());
  return least_interval + seconds{static_cast<std::int64_t>(random_ % (span + 1))};
}

} // namespace vmswitch
