#include "tests/bench/micro/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations{0};

} // namespace

std::int64_t allocations_so_far() noexcept {
  return allocations.load();
}

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const made = std::malloc(size))
    return made;
  throw std::bad_alloc{};
}
void operator delete(void* gone) noexcept {
  std::free(gone);
}
void operator delete(void* gone, std::size_t) noexcept {
  std::free(gone);
}
