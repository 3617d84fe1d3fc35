#pragma once

#include <cstdint>

/// Calls of operator new in the whole program so far, CAF's included. Thread-safe.
std::int64_t allocations_so_far() noexcept;
