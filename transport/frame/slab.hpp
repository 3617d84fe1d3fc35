#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace vmswitch {

class slab_pool;

/// A block of memory that frames are read into and shared from, counted by reference.
///
/// Theory of operation. The ingress port that owns a `slab_pool` takes a slab, fills it front to
/// back and hands out bursts that point into it; bytes that were handed out are never written
/// again while anyone else holds a reference. Whoever drops the last reference, on whatever
/// thread, gives the slab back to its pool, which tells a port that is waiting for one. The memory
/// itself comes from a `slab_stock` shared by all pools, so that idle ports hold none.
class slab {
public:
  /// Bytes of memory behind one slab, header included. Large enough for two jumbo frames
  /// (65,520 + 18 + 4), small enough that a few of them stay in a core's cache.
  static constexpr std::size_t block_size = 128 * 1024;
  static constexpr std::size_t header_size = 64;
  static constexpr std::size_t capacity = block_size - header_size;

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this) + header_size; }
  const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + header_size;
  }
  /// True when the caller's reference is the only one, so that the memory may be written anew.
  bool unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

private:
  friend class slab_ref;
  friend class slab_pool;
  explicit slab(std::shared_ptr<slab_pool> pool) noexcept;
  void drop() noexcept; // the last reference is gone

  std::atomic<std::uint32_t> references_{1};
  std::shared_ptr<slab_pool> pool_;
};

/// One counted reference to a slab, or none. Copying is thread-safe.
class slab_ref {
public:
  slab_ref() noexcept = default;
  slab_ref(const slab_ref& other) noexcept : slab_{other.slab_} {
    if (slab_)
      slab_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  slab_ref(slab_ref&& other) noexcept : slab_{std::exchange(other.slab_, nullptr)} {}
  slab_ref& operator=(slab_ref other) noexcept {
    std::swap(slab_, other.slab_);
    return *this;
  }
  ~slab_ref() { reset(); }

  void reset() noexcept {
    if (slab* dropped = std::exchange(slab_, nullptr))
      if (dropped->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        dropped->drop();
  }
  slab* get() const noexcept { return slab_; }
  slab* operator->() const noexcept { return slab_; }
  explicit operator bool() const noexcept { return slab_ != nullptr; }
  friend bool operator==(const slab_ref& a, const slab_ref& b) noexcept {
    return a.slab_ == b.slab_;
  }

private:
  friend class slab_pool;
  explicit slab_ref(slab* adopted) noexcept : slab_{adopted} {}
  slab* slab_ = nullptr;
};

/// Free blocks shared by all pools of a process. Thread-safe. Keeps at most `keep` blocks; what
/// comes back beyond that goes back to the system, so memory shrinks after a load.
///
/// When the system has no more, pools wait for blocks of each other. There always is one: it is
/// made at once, and the last is never given back.
class slab_stock {
public:
  /// Throws std::bad_alloc if the system has no memory for one block. @pre keep > 0
  explicit slab_stock(std::size_t keep);
  slab_stock(const slab_stock&) = delete;
  slab_stock& operator=(const slab_stock&) = delete;
  ~slab_stock();

  /// A block of `slab::block_size` bytes; null when the system has none.
  void* take() noexcept;
  /// The same at second thought: where there still is none `waiting` is called, and kept alive
  /// until then, when any block comes back.
  void* take_or_wait(std::shared_ptr<slab_pool> waiting) noexcept;
  /// Whether it is to be called.
  bool awaits(const slab_pool& pool) noexcept;
  void give(void* block) noexcept;

private:
  const std::size_t keep_;
  std::mutex mutex_;
  std::vector<void*> free_;              // guarded by mutex_; has room for keep_
  std::shared_ptr<slab_pool> waiting_{}; // guarded by mutex_; a list by next_waiting_
};

/// The budget of one ingress port: at most `budget` of its slabs exist at a time.
class slab_pool : public std::enable_shared_from_this<slab_pool> {
public:
  /// `on_return` is called, on whichever thread drops the slab, once after each failed `acquire`
  /// as soon as another `acquire` may succeed. It must only send or wake.
  static std::shared_ptr<slab_pool> create(std::shared_ptr<slab_stock> stock, std::size_t budget,
                                           std::function<void()> on_return);

  /// A new slab, or none while all of the budget is out or the system has no memory. One thread
  /// at a time.
  slab_ref acquire();
  /// Has `on_return` called when the next slab comes back, as after a failed acquire. False, and
  /// nothing is asked for, if none is waited for.
  bool call_on_next_return() noexcept;
  /// Slabs that exist at this moment, the caller's own included. Thread-safe.
  std::size_t outstanding() const noexcept { return outstanding_.load(std::memory_order_acquire); }
  std::size_t budget() const noexcept { return budget_; }
  /// By whoever acquires. Slabs that are out beyond a smaller one stay out until they come back.
  /// @pre slabs > 0
  void change_budget(std::size_t slabs) noexcept { budget_ = slabs; }

private:
  friend class slab;
  friend class slab_stock;
  slab_pool(std::shared_ptr<slab_stock> stock, std::size_t budget, std::function<void()> on_return)
      : stock_{std::move(stock)}, budget_{budget}, on_return_{std::move(on_return)} {}
  void returned(void* block) noexcept;
  void call() noexcept;

  const std::shared_ptr<slab_stock> stock_;
  std::size_t budget_; // the acquiring thread's
  const std::function<void()> on_return_;
  std::atomic<std::size_t> outstanding_{0};
  std::atomic<bool> wanted_{false};
  bool is_waiting_ = false;                   // for the stock, whose mutex guards it ...
  std::shared_ptr<slab_pool> next_waiting_{}; // ... and this
};

} // namespace vmswitch
