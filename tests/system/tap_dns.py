"""The network's DNS server, asked by real clients in the namespace of a VM."""

import os
import pathlib
import re
import shutil
import signal
import sys
import time

from namespaces import Namespace, sh
from processes import Failure, Process, wait_for
from run import expect
from switch import Switch
from tap_support import GATEWAY

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = """\
[daemon]
pidfile = "{folder}/pid"
[[network]]
mode = "{mode}"
[[network.reservation]]
mac = "52:54:00:00:00:09"
address = "192.168.105.42"
name = "kept"
[[network.dns.record]]
name = "db"
type = "A"
value = "192.168.105.50"
[[network.dns.record]]
name = "_pg._tcp.vm.internal"
type = "SRV"
value = "0 5 5432 db.vm.internal"
[[network.dns.record]]
name = "vm.internal"
type = "MX"
value = "10 kept.vm.internal"
[[network.listen]]
path = "{folder}/socket"
"""
HOOK = """\
#!/bin/sh
[ "$1" = bound ] || exit 0
ip address replace "$ip/24" dev vm0
echo "$ip $dns $domain" >{folder}/lease
"""
FLOOD = """
import select, socket, struct, sys, time
def wire(name):
    return b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\\0"
peers = []
for _ in range(20):
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    peer.connect((sys.argv[1], 53))
    peers.append(peer)
count = int(sys.argv[2])
open_ = {i: struct.pack(">6H", i, 0x0100, 1, 0, 0, 0) + wire(f"n{i}.many.example.com")
         + struct.pack(">2H", 1, 1) for i in range(count)}
good = 0
for attempt in range(8):
    for i, query in list(open_.items()):
        peers[i % 20].send(query)
    deadline = time.monotonic() + 4
    while open_ and time.monotonic() < deadline:
        ready, _, _ = select.select(peers, [], [], 0.5)
        for peer in ready:
            reply = peer.recv(4096)
            number, flags = struct.unpack_from(">2H", reply)
            if open_.pop(number, None) and flags & 15 == 0:
                good += 1
    print("attempt", attempt, "good", good, "open", len(open_), flush=True)
    if not open_:
        break
print("answered", good)
"""


class Upstream(Process):
    def __init__(self, run, address):
        name = "upstream-" + address.replace(":", "_")
        super().__init__(name, [sys.executable, HERE / "dns_upstream.py", address], run.folder)
        run.keep(self)
        wait_for(f"{name} listens", lambda: "listening" in self.log(), 20)

    def asked(self, name):
        return [line for line in self.log().splitlines() if line.startswith(name + " ")]


class Resolver:
    """Asks with dig, in a VM."""

    def __init__(self, guest):
        self.guest = guest

    def dig(self, *words, server=GATEWAY):
        words = " ".join(words)
        return self.guest.run(f"dig +tries=2 +time=8 @{server} {words}", check=False)

    def short(self, *words, server=GATEWAY):
        return self.dig("+short", *words, server=server).split("\n")[0].strip()

    def status(self, *words):
        found = re.search(r"status: (\w+)", self.dig(*words))
        return found[1] if found else "no answer"

    def expect(self, wanted, *words, server=GATEWAY):
        expect(self.short(*words, server=server), wanted, f"dig {' '.join(words)} @{server}")


def use_resolvers(run, *addresses):
    """What this namespace's /etc/resolv.conf says from now on."""
    path = run.folder / "resolv.conf"
    is_new = not path.exists()
    path.write_text("".join(f"nameserver {one}\n" for one in addresses))
    if is_new:
        sh(f"mount --bind {path} {os.path.realpath('/etc/resolv.conf')}")
    else:
        time.sleep(1.1)  # it is read once a second at most


def get_lease(run, guest, name):
    """Address, DNS server and domain that DHCP gives to a VM with this host name."""
    hook = run.folder / "hook"
    hook.write_text(HOOK.format(folder=run.folder))
    hook.chmod(0o755)
    option = f"-x hostname:{name}"
    guest.run(f"busybox udhcpc -i vm0 -f -n -q -t 10 -T 1 {option} -s {hook}")
    return (run.folder / "lease").read_text().split()


def expect_local_names(run, ask, address, upstreams):
    ask.expect(address, "web.vm.internal")
    ask.expect(address, "web.vm.internal", "+tcp")
    ask.expect("web.vm.internal.", f"-x {address}")
    ask.expect(GATEWAY, "gateway.vm.internal")
    ask.expect("192.168.105.42", "kept.vm.internal")
    ask.expect("192.168.105.50", "DB.VM.Internal")
    ask.expect("0 5 5432 db.vm.internal.", "_pg._tcp.vm.internal SRV")
    ask.expect("10 kept.vm.internal.", "vm.internal MX")
    ask.expect(address, "web")
    for words in ("web.vm.internal AAAA", "web.vm.internal MX", "vm.internal A"):
        expect(ask.status(words), "NOERROR", words)
        ask.expect("", words)
    for words in ("nobody.vm.internal", "nobody.vm.internal AAAA", "-x 192.168.105.99", "nobody"):
        expect(ask.status(words), "NXDOMAIN", words)
        if "SOA" not in ask.dig(words):
            raise Failure(f"the answer to {words} has no SOA record")
    for one in upstreams:
        leaked = [line for line in one.log().splitlines() if "105" in line or "internal" in line]
        expect(leaked, [], "local names that were asked of other servers")
    run.step("local names: A, PTR, SRV, MX; NXDOMAIN and NODATA; none leaked")


def expect_forwarding(run, ask, upstream):
    ask.expect("10.1.2.3", "www.example.com")
    ask.expect("2001:db8::3", "www.example.com AAAA")
    ask.expect("1 2 80 www.example.com.", "_http._tcp.example.com SRV")
    ask.expect("10 mail.example.com.", "example.com MX")
    ask.expect("www.example.com.", "-x 10.1.2.3")
    expect(ask.status("nobody.example.com"), "NXDOMAIN", "a name that is nowhere")
    ask.expect("10.1.2.3", "WWW.example.com", "+tcp")
    expect(len(upstream.asked("www.example.com")), 2, "questions for what was kept")
    whole = ask.dig("big.example.com TXT +bufsize=1232")
    if "retrying in TCP mode" not in whole:
        raise Failure(f"a long answer was not cut:\n{whole}")
    size = int(re.search(r"MSG SIZE\s+rcvd: (\d+)", whole)[1])
    if size < 4096:
        raise Failure(f"the long answer has {size} bytes")
    expect([line.split()[2] for line in upstream.asked("big.example.com")], ["udp", "tcp"], "how")
    run.step(f"other names: A, AAAA, SRV, MX, PTR, NXDOMAIN; {size} bytes over TCP; kept answers")


def expect_recovery(run, ask, first, second):
    first.signal(signal.SIGSTOP)
    begin = time.monotonic()
    expect(ask.status("n1.many.example.com"), "SERVFAIL", "with a dead server")
    ask.expect(GATEWAY, "gateway.vm.internal")
    run.step(f"a dead server: SERVFAIL after {time.monotonic() - begin:.1f} s; local names go on")
    use_resolvers(run, "127.0.0.1", "127.0.0.2")
    ask.expect('"127.0.0.2"', "who.example.com TXT")
    begin = time.monotonic()
    ask.expect('"127.0.0.2"', "who.example.com TXT")
    if time.monotonic() - begin > 1:
        raise Failure("every name waits for the server that is dead")
    run.step("another server is asked in its place, and at once from then on")
    first.signal(signal.SIGCONT)
    use_resolvers(run, "127.0.0.1")
    ask.expect('"127.0.0.1"', "who.example.com TXT")
    use_resolvers(run, "::1")
    ask.expect('"::1"', "who.example.com TXT")
    use_resolvers(run, "127.0.0.1")
    ask.expect('"127.0.0.1"', "who.example.com TXT")
    run.step("it is back; a change of resolv.conf is followed, to a server with IPv6 only as well")


def switches_of(pid):
    total = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        lines = (thread / "status").read_text()
        total += sum(int(n) for n in re.findall(r"voluntary_ctxt_switches:\s+(\d+)", lines))
    return total


def expect_crowd(run, ask, switch, guest):
    command = guest.command([sys.executable, "-c", FLOOD, GATEWAY, "2000"])
    flood = run.keep(Process("flood", command, run.folder))
    expect(flood.wait(60), 0, "the exit status of the flood")
    switch.expect_running()
    if "answered 2000" not in flood.log():
        raise Failure(f"of 2000 queries at once some have no answer:\n{flood.log()}")
    ask.expect(GATEWAY, "gateway.vm.internal")
    run.step(f"2000 queries at once: {flood.log().splitlines()[0]}; all answered in the end")


def expect_idle(run, switch):
    """Nothing wakes up because of DNS. What a VM's kernel says by itself is not ours."""
    time.sleep(3)
    before = switches_of(switch.pid)
    time.sleep(3)
    woken = switches_of(switch.pid) - before
    if woken > 20:
        raise Failure(f"{woken} wake-ups in 3 s without a query")
    run.step(f"idle: {woken} wake-ups in 3 s")


def dns(run, mode):
    for program in ("dig", "busybox"):
        if not shutil.which(program):
            raise Failure(f"{program} is missing (apt-get install bind9-dnsutils busybox)")
    upstreams = [Upstream(run, address) for address in ("127.0.0.1", "127.0.0.2", "::1")]
    use_resolvers(run, "127.0.0.1")
    config = run.folder / "vmswitch.toml"
    config.write_text(SETTINGS.format(folder=run.folder, mode=mode))
    switch = run.keep(Switch(run.bin, run.folder, ["--config", config]))
    switch.wait_ready()
    guest = Namespace(run, "a")
    guest.plug_in(run, switch.socket, "52:54:00:00:00:01")
    address, server, domain = get_lease(run, guest, "web")
    expect((server, domain), (GATEWAY, "vm.internal"), "DNS server and domain by DHCP")
    run.step(f"web has {address}, and is told {server} and {domain}")
    ask = Resolver(guest)
    expect_local_names(run, ask, address, upstreams)
    expect_forwarding(run, ask, upstreams[0])
    expect_ipv6(run, ask, guest, mode)
    expect_recovery(run, ask, *upstreams[:2])
    expect_crowd(run, ask, switch, guest)
    expect_idle(run, switch)
    upstreams[0].signal(signal.SIGSTOP)
    guest.run(f"dig +time=1 +tries=1 @{GATEWAY} never.example.com", check=False)
    switch.stop()
    run.step("stopped with a query under way")


def expect_ipv6(run, ask, guest, mode):
    wait_for(
        "the VM has an IPv6 address",
        lambda: "scope global" in guest.run("ip -6 address show vm0 -tentative"),
        20,
    )
    if mode == "user":
        servers = ("fd00::2", "fd00::3")
    else:
        log = (run.folder / "vmswitchd.log").read_text()
        servers = (re.search(r"IPv6 (\S+)::/64", log)[1] + "::1",)
    for server in servers:
        ask.expect(GATEWAY, "gateway.vm.internal", server=server)
        ask.expect(GATEWAY, "gateway.vm.internal", "+tcp", server=server)
        whole = ask.dig("big.example.com TXT +tcp +short", server=server)
        expect(whole.count("x"), 4096, "bytes of text by TCP over IPv6")
    run.step(f"the same over IPv6, from {' and '.join(servers)}")


def scenario_dns_user(run):
    dns(run, "user")


def scenario_dns_host(run):
    dns(run, "host")
