#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace vmswitch {

/// The way onto a context's thread for those who may outlive it: a switch, a thread that waits for
/// a name server.
class context_door {
public:
  /// Copies lead to the same context. Closed, it swallows what is posted.
  class way {
  public:
    /// On any thread.
    void post(std::function<void()> work) const {
      const std::lock_guard lock{shared_->mutex};
      if (shared_->context != nullptr)
        boost::asio::post(*shared_->context, std::move(work));
    }

  private:
    friend class context_door;
    struct state {
      std::mutex mutex;
      boost::asio::io_context* context; // guarded by mutex; null: closed
    };
    std::shared_ptr<state> shared_;
  };

  explicit context_door(boost::asio::io_context& context) {
    way_.shared_ = std::make_shared<way::state>();
    way_.shared_->context = &context;
  }
  context_door(const context_door&) = delete;
  context_door& operator=(const context_door&) = delete;
  ~context_door() {
    const std::lock_guard lock{way_.shared_->mutex};
    way_.shared_->context = nullptr;
  }

  const way& get() const noexcept { return way_; }

private:
  way way_;
};

} // namespace vmswitch
