#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "transport/error.hpp"

namespace vmswitch {

/// Which frames a capture is about, in libpcap's syntax (pcap-filter(7)). A value; copies share the
/// program, which is immutable.
class frame_filter {
public:
  /// Lets everything pass.
  frame_filter() noexcept = default;

  /// The error is libpcap's, in words. Blank text lets everything pass. It may take long: a host
  /// name in the text is looked up, so this is not for a thread that others wait for.
  /// Thread-safe; one at a time is compiled, since libpcap before 1.8 cannot do more.
  static result<frame_filter> compile(std::string_view text);
  static constexpr std::size_t max_text = 2048;

  /// Whether `frame`, an Ethernet frame without FCS, is wanted. Takes time in proportion to the
  /// filter's text.
  bool passes(std::span<const std::byte> frame) const noexcept;
  bool passes_all() const noexcept { return !program_; }

private:
  class program;
  std::shared_ptr<const program> program_; // null: everything
};

} // namespace vmswitch
