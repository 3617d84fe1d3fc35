#include "vmnet/forged_reset.hpp"

#include <cstdint>

namespace vmswitch {

std::array<std::vector<std::byte>, 2> forged_resets(const ip_path& from_vm) {
  const auto reset = [&](std::uint8_t first_octet_of_sequence) {
    std::array<std::byte, 20> segment{}; // RFC 9293, 3.1; the ports and the checksum are put in
    segment[4] = std::byte{first_octet_of_sequence};
    segment[12] = std::byte{5 << 4}; // its length in words
    segment[13] = std::byte{4};      // RST
    return make_tcp_frame(from_vm, segment);
  };
  return {reset(0), reset(0x80)};
}

} // namespace vmswitch
