#include "vmnet/forward/forward_rule.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "vmnet/dhcp/dhcp_config.hpp"

namespace vmswitch {

namespace {

constexpr auto example = "write it as in tcp 127.0.0.1:2222 -> web:22";

std::string quoted(std::string_view text) {
  return "\"" + std::string{text} + "\"";
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, port);
  if (problem != std::errc{} || stopped != end || port == 0)
    return std::nullopt;
  return port;
}

// "[::1]" without its brackets; anything else as it is, but for an IPv6 address, which needs them.
std::optional<std::string_view> without_brackets(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    return text.substr(1, text.size() - 2);
  return ipv6_address::parse(text) ? std::nullopt : std::optional{text};
}

struct place {
  std::string_view host; // may be empty
  std::optional<port_range> ports;
};

// What stands before the last colon, and the ports behind it. A MAC address has colons of its own.
result<place> split(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return place{text, {}};
  auto ports = parse_ports(text.substr(colon + 1));
  if (text.back() == ']' || mac_address::parse(text))
    return place{text, {}};
  if (!ports)
    return tl::unexpected{std::move(ports.error())};
  return place{text.substr(0, colon), *ports};
}

struct listening {
  forward_listen at; // without the port
  port_range ports;
};

result<listening> parse_listening(std::string_view text) {
  listening parsed;
  text = trimmed(text);
  if (const auto blank = text.find_first_of(" \t"); blank != std::string_view::npos) {
    const auto protocol = parse_forward_protocol(text.substr(0, blank));
    if (!protocol)
      return tl::unexpected{protocol.error()};
    parsed.at.protocol = *protocol;
    text = trimmed(text.substr(blank));
  }
  const auto colon = text.rfind(':');
  const auto ports = parse_ports(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!ports)
    return tl::unexpected{ports.error()};
  parsed.ports = *ports;
  if (colon == std::string_view::npos || colon == 0)
    return parsed;
  const auto bare = without_brackets(text.substr(0, colon));
  if (!bare)
    return fail("an IPv6 address before a port stands in brackets: [" +
                std::string{text.substr(0, colon)} + "]:" + std::string{text.substr(colon + 1)});
  const auto address = parse_listen_address(*bare);
  if (!address)
    return tl::unexpected{address.error()};
  parsed.at.address = *address;
  return parsed;
}

result<void> check_target_address(const ip_address& address, const host_config& host) {
  const auto text = to_string(address);
  if (is_unspecified(address) || is_group(address) || is_loopback(address))
    return fail(text + " is not an address that a VM has");
  if (const auto* six = std::get_if<ipv6_address>(&address)) {
    if (six->is_link_local())
      return fail(text + " means nothing without a link: write the VM's other IPv6 address, or its "
                         "IPv4 address");
    if (host.mode != host_mode::bridged && (!host.ipv6 || host.mtu < least_ipv6_mtu))
      return fail(text + " is an IPv6 address, and this network has no IPv6: write an IPv4 "
                         "address, or ipv6 = true");
    return {};
  }
  if (!owns_subnet(host.mode))
    return {};
  if (auto right = check_reserved_address(host, *std::get_if<ipv4_address>(&address)); !right)
    return tl::unexpected{std::move(right.error())};
  return {};
}

// What libslirp cannot do, and a relay can.
result<void> check_for_libslirp(const forward_rule& rule, const host_config& host) {
  const auto* to = std::get_if<ip_address>(&rule.to);
  const bool to_ipv4 = to == nullptr || is_ipv4(*to);
  const auto& at = rule.listen.address;
  if (is_ipv4(at) != to_ipv4)
    return fail("a network of mode \"user\" leads IPv" + std::string{is_ipv4(at) ? "4" : "6"} +
                " to IPv" + (is_ipv4(at) ? "4" : "6") + " only, and " + to_string(rule.to) +
                (to == nullptr ? " has an IPv4 address" : " is none") + ": listen on " +
                (is_loopback(at)      ? (to_ipv4 ? "127.0.0.1" : "::1")
                 : is_unspecified(at) ? (to_ipv4 ? "0.0.0.0" : "::")
                                      : "an address of the other family"));
  if (rule.listen.protocol == forward_protocol::udp && !host.host_loopback &&
      (is_loopback(at) || is_unspecified(at)))
    return fail("answers to UDP from the host itself would have to go to its loopback, which "
                "host_loopback = false closes: listen on another address of the host, or remove "
                "host_loopback");
  return {};
}

} // namespace

result<forward_protocol> parse_forward_protocol(std::string_view text) {
  if (text == "tcp")
    return forward_protocol::tcp;
  if (text == "udp")
    return forward_protocol::udp;
  return fail(quoted(text) + " is not a protocol that can be forwarded: write tcp or udp");
}

result<ip_address> parse_listen_address(std::string_view text) {
  const auto address = parse_ip_address(text);
  if (!address)
    return fail(quoted(text) + " is not an address to listen on: write one of the host's, such as "
                               "127.0.0.1 (this host only), 0.0.0.0 or :: (all of them)");
  if (is_group(*address))
    return fail(to_string(*address) + " is a group address: write an address of this host");
  if (const auto* six = std::get_if<ipv6_address>(&*address);
      six != nullptr && six->is_link_local())
    return fail(to_string(*address) + " means nothing without a link: write another address of "
                                      "this host, or ::");
  return *address;
}

result<forward_target> parse_forward_target(std::string_view text) {
  if (const auto address = parse_ip_address(text))
    return *address;
  if (const auto mac = mac_address::parse(text)) {
    if (mac->is_group() || mac->integer() == 0)
      return fail(to_string(*mac) + " is not the MAC address of a VM");
    return *mac;
  }
  if (!check_host_name(text) ||
      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return fail(quoted(text) + " is no VM: write its name, its MAC address or its address");
  return std::string{text};
}

result<port_range> parse_ports(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_port(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  if (!first || !last)
    return fail(quoted(text) + " is not a port: write 1 to 65535, or a range such as 8000-8010");
  if (*last < *first)
    return fail("the range " + std::string{text} + " ends before it begins: write " +
                std::to_string(*last) + "-" + std::to_string(*first));
  return port_range{*first, *last};
}

result<std::vector<forward_rule>> expand_forward(const forward_rule& like, port_range listen,
                                                 port_range to) {
  if (listen.size() != to.size())
    return fail(std::to_string(listen.size()) + " port(s) cannot lead to " +
                std::to_string(to.size()) + ": write two ranges of one size");
  if (listen.size() > most_forwards)
    return fail(std::to_string(listen.size()) + " ports are more than the " +
                std::to_string(most_forwards) + " forwards that a network may have");
  std::vector<forward_rule> rules;
  for (std::size_t i = 0; i < listen.size(); ++i) {
    auto& rule = rules.emplace_back(like);
    rule.listen.port = static_cast<std::uint16_t>(listen.first + i);
    rule.to_port = static_cast<std::uint16_t>(to.first + i);
  }
  return rules;
}

result<std::vector<forward_rule>> parse_forward(std::string_view text) {
  constexpr std::string_view arrow = "->";
  const auto middle = text.find(arrow);
  if (middle == std::string_view::npos)
    return fail(quoted(text) + " does not say where to: " + example);
  const auto listen = parse_listening(text.substr(0, middle));
  if (!listen)
    return tl::unexpected{listen.error()};
  const auto to = split(trimmed(text.substr(middle + arrow.size())));
  if (!to)
    return tl::unexpected{to.error()};
  const auto bare = without_brackets(to->host);
  if (!bare)
    return fail("an IPv6 address stands in brackets: [" + std::string{to->host} + "]:22, say");
  const auto target = parse_forward_target(*bare);
  if (!target)
    return tl::unexpected{target.error()};
  return expand_forward({listen->at, *target, 0}, listen->ports, to->ports.value_or(listen->ports));
}

result<forward_listen> parse_forward_listen(std::string_view text) {
  auto listen = parse_listening(text);
  if (!listen)
    return tl::unexpected{std::move(listen.error())};
  if (listen->ports.size() != 1)
    return fail(quoted(text) + " is more than one forward: write a single port");
  listen->at.port = listen->ports.first;
  return listen->at;
}

std::string_view to_string(forward_protocol protocol) {
  return protocol == forward_protocol::tcp ? "tcp" : "udp";
}

std::string to_string(const forward_target& target) {
  if (const auto* name = std::get_if<std::string>(&target))
    return *name;
  if (const auto* mac = std::get_if<mac_address>(&target))
    return to_string(*mac);
  return to_string(std::get<ip_address>(target));
}

std::string to_string(const forward_listen& listen) {
  return std::string{to_string(listen.protocol)} + " " + to_string(listen.address, listen.port);
}

std::string to_string(const forward_rule& rule) {
  const auto* address = std::get_if<ip_address>(&rule.to);
  return to_string(rule.listen) + " -> " +
         (address != nullptr ? to_string(*address, rule.to_port)
                             : to_string(rule.to) + ":" + std::to_string(rule.to_port));
}

result<void> check_forward(const forward_rule& rule, const host_config& host,
                           bool gives_addresses) {
  if (rule.listen.port == 0 || rule.to_port == 0)
    return fail("a forward needs a port from 1 to 65535 on both sides");
  if (host.mode == host_mode::isolated)
    return fail("an isolated network has no way from the host to its VMs: choose another mode, or "
                "remove the forward");
  if (const auto* address = std::get_if<ip_address>(&rule.to)) {
    if (auto right = check_target_address(*address, host); !right)
      return right;
  } else if (!owns_subnet(host.mode)) {
    return fail("the addresses of a bridged network are given by another DHCP server, so that " +
                to_string(rule.to) + " cannot be looked up: write the VM's address");
  } else if (!gives_addresses) {
    return fail("DHCP is off in this network, so that nobody knows which address " +
                to_string(rule.to) + " has: write the VM's address");
  }
  return host.mode == host_mode::user ? check_for_libslirp(rule, host) : result<void>{};
}

bool in_conflict(const forward_listen& a, const forward_listen& b) noexcept {
  return a.protocol == b.protocol && a.port == b.port && is_ipv4(a.address) == is_ipv4(b.address) &&
         (a.address == b.address || is_unspecified(a.address) || is_unspecified(b.address));
}

} // namespace vmswitch
