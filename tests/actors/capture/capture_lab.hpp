#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/capture/capture_tap.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/pcapng_reader.hpp"

namespace vmswitch::test {

/// The reading end of a capture: takes all there is, and reads it as a stream.
class capture_reader {
public:
  explicit capture_reader(std::size_t bytes = capture_channel::ring_bytes)
      : channel_{std::make_shared<capture_channel>([this] { ++wakes; }, bytes)} {}

  const std::shared_ptr<capture_channel>& channel() const { return channel_; }
  /// Reads what there is now.
  void read() {
    for (auto bytes = channel_->readable(); !bytes.empty(); bytes = channel_->readable()) {
      stream_.insert(stream_.end(), bytes.begin(), bytes.end());
      channel_->consume(bytes.size());
    }
  }
  /// All that was read so far.
  pcapng_stream stream() {
    read();
    return pcapng_stream::parse(stream_);
  }
  int wakes = 0;

private:
  std::shared_ptr<capture_channel> channel_;
  std::vector<std::byte> stream_;
};

/// A filter that must be right.
inline frame_filter filter_of(const std::string& text) {
  return frame_filter::compile(text).value();
}

inline capture_request request_for(std::string port = {}, std::string filter = {}) {
  capture_request made;
  made.application = "test";
  made.network = "net";
  made.port = std::move(port);
  made.filter = filter_of(filter);
  made.filter_text = std::move(filter);
  return made;
}

} // namespace vmswitch::test
