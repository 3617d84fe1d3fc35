#include "tests/support/pcapng_reader.hpp"

#include <cstring>
#include <stdexcept>

namespace vmswitch::test {

namespace {

void require(bool holds, const char* what) {
  if (!holds)
    throw std::runtime_error{std::string{"pcapng: "} + what};
}

// Little-endian fields, in order.
class reader {
public:
  explicit reader(std::span<const std::byte> bytes) : rest_{bytes} {}
  bool empty() const { return rest_.empty(); }
  std::span<const std::byte> bytes(std::size_t count) {
    require(count <= rest_.size(), "a block ends too early");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::span<const std::byte> padded(std::size_t count) {
    const auto taken = bytes(count);
    for (const std::byte each : bytes((4 - count % 4) % 4))
      require(each == std::byte{0}, "padding is not zero");
    return taken;
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const auto from = bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      value |= std::to_integer<std::uint64_t>(from[i]) << 8 * i;
    return value;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t time() {
    const std::uint64_t high = number(4);
    return high << 32 | number(4);
  }

private:
  std::span<const std::byte> rest_;
};

pcapng_stream::options read_options(reader& from) {
  pcapng_stream::options read;
  while (!from.empty()) {
    const auto code = from.u16();
    const auto size = from.u16();
    if (code == 0) {
      require(size == 0 && from.empty(), "opt_endofopt is not the end");
      return read;
    }
    const auto value = from.padded(size);
    read.all.push_back({code, {value.begin(), value.end()}});
  }
  require(read.all.empty(), "options without opt_endofopt");
  return read;
}

std::uint64_t time_of(const pcapng_stream::option& from) {
  reader fields{from.value};
  return fields.time();
}

void read_section(pcapng_stream& into, reader& fields) {
  require(fields.u32() == 0x1a2b3c4d, "byte order");
  require(fields.u16() == 1 && fields.u16() == 0, "version");
  require(fields.number(8) == ~std::uint64_t{0}, "section length");
  into.section = read_options(fields);
}

void read_interface(pcapng_stream& into, reader& fields) {
  require(fields.u16() == 1, "link type");
  fields.u16();
  pcapng_stream::interface read;
  read.snaplen = fields.u32();
  read.more = read_options(fields);
  read.name = read.more.text(2);
  require(read.more.number(9) == 9, "time resolution");
  if (const auto filter = read.more.text(11); !filter.empty()) {
    require(filter[0] == '\0', "the filter's kind");
    read.filter = filter.substr(1);
  }
  into.interfaces.push_back(std::move(read));
}

void read_packet(pcapng_stream& into, reader& fields) {
  pcapng_stream::packet read;
  read.interface = fields.u32();
  require(read.interface < into.interfaces.size(), "a packet of an unknown interface");
  read.time_ns = fields.time();
  const auto captured = fields.u32();
  read.original_size = fields.u32();
  require(captured <= read.original_size, "captured more than there was");
  const auto bytes = fields.padded(captured);
  read.bytes = {bytes.begin(), bytes.end()};
  const auto more = read_options(fields);
  read.direction = static_cast<unsigned>(more.number(2));
  read.lost_before = more.number(4);
  into.packets.push_back(std::move(read));
}

void read_statistics(pcapng_stream& into, reader& fields) {
  const auto interface = fields.u32();
  require(interface < into.interfaces.size(), "statistics of an unknown interface");
  fields.time();
  pcapng_stream::statistics read;
  read.more = read_options(fields);
  for (const auto& [code, time] : {std::pair{2, &read.begin_ns}, std::pair{3, &read.end_ns}})
    if (const auto* found = read.more.find(static_cast<std::uint16_t>(code)))
      *time = time_of(*found);
  require(into.ends.emplace(interface, std::move(read)).second, "statistics twice");
}

} // namespace

std::string pcapng_stream::option::text() const {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

std::uint64_t pcapng_stream::option::number() const {
  reader fields{value};
  return fields.number(value.size());
}

const pcapng_stream::option* pcapng_stream::options::find(std::uint16_t code) const {
  for (const option& each : all)
    if (each.code == code)
      return &each;
  return nullptr;
}

std::string pcapng_stream::options::text(std::uint16_t code) const {
  const option* found = find(code);
  return found != nullptr ? found->text() : "";
}

std::uint64_t pcapng_stream::options::number(std::uint16_t code) const {
  const option* found = find(code);
  return found != nullptr ? found->number() : 0;
}

pcapng_stream pcapng_stream::parse(std::span<const std::byte> bytes) {
  pcapng_stream read;
  reader rest{bytes};
  for (bool first = true; !rest.empty(); first = false) {
    const auto type = rest.u32();
    require((type == 0x0a0d0d0a) == first, "a section header is first, and only there");
    const auto size = rest.u32();
    require(size >= 12 && size % 4 == 0, "a block's length");
    reader fields{rest.bytes(size - 12)};
    require(rest.u32() == size, "a block's second length");
    switch (type) {
    case 0x0a0d0d0a:
      read_section(read, fields);
      break;
    case 1:
      read_interface(read, fields);
      break;
    case 5:
      read_statistics(read, fields);
      break;
    case 6:
      read_packet(read, fields);
      break;
    default:
      require(false, "an unknown block");
    }
  }
  return read;
}

} // namespace vmswitch::test
