#include "actors/network/network_host.hpp"

#include <random>

#include <spdlog/spdlog.h>

#include "actors/messages.hpp"
#include "vmnet/dns/dns_addresses.hpp"
#include "vmnet/serviced_host.hpp"

namespace vmswitch {

namespace {

std::optional<dns_setup> dns_of(const network_config& config) {
  if (!serves_dns(config.host, config.dns))
    return std::nullopt;
  return dns_setup{.settings = resolve_dns(config.host, config.dhcp, config.dns),
                   .addresses = dns_server_addresses(config.host),
                   .mtu = config.host.mtu,
                   .upstream = {},
                   .seed = std::random_device{}()};
}

std::optional<dhcp_settings> dhcp_of(const network_config& config) {
  if (!serves_dhcp(config.host, config.dhcp))
    return std::nullopt;
  return resolve_dhcp(config.host, config.dhcp);
}

} // namespace

std::unique_ptr<host_interface> make_network_host(const network_config& config,
                                                  std::unique_ptr<host_interface> backend,
                                                  const caf::actor_addr& supervisor) {
  const auto tell_supervisor = [to = supervisor](const service_note& note) {
    if (auto receiver = caf::actor_cast<caf::actor>(to))
      tell(receiver, note);
  };
  backend->on_notes(tell_supervisor);
  host_services services;
  services.dhcp = dhcp_of(config);
  if (services.dhcp)
    services.lease_file = config.dhcp.lease_file;
  services.dns = dns_of(config);
  if (services.dns)
    services.dns_macs = dns_server_macs(config.host);
  if (!services.dhcp && !services.dns)
    return backend;
  return std::make_unique<serviced_host>(std::move(backend), std::move(services), tell_supervisor);
}

std::function<void(host_interface&)> make_service_change(const network_config& config) {
  return [dhcp = dhcp_of(config), dns = dns_of(config)](host_interface& host) {
    auto* services = dynamic_cast<serviced_host*>(&host);
    if (services == nullptr)
      return;
    if (dhcp)
      services->change(*dhcp);
    if (dns)
      services->change(*dns);
  };
}

void log_note(const std::string& network, const service_note& note, complaint_limiter& limiter,
              complaint_limiter::clock::time_point now) {
  using level = service_note::level;
  if (note.severity == level::debug) {
    spdlog::debug("network {}: {}", network, note.text);
    return;
  }
  if (const auto verdict = limiter.judge(note.kind, now); verdict.say)
    spdlog::log(note.severity == level::info ? spdlog::level::info : spdlog::level::warn,
                "network {}: {}{}", network, note.text, suppressed_note(verdict.suppressed));
}

} // namespace vmswitch
