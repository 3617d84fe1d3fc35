#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "vmnet/dhcp/dhcp_server.hpp"
#include "vmnet/dns/dns_service.hpp"
#include "vmnet/host_interface.hpp"
#include "vmnet/poll_set.hpp"
#include "vmnet/service_note.hpp"

namespace vmswitch {

/// For tests that let hours pass; the steady one only ever grows.
struct service_clocks {
  std::chrono::steady_clock::time_point (*steady)() = std::chrono::steady_clock::now;
  std::chrono::system_clock::time_point (*calendar)() = std::chrono::system_clock::now;
};

/// Which services a network has.
struct host_services {
  std::optional<dhcp_settings> dhcp;
  std::optional<std::string> lease_file; ///< of DHCP
  std::optional<dns_setup> dns;
  std::vector<mac_address> dns_macs; ///< that queries go to, besides the gateway's
};

/// A host interface with the network's services in front of it: DHCP and DNS.
///
/// Theory of operation. It stands between the host actor and a backend, and takes out of the VMs'
/// frames those that are for a service; the service's answers go where the backend's frames go. So
/// services work with every backend, see VMs only, and touch no port of the host. A burst without
/// such a frame is handed on as it is; from one that has some the others are handed on, without a
/// copy. ARP packets are looked at as well, because they tell which addresses are in use.
///
/// DNS is a conversation with other servers as well, whose sockets are in a poll_set beside the
/// backend's descriptor; it is made at start() and ends with stop(). While nobody asks anything
/// there are no such sockets, and only the backend works.
///
/// Leases outlive stop() and start() in memory, and the process in a file if one is named. The file
/// is read once, at the first start, and written at once when something changes, but then not for
/// `file_interval`; what changes meanwhile is written at the end of that time, or at stop(). While
/// nothing changes no timer is set. With neither file nor DNS, fd() is the backend's.
///
/// What goes wrong with the file is told, and nothing else: a network without memory is better than
/// none. A file that was not written here is not replaced, until it has been moved away.
class serviced_host final : public host_interface {
public:
  static constexpr std::chrono::seconds file_interval{1};

  /// `tell` is called on the host's queue, from any of the other functions.
  serviced_host(std::unique_ptr<host_interface> backend, host_services services,
                std::function<void(const service_note&)> tell, service_clocks time = {});
  ~serviced_host() override;

  result<void> start(frame_sink& out) override;
  void stop() noexcept override;
  int fd() const noexcept override;
  result<bool> process() override;
  frame_tally write(const burst& frames) override;
  mac_address address() const noexcept override { return backend_->address(); }
  service_report services() const override;
  std::vector<dns_entry> names() override;
  void inherit(const host_interface& before) override;
  std::string describe() const override;

  forward_carrier* forwards() noexcept override { return backend_->forwards(); }
  /// Null without DHCP.
  const lease_table* leases() const noexcept override { return dhcp_ ? &dhcp_->leases() : nullptr; }
  void on_leases(const std::function<void(const dhcp_event*)>& changed) override {
    leases_changed_ = changed;
  }

  /// Other settings from now on, of a service that is there; leases stay where they may, what DNS
  /// has been asked meanwhile is asked again.
  void change(dhcp_settings settings);
  void change(dns_setup setup);

  /// Null without DHCP.
  const dhcp_server* dhcp() const noexcept { return dhcp_ ? &*dhcp_ : nullptr; }
  /// Null without DNS, and while stopped.
  dns_service* dns() noexcept { return dns_ ? &*dns_ : nullptr; }

private:
  bool is_for_services(std::span<const std::byte> frame) const noexcept {
    return (dhcp_ && dhcp_->is_for_server(frame)) || (dns_ && dns_->is_for_service(frame));
  }
  bool look_at(std::span<const std::byte> frame);
  frame_tally write_without_services(const burst& frames);
  void serve(std::span<const std::byte> frame);
  void start_dns();
  bool serve_events();
  void rearm();
  void report(const dhcp_event& event);
  void load();
  void save_if_changed();
  void save();

  const std::unique_ptr<host_interface> backend_;
  host_services services_;
  std::optional<dhcp_server> dhcp_;
  const std::function<void(const service_note&)> tell_;
  const service_clocks time_;
  std::function<void(const dhcp_event*)> leases_changed_ = [](const dhcp_event*) {};
  frame_sink* out_ = nullptr;     // between start and stop
  std::optional<poll_set> polls_; // the backend's descriptor, DNS's sockets, the timer; if needed
  std::optional<dns_service> dns_;
  std::optional<std::chrono::steady_clock::time_point> armed_;    // the timer
  std::optional<std::chrono::steady_clock::time_point> save_due_; // at the latest
  bool is_loaded_ = false;
  bool file_failed_ = false;
  bool is_foreign_ = false; // the file, at the start: it is not replaced
  std::uint64_t saved_version_ = 0;
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::time_point::min();
};

} // namespace vmswitch
