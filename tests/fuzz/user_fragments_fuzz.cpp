// Any bytes as fragments from two VMs, each behind its flags, offset and size: what comes out is
// whole and passes the filter's checks of form, and every fragment is accounted for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "vmnet/ip_packet.hpp"
#include "vmnet/user_filter.hpp"
#include "vmnet/user_fragments.hpp"

namespace {

using namespace vmswitch;

constexpr std::size_t control = 4;

std::array<std::byte, 14 + 20 + 256> frame_of(std::span<const std::byte, control> from) {
  constexpr unsigned char headers[]{0x52, 0x55, 192,  168, 105, 1, 0x52, 0x54, 0, 0, 0,  0,
                                    8,    0,    0x45, 0,   0,   0, 0,    7,    0, 0, 64, 17,
                                    0,    0,    192,  168, 105, 9, 1,    1,    1, 1};
  std::array<std::byte, 14 + 20 + 256> frame{};
  for (std::size_t i = 0; i < sizeof headers; ++i)
    frame[i] = std::byte{headers[i]};
  const auto length = 20 + std::to_integer<std::size_t>(from[3]);
  frame[11] = from[0] & std::byte{1};
  frame[16] = static_cast<std::byte>(length >> 8);
  frame[17] = static_cast<std::byte>(length);
  frame[20] = from[1];
  frame[21] = from[2];
  const auto sum = ipv4_header_checksum(std::span{frame}.subspan(14, 20));
  frame[24] = static_cast<std::byte>(sum >> 8);
  frame[25] = static_cast<std::byte>(sum);
  return frame;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const user_filter filter{host_config{}};
  user_fragments fragments;
  std::size_t given = 0, taken = 0;
  auto rest = std::as_bytes(std::span{data, size});
  for (; rest.size() >= control; rest = rest.subspan(control)) {
    const auto frame = frame_of(rest.first<control>());
    if (filter.judge(frame).what != user_filter::verdict::fragment)
      continue;
    ++given;
    const auto whole = fragments.add(frame, std::chrono::milliseconds{given});
    if (whole.frame.empty())
      continue;
    taken += whole.fragments;
    if (filter.judge_whole(whole.frame).what == user_filter::verdict::fragment ||
        ipv4_header_checksum(whole.frame.subspan(14, 20)) != 0 || whole.frame.size() > 14 + 65'535)
      std::abort();
  }
  fragments.expire(std::chrono::hours{1});
  if (fragments.under_way() != 0 || given != taken + fragments.take_dropped())
    std::abort();
  return 0;
}
