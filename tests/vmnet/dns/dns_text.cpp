#include "tests/vmnet/dns/dns_text.hpp"

#include "vmnet/ipv4.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch::test {

namespace {

using bytes = std::span<const std::byte>;

std::string read_name(bytes message, std::size_t& at) {
  std::string text;
  std::optional<std::size_t> behind;
  for (int labels = 0; labels < 128; ++labels) {
    REQUIRE(at < message.size());
    const std::size_t size = dns_u8(message, at);
    if (size >= 0xc0) {
      REQUIRE(at + 1 < message.size());
      if (!behind)
        behind = at + 2;
      at = dns_u16(message, at) & 0x3fff;
      continue;
    }
    ++at;
    if (size == 0)
      break;
    REQUIRE(at + size <= message.size());
    for (std::size_t i = 0; i < size; ++i)
      text += static_cast<char>(dns_u8(message, at + i));
    text += '.';
    at += size;
  }
  at = behind.value_or(at);
  if (!text.empty())
    text.pop_back();
  return text.empty() ? "." : text;
}

std::string data_of(bytes message, std::size_t at, std::size_t size, dns_type type) {
  switch (type) {
  case dns_type::a:
    REQUIRE(size == 4);
    return to_string(ipv4_address{dns_u32(message, at)});
  case dns_type::aaaa: {
    REQUIRE(size == 16);
    ipv6_address address;
    for (std::size_t i = 0; i < 16; ++i)
      address.octets[i] = dns_u8(message, at + i);
    return to_string(address);
  }
  case dns_type::cname:
  case dns_type::ns:
  case dns_type::ptr:
    return read_name(message, at);
  case dns_type::mx: {
    const auto preference = std::to_string(dns_u16(message, at));
    at += 2;
    return preference + " " + read_name(message, at);
  }
  case dns_type::srv: {
    std::string text;
    for (int i = 0; i < 3; ++i, at += 2)
      text += std::to_string(dns_u16(message, at)) + " ";
    return text + read_name(message, at);
  }
  case dns_type::soa: {
    auto text = read_name(message, at);
    text += " " + read_name(message, at);
    return text + " " + std::to_string(dns_u32(message, at + 16));
  }
  case dns_type::txt: {
    std::string text;
    for (const auto end = at + size; at < end;) {
      const std::size_t length = dns_u8(message, at++);
      for (std::size_t i = 0; i < length; ++i)
        text += static_cast<char>(dns_u8(message, at + i));
      at += length;
    }
    return text;
  }
  default:
    return std::to_string(size) + " bytes";
  }
}

} // namespace

shown_answer show(bytes message) {
  REQUIRE(message.size() >= dns_header_size);
  shown_answer shown;
  shown.size = message.size();
  shown.id = dns_u16(message, 0);
  const auto flags = dns_u16(message, 2);
  CHECK((flags & 0x8000) != 0);
  shown.rcode = flags & 15;
  shown.authoritative = (flags & 0x0400) != 0;
  shown.truncated = (flags & 0x0200) != 0;
  shown.recursion_available = (flags & 0x0080) != 0;
  shown.authentic = (flags & 0x0020) != 0;
  std::size_t at = dns_header_size;
  for (int i = dns_u16(message, 4); i > 0; --i, at += 4)
    read_name(message, at);
  for (const std::size_t count_at : {6, 8, 10})
    for (int i = dns_u16(message, count_at); i > 0; --i) {
      const auto owner = read_name(message, at);
      REQUIRE(at + 10 <= message.size());
      const auto type = dns_type{dns_u16(message, at)};
      const auto ttl = dns_u32(message, at + 4);
      const std::size_t size = dns_u16(message, at + 8);
      REQUIRE(at + 10 + size <= message.size());
      if (type == dns_type::opt) {
        CHECK(!shown.edns);
        shown.edns = dns_u16(message, at + 2);
        shown.rcode |= ttl >> 24 << 4;
      } else if (count_at != 10) {
        (count_at == 6 ? shown.answers : shown.authorities)
            .push_back(owner + " " + std::to_string(ttl) + " " + to_string(type) + " " +
                       data_of(message, at + 10, size, type));
      }
      at += 10 + size;
    }
  CHECK(at == message.size());
  return shown;
}

} // namespace vmswitch::test
