#include "transport/link.hpp"

namespace vmswitch {

void link::on_ready(std::function<void(readiness)>) {}

void link::dedicate(bool) {}

} // namespace vmswitch
