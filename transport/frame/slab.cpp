#include "transport/frame/slab.hpp"

#include <cassert>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace vmswitch {

static_assert(sizeof(slab) <= slab::header_size);

namespace {

// Not malloc: a returned block must really go back to the system. Null if it has none.
void* map_block() noexcept {
  void* block =
      ::mmap(nullptr, slab::block_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

// Null if there is none.
void* take_last(std::vector<void*>& free) noexcept {
  if (free.empty())
    return nullptr;
  void* const block = free.back(); // the warmest in the cache
  free.pop_back();
  return block;
}

} // namespace

slab::slab(std::shared_ptr<slab_pool> pool) noexcept : pool_{std::move(pool)} {}

void slab::drop() noexcept {
  const auto pool = std::move(pool_);
  this->~slab();
  pool->returned(this);
}

slab_stock::slab_stock(std::size_t keep) : keep_{keep} {
  assert(keep > 0);
  free_.reserve(keep);
  void* const first = map_block();
  if (!first)
    throw std::bad_alloc{};
  free_.push_back(first);
}

slab_stock::~slab_stock() {
  for (void* block : free_)
    ::munmap(block, slab::block_size);
}

void* slab_stock::take() noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (void* const block = take_last(free_))
      return block;
  }
  return map_block();
}

void* slab_stock::take_or_wait(std::shared_ptr<slab_pool> waiting) noexcept {
  const std::lock_guard lock{mutex_};
  if (void* const block = take_last(free_))
    return block;
  if (!std::exchange(waiting->is_waiting_, true)) {
    waiting->next_waiting_ = std::move(waiting_);
    waiting_ = std::move(waiting);
  }
  return nullptr;
}

bool slab_stock::awaits(const slab_pool& pool) noexcept {
  const std::lock_guard lock{mutex_};
  return pool.is_waiting_;
}

void slab_stock::give(void* block) noexcept {
  std::shared_ptr<slab_pool> called;
  {
    const std::lock_guard lock{mutex_};
    if (free_.size() < keep_)
      free_.push_back(std::exchange(block, nullptr));
    called = std::move(waiting_);
  }
  if (block)
    ::munmap(block, slab::block_size);
  while (called) {
    const auto first = std::move(called);
    {
      const std::lock_guard lock{mutex_};
      called = std::move(first->next_waiting_);
      first->is_waiting_ = false; // it may wait anew
    }
    first->call();
  }
}

std::shared_ptr<slab_pool> slab_pool::create(std::shared_ptr<slab_stock> stock, std::size_t budget,
                                             std::function<void()> on_return) {
  assert(budget > 0);
  return std::shared_ptr<slab_pool>{new slab_pool{std::move(stock), budget, std::move(on_return)}};
}

slab_ref slab_pool::acquire() {
  if (outstanding() >= budget_) {
    wanted_.store(true, std::memory_order_seq_cst);
    // A slab may have come back between the test and the request: look again, or it would be
    // missed for ever.
    if (outstanding_.load(std::memory_order_seq_cst) >= budget_)
      return {};
    wanted_.store(false, std::memory_order_relaxed);
  }
  void* block = stock_->take();
  if (!block) {
    wanted_.store(true, std::memory_order_seq_cst);
    block = stock_->take_or_wait(shared_from_this());
    if (!block)
      return {};
    wanted_.store(false, std::memory_order_relaxed);
  }
  outstanding_.fetch_add(1, std::memory_order_relaxed);
  return slab_ref{new (block) slab{shared_from_this()}};
}

bool slab_pool::call_on_next_return() noexcept {
  wanted_.store(true, std::memory_order_seq_cst);
  if (outstanding_.load(std::memory_order_seq_cst) > 0 || stock_->awaits(*this))
    return true;
  wanted_.store(false, std::memory_order_relaxed);
  return false;
}

void slab_pool::returned(void* block) noexcept {
  stock_->give(block);
  outstanding_.fetch_sub(1, std::memory_order_seq_cst);
  call();
}

void slab_pool::call() noexcept {
  if (wanted_.load(std::memory_order_seq_cst) && wanted_.exchange(false) && on_return_)
    on_return_();
}

} // namespace vmswitch
