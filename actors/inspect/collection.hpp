#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/inspect/reports.hpp"
#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

/// Puts one picture together out of the answers of many parts.
///
/// Theory of operation. Each network says which of its parts it has asked; these answer by
/// themselves, some before their network does. The picture is complete when all have answered or
/// ended. What is still missing when it is taken is named in it. Answers to another question, and
/// second ones, are left out. Counters are neither lost nor counted twice when a port ends
/// meanwhile: its network's word about it (port_gone) comes after the network's own answer, and
/// replaces what the port itself has said. Pure.
class collection {
public:
  collection(std::uint64_t ticket, inspection_scope scope, std::vector<std::string> networks);

  void add(const network_report& report);
  void add(const counters_report& report);
  void add(const switch_report& report);
  void add(const port_gone& report);

  bool complete() const noexcept;
  std::uint64_t ticket() const noexcept { return ticket_; }
  /// The picture, complete or not. Leaves nothing behind.
  daemon_snapshot take();

private:
  struct network {
    std::optional<network_report> base;
    std::optional<switch_report> of_switch;
    std::unordered_map<std::uint32_t, counters_report> ports; // by slot
    std::unordered_map<std::uint32_t, counters_report> listeners;
    std::unordered_set<std::uint64_t> arrived; // parts that answered before their network did
    std::unordered_set<std::uint64_t> awaited;
  };

  network* of(const inquiry& about);
  void came(network& to, std::uint64_t part);
  static network_snapshot assemble(network& from);

  const std::uint64_t ticket_;
  const inspection_scope scope_;
  const std::vector<std::string> names_;
  std::vector<network> networks_;
  std::size_t missing_; // networks without an answer, and awaited parts
};

} // namespace vmswitch
