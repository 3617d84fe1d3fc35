#include "vmnet/tap/rules_watch.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include "vmnet/tap/netlink_events.hpp"

namespace vmswitch {

namespace {

// The first attribute of all that is in a table is the table's name (linux/netfilter/nf_tables.h).
std::string_view table_in(std::span<const std::byte> attributes) {
  nlattr attribute{};
  while (attributes.size() >= NLA_HDRLEN) {
    std::memcpy(&attribute, attributes.data(), sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > attributes.size())
      return {};
    if ((attribute.nla_type & NLA_TYPE_MASK) == NFTA_TABLE_NAME) {
      const std::string_view name{reinterpret_cast<const char*>(attributes.data() + NLA_HDRLEN),
                                  attribute.nla_len - std::size_t{NLA_HDRLEN}};
      return name.substr(0, name.find('\0'));
    }
    attributes =
        attributes.subspan(std::min<std::size_t>(NLA_ALIGN(attribute.nla_len), attributes.size()));
  }
  return {};
}

} // namespace

result<rules_watch> rules_watch::open(std::string table) {
  auto fd = open_netlink_events(NETLINK_NETFILTER, 1U << (NFNLGRP_NFTABLES - 1));
  if (!fd)
    return tl::unexpected{std::move(fd.error())};
  return rules_watch{std::move(*fd), std::move(table)};
}

bool rules_watch::changed() {
  bool found = false;
  const bool complete =
      read_netlink_events(fd_.get(), [&](std::uint16_t, std::span<const std::byte> body) {
        if (body.size() >= sizeof(nfgenmsg))
          found |= table_in(body.subspan(sizeof(nfgenmsg))) == table_;
      });
  return found || !complete;
}

} // namespace vmswitch
