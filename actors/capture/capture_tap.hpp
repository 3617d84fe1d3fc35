#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/capture/capture_channel.hpp"
#include "actors/capture/frame_filter.hpp"
#include "actors/capture/pcapng.hpp"
#include "transport/frame/burst.hpp"

namespace vmswitch {

/// What is to be captured in one network.
struct capture_request {
  std::uint64_t id = 0;    // chosen by who asks; unique in the process
  std::string application; // "vmswitchd 0.1.0", for the stream's header
  std::string network;
  std::string port; // a port's name; empty: all of them
  std::string filter_text;
  frame_filter filter;             // compiled from filter_text
  std::uint32_t snaplen = 262'144; // of a frame so many bytes are kept
  std::uint64_t count = 0;         // ends after so many frames; 0: does not
};

/// One capture, as the switch has it: turns frames into pcapng blocks in a channel.
///
/// Theory of operation. All ports: a frame is recorded once, where it enters the switch, as inbound
/// on that port's interface; those that the switch then drops are among them. One port: what comes
/// from it is inbound, what the switch hands to it outbound, whether or not the VM takes it in
/// time. Frames are copied, so a capture holds no slab and its reader can be as slow as it likes: a
/// frame for which the channel has no room is counted as lost on its interface, there and with the
/// next frame that gets through. The stream ends with the statistics of every interface. There are
/// at most max_interfaces, however many VMs come and go; frames of later ones are lost.
///
/// The channel is ended by end(), when `count` or the port's end is reached, or, at last, by the
/// destructor: a request that never reaches a switch ends too. Pure; one thread at a time.
class capture_tap {
public:
  using clock = std::chrono::system_clock;
  static constexpr std::uint32_t max_interfaces = 16'384;

  capture_tap(capture_request request, std::shared_ptr<capture_channel> channel);
  capture_tap(const capture_tap&) = delete;
  capture_tap& operator=(const capture_tap&) = delete;
  ~capture_tap();

  struct port {
    std::uint32_t slot;
    std::string_view name;
  };
  /// Begins, with the ports that are there. If the one that is asked for is not, the capture has
  /// ended with a refusal.
  void begin(std::span<const port> ports, clock::time_point now);
  /// Ends without having begun, for this reason.
  void refuse(std::string why);

  void port_attached(port added, clock::time_point now);
  void port_detached(std::uint32_t slot, clock::time_point now);

  bool all_ports() const noexcept { return request_.port.empty(); }
  /// @pre !all_ports()
  std::uint32_t slot() const noexcept { return slot_; }

  /// Records frames of the port at `slot`. They are seen by the reader after publish().
  void record(std::uint32_t slot, pcapng::direction way, const burst& frames,
              clock::time_point now);
  void publish() {
    if (!ended_)
      channel_->publish();
  }
  /// Ends the stream; `why` stands in its statistics. Nothing if it has ended.
  void end(std::string_view why, clock::time_point now);
  bool ended() const noexcept { return ended_; }

  const capture_request& request() const noexcept { return request_; }
  std::uint64_t delivered() const noexcept { return delivered_; }
  std::uint64_t lost() const noexcept { return lost_; }
  clock::time_point began() const noexcept { return began_; }

private:
  static constexpr std::uint32_t none = 0xffff'ffff;

  // A port, and its interface in the stream once that has been described.
  struct source {
    std::string name; // empty: not captured
    pcapng::interface_statistics statistics{none};
    std::uint64_t lost_now = 0; // since the last frame that was delivered
  };

  void add(port added, clock::time_point now);
  bool put(std::span<const std::byte> block);
  bool described(source& of);
  bool deliver(source& from, pcapng::direction way, std::span<const std::byte> frame,
               std::uint64_t time_ns);

  const capture_request request_;
  const std::shared_ptr<capture_channel> channel_;
  std::uint32_t slot_ = none;
  std::vector<source> sources_;                    // by slot
  std::vector<pcapng::interface_statistics> gone_; // of ports that have gone
  std::uint32_t interfaces_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t lost_ = 0;
  clock::time_point began_{};
  bool ended_ = false;
};

} // namespace vmswitch
