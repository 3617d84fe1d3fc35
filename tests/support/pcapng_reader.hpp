#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/support/bytes.hpp"

namespace vmswitch::test {

/// A whole pcapng stream, as a reader understands it that shares nothing with the writer
/// (draft-ietf-opsawg-pcapng; little-endian only). Throws std::runtime_error for a stream that is
/// not well-formed: blocks whose two lengths differ, packets of unknown interfaces, ...
struct pcapng_stream {
  struct option {
    std::uint16_t code;
    std::vector<std::byte> value;
    std::string text() const;
    std::uint64_t number() const; // of 1, 4 or 8 bytes
  };
  struct options {
    std::vector<option> all;
    const option* find(std::uint16_t code) const;
    /// Empty, or 0, if there is none.
    std::string text(std::uint16_t code) const;
    std::uint64_t number(std::uint16_t code) const;
  };
  struct interface {
    std::string name;
    std::string filter;
    std::uint32_t snaplen = 0;
    options more;
  };
  struct packet {
    std::uint32_t interface = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t original_size = 0;
    frame bytes;
    unsigned direction = 0; // 1: inbound, 2: outbound
    std::uint64_t lost_before = 0;
  };
  struct statistics {
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    options more; // 4 received, 5 dropped, 6 accepted, 8 delivered
  };

  options section;
  std::vector<interface> interfaces;
  std::vector<packet> packets;
  std::map<std::uint32_t, statistics> ends; // by interface

  static pcapng_stream parse(std::span<const std::byte> bytes);
};

} // namespace vmswitch::test
