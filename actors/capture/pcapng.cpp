#include "actors/capture/pcapng.hpp"

#include <bit>
#include <cstring>

namespace vmswitch::pcapng {

namespace {

static_assert(std::endian::native == std::endian::little, "blocks are written as memory has them");

constexpr std::uint32_t section_header_block = 0x0a0d'0d0a;
constexpr std::uint32_t interface_description_block = 1;
constexpr std::uint32_t interface_statistics_block = 5;
constexpr std::uint32_t enhanced_packet_block = 6;

// Options (3.5, and those of each block).
constexpr std::uint16_t opt_end = 0;
constexpr std::uint16_t opt_comment = 1;
constexpr std::uint16_t shb_application = 4;
constexpr std::uint16_t if_name = 2;
constexpr std::uint16_t if_tsresol = 9;
constexpr std::uint16_t if_filter = 11;
constexpr std::uint16_t epb_flags = 2;
constexpr std::uint16_t epb_dropcount = 4;
constexpr std::uint16_t isb_starttime = 2;
constexpr std::uint16_t isb_endtime = 3;
constexpr std::uint16_t isb_ifrecv = 4;
constexpr std::uint16_t isb_ifdrop = 5;
constexpr std::uint16_t isb_filteraccept = 6;
constexpr std::uint16_t isb_usrdeliv = 8;

constexpr std::uint16_t linktype_ethernet = 1;

template <class Integer>
std::byte* put(std::byte* at, Integer value) noexcept {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

std::byte* put_option_head(std::byte* at, std::uint16_t code, std::uint16_t size) noexcept {
  return put(put(at, code), size);
}

// Times are two 32-bit words, the high one first, whatever the byte order.
std::uint64_t as_time(std::uint64_t ns) noexcept {
  return ns >> 32 | ns << 32;
}

// A block that is written once in a while.
class block {
public:
  explicit block(std::uint32_t type) { add(type).add(std::uint32_t{0}); }

  template <class Integer>
  block& add(Integer value) {
    bytes_.resize(bytes_.size() + sizeof value);
    put(bytes_.data() + bytes_.size() - sizeof value, value);
    return *this;
  }
  template <class Integer>
  block& option(std::uint16_t code, Integer value) {
    add(code).add(static_cast<std::uint16_t>(sizeof value)).add(value);
    return pad();
  }
  // Empty texts are left out. `kind` is a byte in front of it, as if_filter has one.
  block& text(std::uint16_t code, std::string_view value, std::string_view kind = {}) {
    if (value.empty())
      return *this;
    value = value.substr(0, max_text);
    add(code).add(static_cast<std::uint16_t>(kind.size() + value.size()));
    for (const auto part : {kind, value}) {
      const auto bytes = std::as_bytes(std::span{part});
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    return pad();
  }
  std::vector<std::byte> finish() {
    add(opt_end).add(std::uint16_t{0});
    const auto size = static_cast<std::uint32_t>(bytes_.size() + sizeof(std::uint32_t));
    put(bytes_.data() + sizeof(std::uint32_t), size);
    add(size);
    return std::move(bytes_);
  }

private:
  block& pad() {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    return *this;
  }
  std::vector<std::byte> bytes_;
};

} // namespace

std::vector<std::byte> section_header(std::string_view application, std::string_view comment) {
  return block{section_header_block}
      .add(std::uint32_t{0x1a2b'3c4d}) // tells the byte order
      .add(std::uint16_t{1})           // version 1.0
      .add(std::uint16_t{0})
      .add(~std::uint64_t{0}) // of unknown length
      .text(opt_comment, comment)
      .text(shb_application, application)
      .finish();
}

std::vector<std::byte> to_block(const interface_description& value) {
  return block{interface_description_block}
      .add(linktype_ethernet)
      .add(std::uint16_t{0})
      .add(value.snaplen)
      .text(if_name, value.name)
      .option(if_tsresol, std::uint8_t{9})
      .text(if_filter, value.filter, std::string_view{"\0", 1})
      .finish();
}

void write_block(std::byte* out, const packet& value) noexcept {
  const bool lost = value.lost_before > 0;
  const auto captured = static_cast<std::uint32_t>(value.bytes.size());
  const auto size = static_cast<std::uint32_t>(packet_block_size(captured, lost));
  out = put(out, enhanced_packet_block);
  out = put(out, size);
  out = put(out, value.interface);
  out = put(out, as_time(value.time_ns));
  out = put(out, captured);
  out = put(out, value.original_size);
  std::memcpy(out, value.bytes.data(), captured);
  out += captured;
  for (auto padding = -captured % 4; padding > 0; --padding)
    *out++ = std::byte{0};
  out = put_option_head(out, epb_flags, 4);
  out = put(out, static_cast<std::uint32_t>(value.way));
  if (lost) {
    out = put_option_head(out, epb_dropcount, 8);
    out = put(out, value.lost_before);
  }
  out = put_option_head(out, opt_end, 0);
  put(out, size);
}

std::vector<std::byte> to_block(const interface_statistics& value, std::string_view comment) {
  return block{interface_statistics_block}
      .add(value.interface)
      .add(as_time(value.end_ns))
      .text(opt_comment, comment)
      .option(isb_starttime, as_time(value.begin_ns))
      .option(isb_endtime, as_time(value.end_ns))
      .option(isb_ifrecv, value.received)
      .option(isb_ifdrop, value.lost)
      .option(isb_filteraccept, value.accepted)
      .option(isb_usrdeliv, value.delivered)
      .finish();
}

} // namespace vmswitch::pcapng
