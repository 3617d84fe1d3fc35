#pragma once

#include <string>
#include <string_view>

namespace vmswitch {

/// `text` for a terminal or log: control characters (C0, DEL, C1) appear as "\n" or "\x1b", so that
/// text from elsewhere neither begins a new line nor steers the terminal.
std::string printable(std::string_view text);

/// The same, but lines stay lines: for a message of several, at the end of which nothing follows.
std::string printable_lines(std::string_view text);

/// The first `most` bytes of `text`, never half a UTF-8 character, and "..." if that is not all.
std::string shortened(std::string_view text, std::size_t most);

} // namespace vmswitch
