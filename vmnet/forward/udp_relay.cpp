#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>

#include "vmnet/forward/flow_table.hpp"
#include "vmnet/forward/relayed_forward.hpp"
#include "vmnet/forward/udp_messages.hpp"

namespace vmswitch {

namespace asio = boost::asio;
using asio::ip::udp;
using boost::system::error_code;

namespace {

using clock = std::chrono::steady_clock;

constexpr int datagrams_in_a_row = 32; // then others have their turn
// At the limit a new flow takes the place of one that has been silent for so long.
constexpr std::chrono::seconds silence_at_limit{60};

/// Datagrams of one forward.
///
/// Theory of operation. A flow is a client, by its address and port, with a socket of its own to
/// the VM, so that the VM's answers tell whom they are for. It lasts until it has been silent in
/// both directions for flow_time, and a VM that is away for a while (its kernel refuses, or nobody
/// is there) does not end it. When the forward is aimed elsewhere, flows end, and clients that go
/// on get new ones. Answers come from the address that the client has sent to. Nothing is buffered:
/// a datagram that cannot be sent at once is lost.
///
/// One timer, while there are flows, for the one that ends next.
class udp_relay final : public relayed_forward, public std::enable_shared_from_this<udp_relay> {
public:
  udp_relay(relay_context& context, const forward_rule& rule, owned_fd listening,
            std::shared_ptr<relay_counters> counters)
      : context_{context}, to_port_{rule.to_port}, counters_{std::move(counters)},
        listening_{context.io}, flows_{context.limits.flow_time}, sweep_{context.io} {
    error_code problem;
    listening_.assign(is_ipv4(rule.listen.address) ? udp::v4() : udp::v6(), listening.get(),
                      problem);
    if (!problem)
      listening.release();
  }

  void await_clients() {
    listening_.async_wait(udp::socket::wait_read,
                          [self = shared_from_this()](const error_code& problem) {
                            if (!problem && self->listening_.is_open())
                              self->from_clients();
                          });
  }

  void aim(std::optional<ip_address> address) override {
    address_ = address;
    end_flows();
  }

  void close() override {
    error_code ignored;
    listening_.close(ignored);
    end_flows();
  }

private:
  struct flow {
    flow(asio::io_context& io, const socket_address& from) : client{from}, vm{io} {}
    socket_address client;
    local_address asked; // where the client sends to
    udp::socket vm;
  };
  using shared_flow = std::shared_ptr<flow>;

  void from_clients() {
    for (int i = 0; i < datagrams_in_a_row; ++i) {
      socket_address client;
      local_address at;
      const auto got = receive_datagram(listening_.native_handle(), context_.scratch, client, at);
      if (got < 0)
        return await_clients();
      const auto one = flow_of(client);
      if (one == nullptr) {
        relay_counters::add(counters_->refused, 1);
        continue;
      }
      one->asked = at;
      error_code ignored; // what a VM has refused before; this one is sent by the next call
      const auto data = asio::buffer(context_.scratch, static_cast<std::size_t>(got));
      if (one->vm.send(data, 0, ignored); ignored == asio::error::connection_refused)
        one->vm.send(data, 0, ignored);
      relay_counters::add(counters_->to_vm, static_cast<std::uint64_t>(got));
    }
    asio::post(context_.io, [self = shared_from_this()] {
      if (self->listening_.is_open())
        self->from_clients();
    });
  }

  shared_flow flow_of(const socket_address& client) {
    const auto now = clock::now();
    if (auto* known = flows_.use(key_of(client), now))
      return *known;
    if (!address_)
      return nullptr;
    if (flows_.size() >= context_.limits.each || context_.open >= context_.limits.total) {
      const auto oldest = flows_.take_silent(silence_at_limit, now);
      if (!oldest)
        return nullptr;
      end(**oldest);
    }
    const auto target = endpoint_of<udp>(*address_, to_port_);
    auto made = std::make_shared<flow>(context_.io, client);
    error_code problem;
    made->vm.open(target.protocol(), problem);
    if (!problem)
      made->vm.non_blocking(true, problem);
    if (!problem)
      made->vm.connect(target, problem);
    if (problem)
      return nullptr;
    ::fcntl(made->vm.native_handle(), F_SETFD, FD_CLOEXEC);
    flows_.add(key_of(client), made, now);
    ++context_.open;
    relay_counters::add(counters_->accepted, 1);
    count();
    await_vm(made);
    if (flows_.size() == 1)
      sweep_later();
    return made;
  }

  void await_vm(const shared_flow& one) {
    one->vm.async_wait(udp::socket::wait_read,
                       [self = shared_from_this(), one](const error_code& problem) {
                         if (!problem && one->vm.is_open())
                           self->from_vm(one);
                       });
  }

  void from_vm(const shared_flow& one) {
    for (int i = 0; i < datagrams_in_a_row; ++i) {
      error_code problem;
      const auto got = one->vm.receive(asio::buffer(context_.scratch), 0, problem);
      if (problem == asio::error::would_block)
        return await_vm(one);
      if (problem)
        continue; // nobody was there for an earlier datagram; it may be different now
      flows_.use(key_of(one->client), clock::now());
      if (send_datagram(listening_.native_handle(), std::span{context_.scratch}.first(got),
                        one->client, one->asked) >= 0)
        relay_counters::add(counters_->from_vm, got);
    }
    asio::post(context_.io, [self = shared_from_this(), one] {
      if (one->vm.is_open())
        self->from_vm(one);
    });
  }

  void sweep_later() {
    const auto next = flows_.next_end();
    if (!next)
      return;
    sweep_.expires_at(*next);
    sweep_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (cancelled)
        return;
      const auto now = clock::now();
      while (const auto silent = self->flows_.take_ended(now))
        self->end(**silent);
      self->sweep_later();
    });
  }

  void end(flow& one) {
    error_code ignored;
    one.vm.close(ignored);
    --context_.open;
    count();
  }

  void end_flows() {
    sweep_.cancel();
    while (const auto one = flows_.take_silent({}, clock::now()))
      end(**one);
  }

  void count() { counters_->open.store(flows_.size(), std::memory_order_relaxed); }

  static udp::endpoint key_of(const socket_address& address) {
    udp::endpoint key;
    std::memcpy(key.data(), address.get(), address.size);
    key.resize(address.size);
    return key;
  }

  relay_context& context_;
  const std::uint16_t to_port_;
  const std::shared_ptr<relay_counters> counters_;
  udp::socket listening_;
  std::optional<ip_address> address_;
  flow_table<udp::endpoint, shared_flow> flows_;
  asio::steady_timer sweep_;
};

} // namespace

std::shared_ptr<relayed_forward> make_udp_relay(relay_context& context, const forward_rule& rule,
                                                owned_fd listening,
                                                std::shared_ptr<relay_counters> counters) {
  auto made = std::make_shared<udp_relay>(context, rule, std::move(listening), std::move(counters));
  made->await_clients();
  return made;
}

} // namespace vmswitch
