#pragma once

#include <string>
#include <vector>

#include "app/reload/reload_plan.hpp"

namespace vmswitch {

/// What a reload did, or with `dry_run` would do.
struct reload_report {
  struct step {
    std::string text;    ///< that of the action
    std::string failure; ///< why it was not done; what it concerns is as before
  };

  bool dry_run = false;
  /// Why the configuration cannot be used: a mistake each. Then there is nothing else.
  std::vector<std::string> errors;
  std::vector<step> steps;
  std::vector<held_setting> held; ///< what needs a restart

  std::size_t failures() const noexcept;
  bool ok() const noexcept { return errors.empty() && failures() == 0; }
};

/// One line: "2 changes made, 1 failed, 1 needs a restart".
std::string summary(const reload_report& report);

} // namespace vmswitch
