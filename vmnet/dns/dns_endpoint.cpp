#include "vmnet/dns/dns_endpoint.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <net/if.h>

namespace vmswitch {

namespace {

bool is_device_name(std::string_view text) {
  return !text.empty() && text.size() < IF_NAMESIZE && std::ranges::all_of(text, [](char c) {
    return c > ' ' && c != '/' && c != '%' && c != ']' && c != ',' && c != '\x7f';
  });
}

bool is_address(std::string_view text) {
  in6_addr parsed{};
  const auto percent = text.find('%');
  const std::string bare{text.substr(0, percent)};
  if (percent == std::string_view::npos && ::inet_pton(AF_INET, bare.c_str(), &parsed) == 1)
    return true;
  if (::inet_pton(AF_INET6, bare.c_str(), &parsed) != 1)
    return false;
  if (percent == std::string_view::npos)
    return true;
  return IN6_IS_ADDR_LINKLOCAL(&parsed) && is_device_name(text.substr(percent + 1));
}

} // namespace

std::optional<dns_endpoint> dns_endpoint::parse(std::string_view text) {
  auto address = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':'))
      return std::nullopt;
    address = text.substr(1, end - 1);
    port = text.substr(std::min(text.size(), end + 2));
    if (end + 2 == text.size() || address.find(':') == std::string_view::npos)
      return std::nullopt;
  } else if (std::ranges::count(text, ':') == 1) {
    address = text.substr(0, text.find(':'));
    port = text.substr(address.size() + 1);
    if (port.empty())
      return std::nullopt;
  }
  dns_endpoint made{std::string{address}, 53};
  if (!port.empty()) {
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), made.port);
    if (problem != std::errc{} || end != port.data() + port.size() || made.port == 0)
      return std::nullopt;
  }
  if (!is_address(address))
    return std::nullopt;
  return made;
}

std::string to_string(const dns_endpoint& endpoint) {
  if (endpoint.port == 53)
    return endpoint.address;
  return (endpoint.is_ipv6() ? "[" + endpoint.address + "]" : endpoint.address) + ":" +
         std::to_string(endpoint.port);
}

std::string to_string(const std::vector<dns_endpoint>& endpoints) {
  std::string text;
  for (const auto& one : endpoints)
    text += (text.empty() ? "" : ", ") + to_string(one);
  return text;
}

std::vector<dns_endpoint> parse_resolv_conf(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  std::vector<dns_endpoint> found;
  while (!text.empty() && found.size() < most_dns_servers) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    constexpr std::string_view keyword = "nameserver";
    if (!line.starts_with(keyword))
      continue;
    line.remove_prefix(keyword.size());
    const auto begin = line.find_first_not_of(blank);
    if (begin == 0 || begin == std::string_view::npos)
      continue;
    line.remove_prefix(begin);
    const auto word = line.substr(0, line.find_first_of(" \t\r#;"));
    // A port cannot be written there: what looks like one is part of an IPv6 address.
    if (is_address(word) && std::ranges::find(found, word, &dns_endpoint::address) == found.end())
      found.push_back({std::string{word}, 53});
  }
  if (found.empty())
    found.push_back({"127.0.0.1", 53});
  return found;
}

} // namespace vmswitch
