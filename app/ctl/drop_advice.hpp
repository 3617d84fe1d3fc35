#pragma once

#include <string>
#include <string_view>

namespace vmswitch {

/// What a drop reason (see drop_reason) means to a person, in a few words; "" if it is not known.
std::string drop_advice(std::string_view reason);

} // namespace vmswitch
