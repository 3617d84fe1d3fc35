#include "tests/bench/contenders/host_model.hpp"

#include <utility>

namespace vmswitch::bench {

namespace {

const mac_address own_address = mac_address::from_integer(0x5254'00be'ff01);

} // namespace

void host_model::take(std::span<const std::byte> frame) {
  const auto header = ethernet_view::unchecked(frame);
  if (frame.size() < smallest_frame || header.type() != bench_ethertype)
    return;
  const auto kind = static_cast<frame_kind>(frame[kind_offset]);
  if (kind != frame_kind::request && kind != frame_kind::enough)
    return;
  {
    const std::lock_guard lock{mutex_};
    order_ = order{header.source(), kind};
  }
  changed_.notify_all();
  woken_();
}

std::span<const std::byte> host_model::next() {
  if (!batch_ || sent_ % frames_per_look == 0) {
    const std::lock_guard lock{mutex_};
    if (order_ && order_->kind == frame_kind::request) {
      batch_.emplace(own_address, order_->to, frame_kind::data, frame_sizes::parse("1514").value(),
                     1);
      to_ = order_->to;
      sent_ = 0;
    } else if (order_ && batch_) {
      batch_.reset();
      farewell_.emplace(own_address, to_, frame_kind::ack, frame_sizes::parse("64").value(), 1);
      farewell_due_ = true;
    }
    order_.reset();
  }
  if (std::exchange(farewell_due_, false))
    return farewell_->number(sent_).subspan(prefix_size);
  if (!batch_)
    return {};
  return batch_->number(sent_++).subspan(prefix_size);
}

void host_model::wait() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return order_.has_value(); });
}

} // namespace vmswitch::bench
