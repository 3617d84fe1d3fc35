#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/steady_timer.hpp>

#include "actors/capture/capture_tap.hpp"
#include "app/control/context_door.hpp"
#include "app/control/http_types.hpp"

namespace vmswitch {

/// A capture and the client that reads it, on the control thread.
///
/// Theory of operation. The channel is the switch's end of the line, the responder the client's.
/// The first bytes that come turn the answer into a stream; an end without bytes is a refusal.
/// While frames come all the time nobody wakes anybody: after the channel has been emptied it is
/// left alone for `pace`, and only then asked to wake us. So a capture costs its switch at most a
/// hundred wake-ups a second, and takes at most a ring of bytes in each `pace`; what comes faster
/// is lost to it, instead of to the traffic.
///
/// The capture is stopped when the client's connection ends, when the client has said enough
/// (half-closed its connection; then what is left is still sent), or after `duration`.
class capture_session : public std::enable_shared_from_this<capture_session> {
public:
  static constexpr std::chrono::milliseconds pace{10};

  /// `stop` asks the switch to end the capture; it only sends.
  capture_session(boost::asio::io_context& context, responder answer, std::function<void()> stop)
      : timer_{context}, deadline_{context}, answer_{std::move(answer)}, stop_{std::move(stop)} {}
  ~capture_session();

  /// To be called once, before the channel goes to a switch. Its wake-ups come through `way`.
  std::shared_ptr<capture_channel> open(const context_door::way& way,
                                        std::chrono::seconds duration);

private:
  class source;

  void on_wake();
  bool fill(std::string& out);
  void rest();

  boost::asio::steady_timer timer_;
  boost::asio::steady_timer deadline_;
  const responder answer_;
  const std::function<void()> stop_;
  std::shared_ptr<capture_channel> channel_;
  bool answered_ = false;
  std::function<void()> pump_; // of the connection
};

} // namespace vmswitch
