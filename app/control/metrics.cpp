#include "app/control/metrics.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "app/control/prometheus_writer.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace {

// Bounds of the latency histogram that are shown, as exponents of 2 in microseconds.
constexpr std::array<unsigned, 10> shown_buckets{3, 5, 7, 9, 11, 13, 14, 15, 16, 17};

class metrics_maker {
public:
  metrics_maker(const daemon_snapshot& seen, const metrics_facts& facts)
      : seen_{seen}, facts_{facts} {}

  std::string make() {
    process();
    networks();
    traffic();
    latency();
    ports();
    return out_.take();
  }

private:
  template <class Value>
  void per_network(std::string_view name, std::string_view type, std::string_view help,
                   Value value) {
    out_.family(name, type, help);
    for (const auto& network : seen_.networks)
      out_.sample({{"network", network.name}}, std::uint64_t{value(network)});
  }

  // Calls `write(network, port)` for the ports that are shown.
  template <class Write>
  void per_port(std::string_view name, std::string_view type, std::string_view help, Write write) {
    out_.family(name, type, help);
    for (const auto& network : seen_.networks)
      for (const auto& port :
           std::span{network.ports}.first(std::min(network.ports.size(), most_ports_in_metrics)))
        if (port.answered)
          write(network, port);
  }

  void process() {
    out_.family("vmswitch_build_info", "gauge", "The version that runs.");
    out_.sample({{"version", version()}}, std::uint64_t{1});
    out_.family("process_start_time_seconds", "gauge", "When the process started, since 1970.");
    out_.sample({}, facts_.started_seconds);
    out_.family("process_cpu_seconds_total", "counter", "User and system CPU time.");
    out_.sample({}, facts_.process.cpu_seconds);
    out_.family("process_resident_memory_bytes", "gauge", "Resident memory.");
    out_.sample({}, facts_.process.resident_bytes);
    out_.family("process_open_fds", "gauge", "Open file descriptors.");
    out_.sample({}, facts_.process.open_descriptors);
    out_.family("process_max_fds", "gauge", "Most file descriptors that may be open.");
    out_.sample({}, facts_.process.most_descriptors);
    out_.family("vmswitch_control_connections", "gauge", "Clients of the control socket.");
    out_.sample({}, std::uint64_t{facts_.control_connections});
    out_.family("vmswitch_control_displaced_total", "counter",
                "Clients that had to go for others.");
    out_.sample({}, facts_.control_displaced);
    out_.family("vmswitch_control_answers_total", "counter",
                "Answers of the control socket by HTTP status.");
    for (const auto& [code, count] : facts_.control_answers)
      out_.sample({{"code", fmt::to_string(code)}}, count);
  }

  void networks() {
    per_network("vmswitch_network_up", "gauge", "Whether the network is up.",
                [](const auto& network) { return network.phase == network_phase::up ? 1U : 0U; });
    out_.family("vmswitch_host_up", "gauge",
                "Whether the host's side of the network is up; of networks that have one.");
    for (const auto& network : seen_.networks)
      if (network.mode != "isolated")
        out_.sample({{"network", network.name}}, std::uint64_t{network.host_up ? 1U : 0U});
    per_network("vmswitch_host_restarts_total", "counter",
                "Restarts of the host's side after a failure.",
                [](const auto& network) { return network.restarts; });
    per_network("vmswitch_vms", "gauge", "VMs that are connected.", [](const auto& network) {
      return static_cast<std::size_t>(std::ranges::count_if(
          network.ports, [](const port_snapshot& port) { return !port.is_host(); }));
    });
    per_network("vmswitch_vms_limit", "gauge", "VMs that may be connected.",
                [](const auto& network) { return network.port_limit; });
    per_network("vmswitch_vm_connections_total", "counter", "VMs that have connected.",
                [](const auto& network) { return network.connected; });
    per_network("vmswitch_mac_addresses", "gauge", "Learned MAC addresses.",
                [](const auto& network) { return network.mac_count; });
    per_network("vmswitch_mac_addresses_limit", "gauge", "MAC addresses that may be learned.",
                [](const auto& network) { return network.mac_limit; });
    per_network("vmswitch_parts_silent", "gauge",
                "Parts that did not answer in time, and are missing from this text.",
                [](const auto& network) { return network.silent.size(); });
    per_network("vmswitch_ports_omitted", "gauge", "Ports without series of their own.",
                [](const auto& network) {
                  return network.ports.size() -
                         std::min(network.ports.size(), most_ports_in_metrics);
                });
  }

  void traffic() {
    const auto write = [&](std::string_view name, std::string_view help, auto in, auto out) {
      out_.family(name, "counter", help);
      for (const auto& network : seen_.networks) {
        const auto sums = network.totals();
        out_.sample({{"network", network.name}, {"direction", "in"}}, sums.*in);
        out_.sample({{"network", network.name}, {"direction", "out"}}, sums.*out);
      }
    };
    write("vmswitch_frames_total", "Frames from (in) and to (out) VMs and the host.",
          &port_counters::frames_in, &port_counters::frames_out);
    write("vmswitch_bytes_total", "Bytes of those frames, without FCS.", &port_counters::bytes_in,
          &port_counters::bytes_out);
    out_.family("vmswitch_drops_total", "counter", "Frames that were dropped, by reason.");
    for (const auto& network : seen_.networks) {
      const auto sums = network.totals();
      for (std::size_t i = 0; i < drop_reason_count; ++i) {
        const auto reason = static_cast<drop_reason>(i);
        out_.sample({{"network", network.name}, {"reason", to_string(reason)}}, sums.drops[reason]);
      }
    }
  }

  void latency() {
    out_.family("vmswitch_egress_wait_seconds", "histogram",
                "How long frames waited here before their VM had taken them.");
    for (const auto& network : seen_.networks) {
      const auto waited = network.waited();
      std::uint64_t below = 0;
      std::size_t bucket = 0;
      for (const auto shown : shown_buckets) {
        while (bucket <= shown)
          below += waited[bucket++];
        const auto bound = fmt::format("{:g}", static_cast<double>(1U << shown) * 1e-6);
        out_.sample({{"network", network.name}, {"le", bound}}, below, "_bucket");
      }
      out_.sample({{"network", network.name}, {"le", "+Inf"}}, waited.total(), "_bucket");
      out_.sample({{"network", network.name}}, waited.sum_seconds(), "_sum");
      out_.sample({{"network", network.name}}, waited.total(), "_count");
    }
  }

  void ports() {
    const auto both = [&](std::string_view name, std::string_view help, auto in, auto out) {
      per_port(name, "counter", help, [&](const auto& network, const auto& port) {
        const auto& counters = port.counters;
        out_.sample({{"network", network.name}, {"port", port.brief.name}, {"direction", "in"}},
                    counters.*in);
        out_.sample({{"network", network.name}, {"port", port.brief.name}, {"direction", "out"}},
                    counters.*out);
      });
    };
    both("vmswitch_port_frames_total", "Frames from (in) and to (out) one VM or the host.",
         &port_counters::frames_in, &port_counters::frames_out);
    both("vmswitch_port_bytes_total", "Bytes of those frames, without FCS.",
         &port_counters::bytes_in, &port_counters::bytes_out);
    per_port("vmswitch_port_drops_total", "counter",
             "Frames that were dropped on the way from or to it, by reason; those that happened.",
             [&](const auto& network, const auto& port) {
               for (std::size_t i = 0; i < drop_reason_count; ++i)
                 if (const auto reason = static_cast<drop_reason>(i);
                     port.counters.drops[reason] > 0)
                   out_.sample({{"network", network.name},
                                {"port", port.brief.name},
                                {"reason", to_string(reason)}},
                               port.counters.drops[reason]);
             });
    // Not a label of the others: their series would end with every change of a name.
    per_port("vmswitch_port_info", "gauge", "1 for a port that has a name beside its stable one.",
             [&](const auto& network, const auto& port) {
               if (!port.brief.alias.empty())
                 out_.sample({{"network", network.name},
                              {"port", port.brief.name},
                              {"name", port.brief.alias}},
                             std::uint64_t{1});
             });
    per_port(
        "vmswitch_port_queue_frames", "gauge", "Frames that wait to be sent to it.",
        [&](const auto& network, const auto& port) {
          out_.sample({{"network", network.name}, {"port", port.brief.name}}, port.queue.frames);
        });
    per_port("vmswitch_port_queue_oldest_seconds", "gauge", "How long the oldest of them waits.",
             [&](const auto& network, const auto& port) {
               out_.sample({{"network", network.name}, {"port", port.brief.name}},
                           std::chrono::duration<double>(port.queue.oldest).count());
             });
  }

  const daemon_snapshot& seen_;
  const metrics_facts& facts_;
  prometheus_writer out_;
};

} // namespace

std::string metrics_text(const daemon_snapshot& seen, const metrics_facts& facts) {
  return metrics_maker{seen, facts}.make();
}

} // namespace vmswitch
