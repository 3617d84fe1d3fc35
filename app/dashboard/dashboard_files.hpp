#pragma once

#include <span>
#include <string_view>

namespace vmswitch {

/// A file of the dashboard's page, which is part of the program.
struct dashboard_file {
  std::string_view name; // "index.html"
  std::string_view type; // for Content-Type
  std::string_view etag; // with its quotes
  std::string_view content;
};

/// All of them; defined in a source file that the build makes of app/dashboard.
std::span<const dashboard_file> dashboard_files() noexcept;

} // namespace vmswitch
