#include "tests/demo/scenario.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/support/numbered_batch.hpp"
#include "tests/support/vm_client.hpp"

namespace vmswitch::demo {

namespace {

using namespace std::chrono_literals;
using clock = test::frame_socket::clock;
using test::vm_client;
using vms = std::vector<std::unique_ptr<vm_client>>;

constexpr auto patience = 10s; // for addresses, and again for pings
constexpr auto silence = 1s;   // after the last frame, what has not come is lost
constexpr std::size_t frame_size = 1514;
constexpr std::size_t batch_frames = 42; // just under 64 KiB a write, as QEMU's largest
constexpr std::uint32_t sender_id = 1;
constexpr ipv4_subnet isolated_subnet{{0xc0a86900}, 24};

result<test::frame_socket> connect(const options& chosen, const std::string& name) {
  if (!chosen.datagrams)
    return test::frame_socket::stream(chosen.socket);
  // The VMs' own sockets are next to the switch's, where there is room for a path.
  return test::frame_socket::datagram(fmt::format("{}.{}.{}", chosen.socket, ::getpid(), name),
                                      chosen.socket);
}

result<vms> plug_in(const options& chosen) {
  vms all;
  for (const auto* name : {"alpha", "beta", "idle"}) {
    auto connected = connect(chosen, name);
    if (!connected)
      return tl::unexpected{connected.error()};
    const auto mac = mac_address::from_integer(0x5254'00de'0001 + all.size());
    all.push_back(
        std::make_unique<vm_client>(test::simulated_vm{mac, name}, std::move(*connected)));
  }
  return all;
}

std::vector<vm_client*> pointers(const vms& all) {
  std::vector<vm_client*> plain;
  for (const auto& one : all)
    plain.push_back(one.get());
  return plain;
}

result<void> get_addresses(const vms& all, bool by_dhcp) {
  if (!by_dhcp) {
    for (std::uint32_t i = 0; i < all.size(); ++i)
      all[i]->vm().use_address(isolated_subnet.at(11 + i), isolated_subnet, std::nullopt);
    return {};
  }
  for (const auto& one : all)
    if (auto sent = one->send(one->vm().request_address(test::vm_clock())); !sent)
      return sent;
  const auto have_all = [&] {
    return std::ranges::all_of(all,
                               [](const auto& one) { return one->vm().address().has_value(); });
  };
  const auto served = test::serve_until(pointers(all), have_all, clock::now() + patience);
  if (!served)
    return tl::unexpected{served.error()};
  for (const auto& one : all)
    if (!one->vm().address())
      return fail(fmt::format("{} got no address by DHCP within {} s. If the network is isolated, "
                              "nobody gives addresses there: use --no-gateway",
                              one->vm().name(), patience.count()));
  return {};
}

result<void> ping_all(const vms& all, bool gateway) {
  for (const auto& from : all) {
    for (const auto& to : all)
      if (to != from)
        if (auto sent = from->send(from->vm().ping(*to->vm().address(), test::vm_clock())); !sent)
          return sent;
    if (!gateway)
      continue;
    if (!from->vm().router())
      return fail(from->vm().name() + " was told no gateway by DHCP");
    if (auto sent = from->send(from->vm().ping(*from->vm().router(), test::vm_clock())); !sent)
      return sent;
  }
  const auto answered = [&] {
    return std::ranges::all_of(all, [](const auto& one) { return one->vm().all_answered(); });
  };
  const auto served = test::serve_until(pointers(all), answered, clock::now() + patience);
  if (!served)
    return tl::unexpected{served.error()};
  return {};
}

// `from` writes on a thread of its own while the others read on this one.
result<transfer_report> push(vm_client& from, vm_client& to, vm_client& idle,
                             std::chrono::seconds duration) {
  test::numbered_batch source{to.vm().mac(), from.vm().mac(), sender_id, frame_size, batch_frames};
  test::sequence_checker checker{sender_id};
  to.on_frame([&](std::span<const std::byte> bare) {
    if (ethernet_view::unchecked(bare).type() == test::type_numbered)
      checker.on_frame(bare);
  });
  const auto begin = clock::now();
  std::atomic<bool> finished = false;
  result<void> sent;
  std::thread sender{[&] {
    while (sent && clock::now() < begin + duration)
      sent = from.socket().send_wire(source.next(), clock::now() + patience);
    finished = true;
  }};

  auto last_look = begin;
  auto last_progress = begin;
  auto longest_pause = clock::duration::zero();
  std::uint64_t received = 0;
  const auto done = [&] {
    const auto now = clock::now();
    if (checker.received() != received)
      longest_pause = std::max(longest_pause, now - last_look);
    last_look = now;
    if (checker.received() != received) {
      received = checker.received();
      last_progress = now;
    }
    return finished && (received == source.frames() || now > last_progress + silence);
  };
  const std::array readers{&to, &idle};
  const auto served = test::serve_until(readers, done, begin + duration + 2 * patience);
  sender.join();
  to.on_frame({});
  if (!served)
    return tl::unexpected{served.error()};
  if (!sent)
    return fail(from.vm().name() + ": " + sent.error().text, sent.error().code);

  const std::chrono::duration<double> took = last_progress - begin;
  const auto bits = static_cast<double>(received * frame_size * 8);
  return transfer_report{from.vm().name(),
                         to.vm().name(),
                         source.frames(),
                         checker.lost(source.frames()),
                         checker.reordered(),
                         checker.duplicated(),
                         checker.damaged() + checker.foreign(),
                         received > 0 ? bits / took.count() / 1e9 : 0.0,
                         std::chrono::duration_cast<std::chrono::milliseconds>(longest_pause)};
}

vm_report describe(const vm_client& one, const vms& all) {
  const auto& vm = one.vm();
  vm_report seen{vm.name(), to_string(vm.mac()), to_string(*vm.address()), {}};
  for (const auto& other : all)
    if (other.get() != &one)
      seen.pings.push_back({other->vm().name(), vm.round_trip(*other->vm().address()).has_value()});
  if (vm.router())
    seen.pings.push_back({"gateway", vm.round_trip(*vm.router()).has_value()});
  return seen;
}

} // namespace

result<report> run(const options& chosen) {
  const auto all = plug_in(chosen);
  if (!all)
    return tl::unexpected{all.error()};
  if (auto given = get_addresses(*all, chosen.gateway); !given)
    return tl::unexpected{given.error()};
  if (auto pinged = ping_all(*all, chosen.gateway); !pinged)
    return tl::unexpected{pinged.error()};
  auto transfer = push(*all->at(0), *all->at(1), *all->at(2), chosen.push);
  if (!transfer)
    return tl::unexpected{transfer.error()};

  report seen;
  for (const auto& one : *all)
    seen.vms.push_back(describe(*one, *all));
  seen.transfer = *transfer;
  seen.flooded = all->back()->vm().received().for_others;
  return seen;
}

std::vector<std::string> complaints(const report& seen) {
  std::vector<std::string> found;
  for (const auto& vm : seen.vms)
    for (const auto& ping : vm.pings)
      if (!ping.answered)
        found.push_back(fmt::format("{} pinged {} and got no answer", vm.name, ping.target));
  const auto& moved = seen.transfer;
  const auto count = [&](std::uint64_t frames, const char* what) {
    if (frames > 0)
      found.push_back(fmt::format("{} of {} frames from {} to {} were {}", frames, moved.sent,
                                  moved.from, moved.to, what));
  };
  count(moved.lost, "lost");
  if (moved.lost > 0)
    found.push_back(fmt::format("(the receiver itself paused for up to {} ms; a switch gives up on "
                                "one after its egress deadline, 50 ms by default)",
                                moved.longest_pause.count()));
  count(moved.reordered, "out of order");
  count(moved.duplicated, "delivered twice");
  count(moved.damaged, "damaged");
  if (moved.sent == moved.lost)
    found.push_back(fmt::format("nothing came from {} to {}", moved.from, moved.to));
  if (seen.flooded > 0)
    found.push_back(fmt::format("{} frames between others reached the idle VM", seen.flooded));
  return found;
}

} // namespace vmswitch::demo
