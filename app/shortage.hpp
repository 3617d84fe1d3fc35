#pragma once

#include <exception>

#include "transport/error.hpp"

namespace vmswitch {

/// What to tell a person of an exception by which a library says that the system has no more of
/// something: memory, threads, descriptors. Its errno as code, or 0.
error shortage(const std::exception& thrown);

} // namespace vmswitch
