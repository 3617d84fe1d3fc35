#pragma once

#include <cstddef>
#include <string>

#include "transport/error.hpp"

namespace vmswitch {

/// The contents of a file of at most `most` bytes. Fails with a text that names the file and the
/// reason (not there, not readable, a folder, too large) and with errno. A pipe that nobody writes
/// to is given up after 5 s.
result<std::string> read_text_file(const std::string& path, std::size_t most);

/// The same for what must not be waited for: anything but a regular file is refused, and a pipe
/// that nobody writes to with it.
result<std::string> read_regular_file(const std::string& path, std::size_t most);

} // namespace vmswitch
