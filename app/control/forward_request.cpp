#include "app/control/forward_request.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace vmswitch {

namespace {

using nlohmann::json;

constexpr std::array addition_fields{"network",     "rule", "protocol", "listen_address",
                                     "listen_port", "to",   "to_port"};
constexpr std::array removal_fields{"network", "listen", "protocol", "listen_address",
                                    "listen_port"};

result<void> check_names(const json& object, const auto& known) {
  for (const auto& [name, value] : object.items())
    if (std::ranges::find(known, name) == known.end())
      return fail(fmt::format("there is no field {}; there are: {}", name, fmt::join(known, ", ")));
  return {};
}

// One reads fields until one is wrong; what it says then is the first complaint.
class field_reader {
public:
  explicit field_reader(const json& object) : object_{object} {}

  bool has(const char* name) const { return object_.contains(name); }
  void complain(const char* name, const std::string& what) {
    if (!complaint_)
      complaint_ = fmt::format("{}: {}", name, what);
  }
  std::string text(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end())
      return {};
    if (!found->is_string())
      complain(name, "is to be a text");
    return found->is_string() ? found->get<std::string>() : std::string{};
  }
  // What `parse` makes of a text; `otherwise` where there is none.
  template <class Value>
  Value parsed(const char* name, result<Value> (*parse)(std::string_view), Value otherwise) {
    if (!has(name))
      return otherwise;
    const auto given = text(name);
    auto value = parse(given);
    if (!value)
      complain(name, value.error().text);
    return value.value_or(std::move(otherwise));
  }
  // A number or its text.
  std::uint16_t port(const char* name, std::uint16_t otherwise) {
    const auto found = object_.find(name);
    if (found == object_.end())
      return otherwise;
    const auto given = found->is_string() ? found->get<std::string>() : found->dump();
    const auto ports = parse_ports(given);
    if (ports && ports->size() == 1)
      return ports->first;
    complain(name, fmt::format("\"{}\" is not a port: write one from 1 to 65535", given));
    return 0;
  }
  void demand(const char* name, const char* what) {
    if (!has(name))
      complain(name, what);
  }
  // All that is told beside `whole` would say the same again.
  void forbid_beside(const char* whole, const auto& names) {
    for (const char* each : names)
      if (has(each) && std::string_view{each} != "network" && std::string_view{each} != whole)
        complain(each, fmt::format("{} says all of it: send one or the other", whole));
  }

  template <class Request>
  result<Request> finish(Request request) const {
    if (complaint_)
      return fail(*complaint_);
    return request;
  }

private:
  const json& object_;
  std::optional<std::string> complaint_;
};

forward_listen read_listen(field_reader& from) {
  forward_listen listen;
  listen.protocol = from.parsed("protocol", parse_forward_protocol, listen.protocol);
  listen.address = from.parsed("listen_address", parse_listen_address, listen.address);
  from.demand("listen_port", "which port of this host is it? 1 to 65535");
  listen.port = from.port("listen_port", 0);
  return listen;
}

result<forward_rule> parse_one(std::string_view text) {
  const auto rules = parse_forward(text);
  if (!rules)
    return tl::unexpected{rules.error()};
  if (rules->size() != 1)
    return fail(fmt::format("\"{}\" is {} forwards: write a single port", text, rules->size()));
  return rules->front();
}

} // namespace

result<forward_addition> parse_forward_addition(std::string_view body) {
  const auto object = json::parse(body, nullptr, false);
  if (!object.is_object())
    return fail(R"(send an object, as in {"rule": "tcp 127.0.0.1:2222 -> web:22"})");
  if (auto known = check_names(object, addition_fields); !known)
    return tl::unexpected{known.error()};
  field_reader from{object};
  forward_addition wanted;
  wanted.network = from.text("network");
  if (from.has("rule")) {
    from.forbid_beside("rule", addition_fields);
    wanted.rule = from.parsed("rule", parse_one, {});
    return from.finish(std::move(wanted));
  }
  wanted.rule.listen = read_listen(from);
  from.demand("to", "to which VM does it lead? Its name, its MAC address or its address");
  wanted.rule.to = from.parsed("to", parse_forward_target, {});
  wanted.rule.to_port = from.port("to_port", wanted.rule.listen.port);
  return from.finish(std::move(wanted));
}

result<forward_removal>
parse_forward_removal(const std::map<std::string, std::string, std::less<>>& parameters) {
  const json object = parameters;
  if (auto known = check_names(object, removal_fields); !known)
    return tl::unexpected{known.error()};
  field_reader from{object};
  forward_removal wanted;
  wanted.network = from.text("network");
  if (from.has("listen")) {
    from.forbid_beside("listen", removal_fields);
    wanted.listen = from.parsed("listen", parse_forward_listen, {});
  } else {
    wanted.listen = read_listen(from);
  }
  return from.finish(std::move(wanted));
}

} // namespace vmswitch
