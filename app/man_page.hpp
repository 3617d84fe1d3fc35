#pragma once

#include <string>
#include <vector>

#include "app/command_info.hpp"

namespace vmswitch {

/// A manual page in man(7) for a program: its options and commands, and what else there is to say.
struct man_section {
  std::string title; // "EXIT STATUS"
  /// Paragraphs, or, where `tag` is not empty, entries of a list.
  struct entry {
    std::string tag;
    std::string text;
  };
  std::vector<entry> entries;
};

/// `section` is that of the manual: 1 or 8. Pure.
std::string man_page(const command_info& program, int section,
                     const std::vector<man_section>& more);

} // namespace vmswitch
