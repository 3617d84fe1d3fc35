#include "app/control/capture_session.hpp"

#include <algorithm>
#include <utility>

namespace vmswitch {

namespace {

constexpr std::size_t piece_bytes = 256 * 1024;
constexpr std::chrono::seconds patience{5}; // with a switch that does not answer

} // namespace

// What the connection holds: its end is the session's.
class capture_session::source final : public stream_source {
public:
  explicit source(std::shared_ptr<capture_session> of) : session_{std::move(of)} {}
  std::string_view type() const override { return "application/x-pcapng"; }
  bool fill(std::string& out) override { return session_->fill(out); }
  void on_ready(std::function<void()> wake) override { session_->pump_ = std::move(wake); }
  bool is_patient() const override { return true; }
  bool finish() override {
    session_->stop_();
    return true;
  }

private:
  const std::shared_ptr<capture_session> session_;
};

capture_session::~capture_session() {
  stop_();
}

std::shared_ptr<capture_channel> capture_session::open(const context_door::way& way,
                                                       std::chrono::seconds duration) {
  channel_ = std::make_shared<capture_channel>([way, weak = weak_from_this()] {
    way.post([weak] {
      if (const auto self = weak.lock())
        self->on_wake();
    });
  });
  channel_->sleep();
  // Until there is an answer, only this handler keeps the session.
  timer_.expires_after(patience);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code&) {});
  if (duration > std::chrono::seconds::zero()) {
    deadline_.expires_after(duration);
    deadline_.async_wait([weak = weak_from_this()](const boost::system::error_code& problem) {
      if (const auto self = weak.lock(); self && !problem)
        self->stop_();
    });
  }
  return channel_;
}

void capture_session::on_wake() {
  if (answered_) {
    if (pump_)
      pump_();
  } else if (!channel_->readable().empty()) {
    answered_ = true;
    answer_(std::make_unique<source>(shared_from_this()));
    timer_.cancel();
  } else if (channel_->over()) {
    answered_ = true;
    answer_(error_response(409, channel_->refusal()));
    timer_.cancel();
  } else if (!channel_->sleep()) {
    on_wake();
  }
}

bool capture_session::fill(std::string& out) {
  out.reserve(std::min(piece_bytes, channel_->readable().size()));
  for (auto bytes = channel_->readable(); !bytes.empty() && out.size() < piece_bytes;
       bytes = channel_->readable()) {
    bytes = bytes.first(std::min(bytes.size(), piece_bytes - out.size()));
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    channel_->consume(bytes.size());
  }
  if (!out.empty())
    return true;
  if (channel_->over())
    return false;
  rest();
  return true;
}

void capture_session::rest() {
  timer_.expires_after(pace);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& problem) {
    const auto self = weak.lock();
    if (self && !problem && !self->channel_->sleep())
      self->on_wake();
  });
}

} // namespace vmswitch
