#pragma once

#include <string>

namespace vmswitch {

/// The name of the daemon that ours stands in for, as a link to it. Under this name the mode is
/// `shared` where none is given, as there.
inline constexpr auto socket_vmnet_name = "socket_vmnet";

/// The last part of argv[0]: the name that a program was called by, which may be a link's.
/// `usual` where there is none.
std::string program_name(int argc, const char* const* argv, const char* usual);

} // namespace vmswitch
