#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vmnet/dns/dns_wire.hpp"
#include "vmnet/dns/resolver_list.hpp"
#include "vmnet/poll_set.hpp"

namespace vmswitch {

struct ares_settings {
  std::optional<std::vector<dns_endpoint>> servers = {}; ///< none: those of `resolv_conf`
  std::string resolv_conf = "/etc/resolv.conf";
  std::chrono::milliseconds patience{1500}; ///< with each server, doubled in each round
  int rounds = 2;
};

/// Asks other DNS servers (c-ares), without blocking.
///
/// Theory of operation. A question goes to the first server by UDP, from there to the next when one
/// does not answer in time, refuses, or fails; an answer that is cut is fetched by TCP. A server
/// that was silent while another answered is asked last for `memory`, so that not every name waits
/// for it. c-ares binds a channel to its servers, so when they change a new channel is made, and
/// the old one lives on until its questions are answered.
///
/// Sockets are in the poll_set of the owner, who hands in what is ready, and calls on_time() when
/// due(). They are closed when nothing is asked, so an idle network holds none, and the next
/// question comes from another port. Answers are taken after each call.
class ares_upstream {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds memory{60};

  /// `polls` must outlive it.
  ares_upstream(ares_settings settings, poll_set& polls);
  ~ares_upstream();
  ares_upstream(const ares_upstream&) = delete;
  ares_upstream& operator=(const ares_upstream&) = delete;

  void ask(std::uint32_t number, const dns_bytes& question, clock::time_point now);
  /// A descriptor that is none of its own is left alone.
  void process(const poll_set::ready& ready);
  void on_time();
  /// When on_time() has something to do; nothing while no question is open.
  std::optional<clock::time_point> due(clock::time_point now) const;
  bool is_idle() const noexcept { return asking_ == 0; }

  struct answer {
    std::uint32_t number = 0;
    std::optional<dns_bytes> message; ///< none: no server has answered
  };
  std::vector<answer> take_answers();

  /// Whom it asks, the first one first. True once after these have changed.
  const std::vector<dns_endpoint>& servers() const noexcept { return servers_; }
  bool take_changed() noexcept { return std::exchange(changed_, false); }

private:
  struct channel;
  struct request;

  void choose_servers(clock::time_point now);
  void open_channel();
  void drop_retired();
  static void on_socket(void* self, int fd, int readable, int writable);
  static void on_reply(void* self, int status, int timeouts, unsigned char* message, int size);

  const ares_settings settings_;
  poll_set& polls_;
  resolver_list host_;
  std::vector<dns_endpoint> servers_;
  std::vector<std::unique_ptr<channel>> channels_; // the last is the current one
  std::vector<answer> answers_;
  std::size_t asking_ = 0;
  std::size_t silent_ = 0; // of the first servers; to be asked last
  std::optional<clock::time_point> reordered_;
  bool changed_ = false;
};

} // namespace vmswitch
