#pragma once

namespace vmswitch {

/// VMs come in any number, and each of them takes descriptors. The last ones of the process are not
/// for them: the control socket, which a person needs just then, and the networks need some too.
inline constexpr unsigned descriptor_reserve = 16;

/// True if there are no more descriptors than the reserve, or than a quarter of few. `fd` is any
/// open descriptor. Other threads may take some in the same instant. Thread-safe.
bool only_reserve_left(int fd) noexcept;

} // namespace vmswitch
