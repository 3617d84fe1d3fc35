#include "app/settings.hpp"

#include <algorithm>
#include <thread>

namespace vmswitch {

std::size_t worker_count(const daemon_settings& settings) noexcept {
  const std::size_t cores = std::thread::hardware_concurrency(); // 0 if unknown
  return settings.workers.value_or(std::clamp<std::size_t>(cores / 2, 1, 4));
}

} // namespace vmswitch
