#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

#include "tests/integration/daemon_lab.hpp"
#include "tests/support/numbered_batch.hpp"

namespace vmswitch::test {

/// Two VMs, of which one sends to the other until check(), which is to be called: every frame has
/// to arrive, once, in order.
class witness {
public:
  witness(frame_socket from, frame_socket to) : from_{std::move(from)}, to_{std::move(to)} {
    REQUIRE(hears(to_, from_));
    receiving_ = std::thread{[this] {
      while (checker_.received() < sent_)
        if (to_.receive(soon(),
                        [this](std::span<const std::byte> bare) {
                          if (read_number(bare))
                            checker_.on_frame(bare);
                        })
                .value_or(0) == 0)
          return;
    }};
    sending_ = std::thread{[this] {
      numbered_batch source{vm_mac(2), vm_mac(1), 7, 600, 20};
      while (!stop_ && from_.send_wire(source.next(), soon()))
        std::this_thread::sleep_for(std::chrono::milliseconds{1}); // a load, not a flood
      sent_ = source.frames();
      static_cast<void>(from_.send_wire(source.next(), soon())); // so that the other looks again
    }};
  }
  void check() {
    stop_ = true;
    sending_.join();
    receiving_.join();
    INFO(checker_.summary(sent_));
    CHECK(checker_.lost(sent_) == 0);
    CHECK(checker_.reordered() + checker_.duplicated() + checker_.damaged() == 0);
  }

private:
  frame_socket from_, to_;
  sequence_checker checker_{7};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> sent_{~std::uint64_t{0}}; // known at the end
  std::thread receiving_, sending_;
};

} // namespace vmswitch::test
