// How records are written in a configuration.

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include <arpa/inet.h>

#include "vmnet/dns/dns_config.hpp"

namespace vmswitch {

namespace {

constexpr std::array<std::pair<dns_type, const char*>, 7> examples{{
    {dns_type::a, "192.168.105.20"},
    {dns_type::aaaa, "fd00::20"},
    {dns_type::cname, "web.vm.internal"},
    {dns_type::txt, "any text"},
    {dns_type::srv, "0 5 5060 web.vm.internal"},
    {dns_type::mx, "10 mail.vm.internal"},
    {dns_type::ptr, "web.vm.internal"},
}};
constexpr std::size_t longest_text = 4096, longest_string = 255;

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  const auto word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

// `count` numbers of 16 bits and a name, as SRV (RFC 2782) and MX (RFC 1035, 3.3.9) have them.
std::optional<std::string> numbers_and_name(std::string_view value, int count, std::string& text) {
  std::string data;
  for (int i = 0; i < count; ++i) {
    const auto word = next_word(value);
    std::uint16_t number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc{} || end != word.data() + word.size())
      return std::nullopt;
    data += static_cast<char>(number >> 8);
    data += static_cast<char>(number & 0xff);
    text += std::to_string(number) + " ";
  }
  const auto name = dns_name::parse(next_word(value));
  if (!name || !next_word(value).empty())
    return std::nullopt;
  text += to_string(*name);
  return data + name->wire();
}

std::optional<std::string> data_of(dns_type type, std::string_view value, std::string& text) {
  switch (type) {
  case dns_type::a:
    if (const auto address = ipv4_address::parse(value)) {
      text = to_string(*address);
      return address_resource(*address).data;
    }
    return std::nullopt;
  case dns_type::aaaa: {
    ipv6_address address;
    if (::inet_pton(AF_INET6, std::string{value}.c_str(), address.octets.data()) != 1)
      return std::nullopt;
    text = to_string(address);
    return address_resource(address).data;
  }
  case dns_type::txt: {
    if (value.size() > longest_text)
      return std::nullopt;
    text = value;
    std::string data;
    do { // strings of 255 bytes at most (RFC 1035, 3.3)
      const auto part = value.substr(0, longest_string);
      data += static_cast<char>(part.size());
      data += part;
      value.remove_prefix(part.size());
    } while (!value.empty());
    return data;
  }
  case dns_type::srv:
    return numbers_and_name(value, 3, text);
  case dns_type::mx:
    return numbers_and_name(value, 1, text);
  default:
    return numbers_and_name(value, 0, text);
  }
}

const char* example_of(dns_type type) {
  const auto* found = std::ranges::find(examples, type, [](const auto& one) { return one.first; });
  return found == examples.end() ? nullptr : found->second;
}

std::optional<dns_name> reverse_of(std::string_view text) {
  if (const auto address = ipv4_address::parse(text))
    return dns_name::reverse(*address);
  ipv6_address address;
  if (::inet_pton(AF_INET6, std::string{text}.c_str(), address.octets.data()) == 1)
    return dns_name::reverse(address);
  return std::nullopt;
}

// The names that records have. Thousands of records are usual: each is parsed once.
class record_names {
public:
  explicit record_names(const dns_config& dns) {
    for (const auto& record : dns.records)
      if (auto name = dns_record_name(record, dns.domain)) {
        const auto [known, is_new] = known_.try_emplace(std::move(*name), entry{&record});
        known->second.has_several |= !is_new && !(*known->second.first == record);
      }
  }
  bool has(const dns_name& name) const { return known_.contains(name); }
  /// Whether records of that name differ.
  bool has_several(const dns_name& name) const {
    const auto known = known_.find(name);
    return known != known_.end() && known->second.has_several;
  }

private:
  struct entry {
    const dns_record* first;
    bool has_several = false;
  };
  std::unordered_map<dns_name, entry, dns_name_hash> known_;
};

result<void> check_record(const dns_record& record, std::string_view domain_text,
                          const std::optional<dns_name>& domain, const record_names& names) {
  const auto name = dns_record_name(record, domain_text);
  if (!name)
    return tl::unexpected{name.error()};
  const auto data = dns_record_data(record);
  if (!data)
    return tl::unexpected{data.error()};
  if (record.type != dns_type::cname)
    return {};
  if (names.has_several(*name))
    return fail("a CNAME has no other record beside it, and " + to_string(*name) + " has");
  const auto target = dns_name::parse(record.value);
  if (target && domain && !target->is_within(*domain) && !names.has(*target))
    return fail("a CNAME leads to a name of this network or of another record, and " +
                to_string(*target) + " is neither");
  return {};
}

} // namespace

result<dns_type> parse_dns_record_type(std::string_view text) {
  std::string upper{text};
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  std::string all;
  for (const auto& [type, example] : examples) {
    if (to_string(type) == upper)
      return type;
    all += (all.empty() ? "" : ", ") + to_string(type);
  }
  return fail("\"" + std::string{text} +
              "\" is not a type of record that can be written here: " + "use one of " + all);
}

result<dns_name> dns_record_name(const dns_record& record, std::string_view domain) {
  if (record.type == dns_type::ptr)
    if (auto reverse = reverse_of(record.name))
      return *reverse;
  auto name = dns_name::parse(record.name);
  if (name && name->labels() == 1)
    name = dns_name::parse(record.name + "." + std::string{domain});
  if (!name || name->is_root())
    return fail("\"" + record.name + "\" is not a name: write \"db\" for db." +
                std::string{domain} + ", or a whole one such as \"db.example.com\"" +
                (record.type == dns_type::ptr ? ", or an address" : ""));
  return *name;
}

result<dns_resource> dns_record_data(const dns_record& record) {
  std::string text;
  if (auto data = data_of(record.type, record.value, text))
    return dns_resource{record.type, std::move(*data), std::move(text)};
  return fail("\"" + record.value.substr(0, 100) + "\" is not the value of a record of type " +
              to_string(record.type) + ": write one such as \"" + example_of(record.type) + "\"");
}

std::vector<result<void>> check_dns_records(const dns_config& dns) {
  const auto domain = dns_name::parse(dns.domain);
  const record_names names{dns};
  std::vector<result<void>> checked;
  checked.reserve(dns.records.size());
  for (const auto& record : dns.records)
    checked.push_back(check_record(record, dns.domain, domain, names));
  return checked;
}

} // namespace vmswitch
