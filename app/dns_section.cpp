#include "app/dns_section.hpp"

#include <utility>

#include <fmt/format.h>

#include "app/setting_values.hpp"

namespace vmswitch {

namespace {

result<std::string> parse_dns_domain(std::string_view text) {
  return check_dns_domain(text).map([&] { return std::string{text}; });
}

result<std::string> parse_any_text(std::string_view text) {
  return std::string{text};
}

std::optional<std::vector<dns_endpoint>> read_upstream(toml_section& section,
                                                       config_report& report) {
  const auto written = section.texts("upstream", most_dns_servers);
  if (!written)
    return {};
  std::vector<dns_endpoint> servers;
  for (const auto& one : *written) {
    if (auto server = dns_endpoint::parse(one.text))
      servers.push_back(std::move(*server));
    else
      report.add(one.place, section.name_of("upstream"),
                 fmt::format("\"{}\" is not the address of a DNS server: write one such as "
                             "\"9.9.9.9\", \"127.0.0.1:5353\" or \"[2620:fe::fe]:53\"",
                             one.text));
  }
  return servers;
}

// Nothing if a part of it is missing or wrong, which has been reported.
std::optional<dns_record> read_record(toml_section& section, const std::string& domain) {
  const auto needed = [&](const char* key, const char* why) {
    if (!section.has(key))
      section.complain(key, why);
  };
  needed("name", "a record needs a name");
  needed("type", "a record needs a type: \"A\", say");
  needed("value", "a record needs a value");
  const auto name = section.parsed("name", parse_any_text);
  const auto type = section.parsed("type", parse_dns_record_type);
  const auto value = section.parsed("value", parse_any_text);
  section.finish();
  if (!name || !type || !value)
    return {};
  dns_record record{*name, *type, *value};
  auto right = true;
  if (auto its_name = dns_record_name(record, domain); !its_name) {
    section.complain("name", std::move(its_name.error().text));
    right = false;
  }
  if (auto data = dns_record_data(record); !data) {
    section.complain("value", std::move(data.error().text));
    right = false;
  }
  return right ? std::optional{std::move(record)} : std::nullopt;
}

} // namespace

dns_config read_dns(toml_section& network, const host_config& host, config_report& report) {
  dns_config dns;
  const auto* table = network.table("dns");
  if (table == nullptr)
    return dns;
  toml_section section{*table, "network.dns", report};
  if (const auto enabled = section.flag("enabled")) {
    dns.enabled = *enabled;
    if (*enabled && !owns_subnet(host.mode))
      section.complain("enabled", "this network has no gateway of ours that could answer: leave it "
                                  "out, or choose another mode");
  }
  dns.domain = section.parsed("domain", parse_dns_domain).value_or(dns.domain);
  dns.upstream = read_upstream(section, report);
  if (const auto size = section.integer("cache_size", 0, dns_config::largest_cache))
    dns.cache_size = static_cast<std::size_t>(*size);
  std::vector<toml_section> places;
  for (const auto* one : section.tables("record", dns_config::most_records)) {
    toml_section place{*one, "network.dns.record", report};
    if (auto record = read_record(place, dns.domain)) {
      dns.records.push_back(std::move(*record));
      places.push_back(std::move(place));
    }
  }
  section.finish();
  // What they may not do together shows when all are known.
  auto checked = check_dns_records(dns);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (!checked[i])
      places[i].complain("value", std::move(checked[i].error().text));
  return dns;
}

} // namespace vmswitch
