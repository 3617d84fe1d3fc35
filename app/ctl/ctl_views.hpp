#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace vmswitch {

// What vmswitchctl shows of the API's answers. Fields that are absent are taken as empty: the
// daemon may be of another version. Pure.

std::string status_view(const nlohmann::json& status, const nlohmann::json& networks, bool colour);
std::string networks_view(const nlohmann::json& networks, bool colour);
std::string ports_view(const nlohmann::json& ports, bool colour);
std::string macs_view(const nlohmann::json& macs, bool colour);
std::string leases_view(const nlohmann::json& leases, bool colour);
std::string forwards_view(const nlohmann::json& forwards, bool colour);
std::string dns_view(const nlohmann::json& records, bool colour);
std::string captures_view(const nlohmann::json& captures, bool colour);
/// Which frames were dropped, where and why, and what to do about it.
std::string drops_view(const nlohmann::json& networks, const nlohmann::json& ports, bool colour);

// Reading such answers.
std::string text_of(const nlohmann::json& object, const char* key);
/// A port for people: "lab.3", or "lab.3 (web)" if it has an alias; `key` is where its name stands.
std::string port_text(const nlohmann::json& object, const char* key);
double number_of(const nlohmann::json& object, const char* key);
const nlohmann::json& list_of(const nlohmann::json& object, const char* key);

} // namespace vmswitch
