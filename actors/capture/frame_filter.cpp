#include "actors/capture/frame_filter.hpp"

#include <algorithm>
#include <mutex>
#include <string>

#include <fmt/format.h>
#include <pcap/pcap.h>

namespace vmswitch {

// Not moved: libpcap's type owns memory.
class frame_filter::program {
public:
  program() = default;
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() { ::pcap_freecode(&code); }

  bpf_program code{};
};

namespace {

constexpr int longest_frame = 262'144; // what the program returns for a frame that passes

// Loads of what Linux knows of a packet beside its bytes, such as its direction (SKF_AD_OFF in
// linux/filter.h), are compiled on Linux, but can only be run by its kernel.
bool needs_kernel(const bpf_program& code) {
  constexpr bpf_u_int32 ancillary = 0xffff'f000;
  return std::any_of(code.bf_insns, code.bf_insns + code.bf_len, [](const bpf_insn& each) {
    return BPF_CLASS(each.code) == BPF_LD && BPF_MODE(each.code) == BPF_ABS && each.k >= ancillary;
  });
}

using pcap_handle = std::unique_ptr<pcap_t, decltype(&::pcap_close)>;

} // namespace

result<frame_filter> frame_filter::compile(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    return frame_filter{};
  if (text.size() > max_text)
    return fail(fmt::format("the filter is longer than {} characters", max_text));
  if (text.find('\0') != text.npos)
    return fail("the filter has a character 0 in it");
  static std::mutex one_at_a_time;
  const std::lock_guard lock{one_at_a_time};
  const pcap_handle handle{::pcap_open_dead(DLT_EN10MB, longest_frame), &::pcap_close};
  if (!handle)
    return fail("no memory to compile the filter");
  const auto compiled = std::make_shared<program>();
  if (::pcap_compile(handle.get(), &compiled->code, std::string{text}.c_str(), 1,
                     PCAP_NETMASK_UNKNOWN) != 0)
    return fail(
        fmt::format("the filter \"{}\" cannot be used: {}", text, ::pcap_geterr(handle.get())));
  if (needs_kernel(compiled->code))
    return fail(fmt::format("the filter \"{}\" cannot be used: the direction of a frame is no part "
                            "of it; capture one port, whose frames have a direction",
                            text));
  frame_filter made;
  made.program_ = compiled;
  return made;
}

bool frame_filter::passes(std::span<const std::byte> frame) const noexcept {
  if (!program_)
    return true;
  pcap_pkthdr header{};
  header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
  return ::pcap_offline_filter(&program_->code, &header,
                               reinterpret_cast<const u_char*>(frame.data())) != 0;
}

} // namespace vmswitch
