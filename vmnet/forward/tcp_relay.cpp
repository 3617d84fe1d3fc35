#include <unordered_set>

#include "vmnet/forward/tcp_connection.hpp"

namespace vmswitch {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds accept_pause{200};

bool is_shortage(const error_code& problem) {
  return problem == asio::error::no_descriptors || problem == asio::error::no_memory ||
         problem == asio::error::no_buffer_space || problem.value() == ENFILE;
}

/// Accepts for one forward. A client that cannot be served is reset at once, so that it need not
/// wait: without an address, at the limits, or when the VM refuses. Only if the process has no
/// descriptor to accept with, clients wait in the kernel's queue.
class tcp_relay final : public relayed_forward, public std::enable_shared_from_this<tcp_relay> {
public:
  tcp_relay(relay_context& context, const forward_rule& rule, owned_fd listening,
            std::shared_ptr<relay_counters> counters)
      : context_{context}, to_port_{rule.to_port}, counters_{std::move(counters)},
        acceptor_{context.io}, pause_{context.io} {
    error_code problem;
    acceptor_.assign(is_ipv4(rule.listen.address) ? tcp::v4() : tcp::v6(), listening.get(),
                     problem);
    if (!problem)
      listening.release();
  }

  void accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](const error_code& problem, tcp::socket client) {
          if (!self->acceptor_.is_open())
            return;
          if (is_shortage(problem))
            return self->accept_later();
          if (!problem)
            self->take(std::move(client));
          self->accept();
        });
  }

  void aim(std::optional<ip_address> address) override { address_ = address; }

  void close() override {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    for (const auto& connection : std::exchange(connections_, {}))
      connection->abort();
  }

private:
  void take(tcp::socket client) {
    if (address_ && connections_.size() < context_.limits.each &&
        context_.open < context_.limits.total) {
      auto made = std::make_shared<tcp_connection>(
          context_, std::move(client), counters_,
          [this, self = shared_from_this()](const std::shared_ptr<tcp_connection>& ended) {
            connections_.erase(ended);
            --context_.open;
            counters_->open.store(connections_.size(), std::memory_order_relaxed);
          });
      if (made->start(endpoint_of<tcp>(*address_, to_port_))) {
        connections_.insert(std::move(made));
        ++context_.open;
        counters_->open.store(connections_.size(), std::memory_order_relaxed);
        relay_counters::add(counters_->accepted, 1);
        return;
      }
    }
    relay_counters::add(counters_->refused, 1);
    reset(client);
  }

  void accept_later() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled && self->acceptor_.is_open())
        self->accept();
    });
  }

  relay_context& context_;
  const std::uint16_t to_port_;
  const std::shared_ptr<relay_counters> counters_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::optional<ip_address> address_;
  std::unordered_set<std::shared_ptr<tcp_connection>> connections_;
};

} // namespace

std::shared_ptr<relayed_forward> make_tcp_relay(relay_context& context, const forward_rule& rule,
                                                owned_fd listening,
                                                std::shared_ptr<relay_counters> counters) {
  auto made = std::make_shared<tcp_relay>(context, rule, std::move(listening), std::move(counters));
  made->accept();
  return made;
}

} // namespace vmswitch
