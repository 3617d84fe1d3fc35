// Out of kernel memory, made by a system call filter on one thread (seccomp(2)).

#include <array>
#include <thread>

#include <cerrno>
#include <cstddef>

#include <doctest/doctest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/transport/wire.hpp"
#include "transport/connect.hpp"
#include "transport/datagram_link.hpp"
#include "transport/stream_link.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// Runs `work` on a thread of its own, where one system call fails with `code`.
template <class Work>
void with_failing_call(unsigned number, unsigned code, Work work) {
  bool filtered = false;
  std::thread{[&] {
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    sock_fprog filter{program.size(), program.data()};
    filtered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    if (filtered)
      work();
  }}.join();
  if (!filtered)
    MESSAGE("no system call filters here: not tested");
}

} // namespace

TEST_SUITE("out of kernel memory") {

  TEST_CASE("ENOBUFS neither closes a stream nor is retried without end "
            "(lima#2480, vmnet-helper#267)") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    stream_link link{owned_fd{ends[0]}};
    const owned_fd peer{ends[1]};
    bytes data = pattern(5000);
    const iovec range{data.data(), data.size()};
    for (const unsigned code : {ENOBUFS, ENOMEM}) {
      CAPTURE(code);
      with_failing_call(SYS_sendmsg, code, [&] {
        CHECK(link.write({&range, 1}).status == io_status::would_block);
      });
    }
    CHECK(link.write({&range, 1}).bytes == 5000); // it still works
    bytes got(6000);
    CHECK(::recv(peer.get(), got.data(), got.size(), 0) == 5000);
  }

  TEST_CASE("ENOBUFS keeps a datagram peer, and a retry is due") {
    const temporary_folder folder;
    auto listening =
        listening_socket::open({.type = listen_type::dgram, .path = folder / "s"}).value();
    auto socket = datagram_socket::create(std::move(listening), 1518).value();
    const auto client = connect_datagram(folder / "s", folder / "c").value();
    datagram_link link{
        socket,
        datagram_target::find(unix_address::from_path(folder / "c").value(), ::getuid()).value()};
    bytes data = wire(pattern(60));
    const iovec range{data.data(), data.size()};
    with_failing_call(SYS_sendmmsg, ENOBUFS, [&] {
      CHECK(link.write({&range, 1}).status == io_status::would_block);
      CHECK(socket->retry().waiting() == 1);
    });
    CHECK(link.write({&range, 1}).bytes == 64);
    CHECK(socket->retry().waiting() == 0);
  }

} // TEST_SUITE
