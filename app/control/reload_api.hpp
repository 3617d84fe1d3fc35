#pragma once

#include <nlohmann/json.hpp>

#include "app/control/control_hooks.hpp"
#include "app/control/router.hpp"
#include "app/reload/reload_report.hpp"

namespace vmswitch {

/// Adds POST /v1/reload: reads the configuration anew and changes what differs, or with dry_run
/// tells what would be changed. Both outlive each other.
void add_reload(router& routes, const control_hooks& hooks);

/// What it answers, as openapi.json describes it. Pure.
nlohmann::ordered_json reload_json(const reload_report& report);

} // namespace vmswitch
