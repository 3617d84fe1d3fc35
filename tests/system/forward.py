#!/usr/bin/env python3
"""System tests of port forwards: the daemon in a network namespace that plays the host, and others
as VMs, which get their addresses by DHCP.

    forward.py SCENARIO --bin BUILD/bin

Exits with 77, and says why, where they cannot run.
"""

import argparse
import contextlib
import hashlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import namespaces
from namespaces import Namespace
from processes import Failure, Process, wait_for
from run import Run, expect
from switch import Switch

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SERVED = 7000  # the port that VMs serve

CONFIGURATION = """\
[daemon]
pidfile = "{folder}/pid"
[[network]]
mode = "{mode}"
[[network.listen]]
path = "{folder}/socket"
[[network.reservation]]
mac = "52:54:00:00:00:02"
name = "reserved"
"""
HOOK = """\
#!/bin/sh
case "$1" in
bound | renew)
  ip address flush dev vm0
  ip address add "$ip/24" dev vm0
  ip route add default via "$router"
  ;;
esac
"""


def forward(port, to, protocol="tcp", listen="127.0.0.1", to_port=SERVED):
    return (
        f'[[network.forward]]\nprotocol = "{protocol}"\nlisten = "{listen}"\nport = {port}\n'
        f'to = "{to}"\nto_port = {to_port}\n'
    )


class Vm:
    """A namespace in the switch that serves; it has no address before lease()."""

    def __init__(self, run, switch, name, number):
        self.name = name
        self._run = run
        self._hook = run.folder / "hook"
        self._hook.write_text(HOOK)
        self._hook.chmod(0o755)
        self.place = Namespace(run, name)
        self.cable = self.place.plug_in(run, switch.socket, f"52:54:00:00:00:0{number}")
        command = [sys.executable, HERE / "forward_server.py", name, SERVED]
        server = run.keep(Process(f"server-{name}", self.place.command(command), run.folder))
        wait_for(f"{name} serves", lambda: "serving" in server.log(), 10)

    def lease(self, address, host_name):
        self.place.run(
            f"busybox udhcpc -i vm0 -n -q -t 10 -T 1 -s {self._hook} -r {address} "
            f"-x hostname:{host_name}"
        )
        if f"inet {address}/" not in self.place.run("ip -4 address show vm0"):
            raise Failure(f"{self.name} did not get {address}")


def start(run, mode, forwards, *options):
    path = run.folder / "vmswitch.toml"
    path.write_text(CONFIGURATION.format(folder=run.folder, mode=mode) + forwards)
    return run.keep(Switch(run.bin, run.folder, ["--config", path, *options]))


def ask(port, data=b"question", host="127.0.0.1"):
    """The answer, after we have ended our side of the connection."""
    with socket.create_connection((host, port), 10) as peer:
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := peer.recv(65536):
            answer += piece
    return answer.decode()


def expect_answer(port, name, data=b"question", host="127.0.0.1"):
    right = f"{name} {len(data)} {hashlib.sha256(data).hexdigest()}"
    expect(ask(port, data, host), right, f"what comes through port {port}")


def expect_refused(port):
    try:
        answer = ask(port)
    except (ConnectionRefusedError, ConnectionResetError):
        return
    raise Failure(f"port {port} is not refused, but answers {answer!r}")


def expect_echo(client, name):
    client.send(b"ping")
    expect(client.recv(100), f"{name} ping".encode(), "the answer by UDP")


def descriptors(switch):
    return len(os.listdir(f"/proc/{switch.pid}/fd"))


def wake_ups(switch):
    """How often the daemon's threads have slept."""
    count = 0
    for status in pathlib.Path(f"/proc/{switch.pid}/task").glob("*/status"):
        for line in status.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                count += int(line.split()[1])
    return count


def drip(port):
    """A connection in the middle of a transfer to us."""
    peer = socket.create_connection(("127.0.0.1", port), 10)
    peer.sendall(b"drip")
    if len(peer.recv(65536)) == 0:
        raise Failure("a transfer does not begin")
    return peer


def everything(run, mode, more=()):
    """What holds in every mode."""
    rules = (
        forward(2001, "192.168.105.11")
        + forward(2002, "52:54:00:00:00:02")
        + forward(2003, "web")
        + forward(2004, "reserved")
        + forward(2003, "web", "udp")
        + "".join(more)
    )
    switch = start(run, mode, rules)
    switch.wait_ready()
    for port in (2002, 2003, 2004):
        expect_refused(port)
    run.step("forwards listen, and refuse while their VMs have no address")

    a = Vm(run, switch, "a", 1)
    b = Vm(run, switch, "b", 2)
    a.lease("192.168.105.11", "web")
    b.lease("192.168.105.12", "other")
    for port, name in ((2001, "a"), (2002, "b"), (2003, "a"), (2004, "b")):
        expect_answer(port, name)
    run.step("by address, by MAC address, by name and by reserved name, half-closed by the client")
    expect_answer(2003, "a", bytes(range(256)) * (16 << 10))
    run.step("4 MiB, unharmed")

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(5)
        client.connect(("127.0.0.1", 2003))
        for _ in range(20):
            expect_echo(client, "a")
        a.lease("192.168.105.11", "old")
        expect_refused(2003)
        a.lease("192.168.105.11", "web")
        expect_answer(2003, "a")
        expect_echo(client, "a")
        run.step("the name went and came back, and TCP and UDP with it")

    expect_answer(2001, "a")
    before = descriptors(switch)
    for _ in range(1000):
        ask(2001)
    wait_for("all descriptors are closed", lambda: descriptors(switch) <= before, 30)
    run.step(f"1000 connections, and {before} descriptors before and after")

    peer = drip(2002)
    b.cable.kill()
    peer.settimeout(0.5)
    with contextlib.suppress(TimeoutError, ConnectionResetError):
        while peer.recv(1 << 20):
            pass
    switch.expect_running()
    expect_answer(2001, "a")
    peer.close()
    run.step("a VM was killed in the middle of a transfer, and the others go on")
    return switch


def expect_start_to_fail(run, mode, rules, code, *words, command=()):
    path = run.folder / "refused.toml"
    path.write_text(
        CONFIGURATION.format(folder=run.folder / "refused", mode=mode) + rules
    )
    (run.folder / "refused").mkdir(exist_ok=True)
    os.chmod(run.folder, 0o755)
    os.chmod(run.folder / "refused", 0o777)
    daemon = run.keep(
        Process("refused", [*command, run.bin / "vmswitchd", "--config", path], run.folder)
    )
    expect(daemon.wait(10), code, "the exit code")
    for word in words:
        if word not in daemon.log():
            raise Failure(f"the log does not say {word!r}:\n{daemon.log()}")


def scenario_user(run):
    switch = everything(run, "user")
    switch.stop()
    with socket.create_server(("127.0.0.1", 2001)):
        expect_start_to_fail(
            run, "user", forward(2001, "web"), 73, "tcp 127.0.0.1:2001", "Choose another port"
        )
    run.step("a taken port is a clear error")
    nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    expect_start_to_fail(
        run, "user", forward(80, "web"), 77, "ip_unprivileged_port_start=80", command=nobody
    )
    run.step("so is a privileged one")
    own = run.folder / "own"
    own.mkdir()
    os.chown(own, pwd.getpwnam("nobody").pw_uid, -1)
    path = own / "vmswitch.toml"
    path.write_text(CONFIGURATION.format(folder=own, mode="user") + forward(80, "web"))
    switch = run.keep(Switch(run.bin, own, ["--config", path, "--user=nobody"]))
    switch.wait_ready()
    vm = Vm(run, switch, "c", 3)
    vm.lease("192.168.105.13", "web")
    expect_answer(80, "c")
    run.step("a daemon that was started as root and became nobody listens on port 80")
    switch.stop()
    path.write_text(CONFIGURATION.format(folder=own, mode="user"))
    switch = run.keep(Switch(run.bin, own, ["--config", path, "--user=nobody"]))
    switch.wait_ready()
    path.write_text(CONFIGURATION.format(folder=own, mode="user") + forward(80, "web"))
    switch.signal(signal.SIGHUP)
    hint = "one that root starts keeps it if its configuration has such a forward then"
    wait_for("a way to have port 80", lambda: hint in switch.log(), 10)
    run.step("one that gave up what port 80 needs says how to keep it")
    switch.stop()


def scenario_host(run):
    switch = everything(run, "host", [forward(2005, "192.168.105.11", listen="::1")])
    expect_answer(2005, "a", host="::1")
    run.step("IPv6 on this side, IPv4 on the other")
    with socket.create_connection(("127.0.0.1", 2001)) as peer:
        peer.sendall(b"half a question")
        time.sleep(0.5)
        before = wake_ups(switch)
        time.sleep(2)
        woken = wake_ups(switch) - before
        if woken > 12:  # some are the VMs' own, such as ARP for the one that was killed
            raise Failure(f"{woken} wake-ups in 2 s beside a forward with a silent connection")
    switch.stop()
    with socket.create_server(("127.0.0.1", 2001)):
        expect_start_to_fail(run, "host", forward(2001, "web"), 73, "tcp 127.0.0.1:2001")
    run.step("a taken port is a clear error")


SCENARIOS = {
    name.removeprefix("scenario_"): function
    for name, function in list(globals().items())
    if name.startswith("scenario_")
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where vmswitchd is")
    chosen = parser.parse_args()
    why = namespaces.missing() or (not shutil.which("busybox") and "busybox is missing")
    if why:
        print(f"skipped: {why}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        folder = pathlib.Path(name)
        try:
            with contextlib.ExitStack() as cleanup:
                namespaces.enter()
                SCENARIOS[chosen.scenario](Run(chosen.bin.resolve(), None, folder, cleanup))
        except (Failure, OSError) as failure:
            print(f"FAILED: {failure!r}")
            for log in sorted(folder.rglob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
