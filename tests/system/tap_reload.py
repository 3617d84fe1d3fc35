"""SIGHUP: forwards and DNS change, and a VM that is connected notices nothing."""

import re
import signal
import socket

from forward import Vm, drip, expect_answer, expect_echo, expect_refused, forward
from namespaces import sh
from processes import Failure, Process, wait_for
from run import expect
from switch import Switch
from tap_dns import Resolver, Upstream
from tap_support import GATEWAY

CONFIGURATION = """\
[daemon]
pidfile = "{folder}/pid"
[[network]]
mode = "{mode}"
[[network.listen]]
path = "{folder}/socket"
{forwards}
[network.dns]
upstream = ["{upstream}"]
{records}
"""
RECORD = '[[network.dns.record]]\nname = "{name}"\ntype = "A"\nvalue = "{address}"\n'
KEPT = forward(2001, "web")  # always there


class Daemon:
    """What its file says, and says next."""

    def __init__(self, run, mode):
        self.run = run
        self.now = {"mode": mode, "forwards": KEPT, "upstream": "127.0.0.1", "records": ""}
        self._path = run.folder / "vmswitch.toml"
        self._write()
        self.switch = run.keep(Switch(run.bin, run.folder, ["--config", self._path]))
        self.switch.wait_ready()

    def _write(self):
        self._path.write_text(CONFIGURATION.format(folder=self.run.folder, **self.now))

    def reload(self, changes, **settings):
        """SIGHUP after the file has got these settings; so many changes are to be made."""
        self.now |= settings
        self._write()
        already = len(self.switch.log())
        self.switch.signal(signal.SIGHUP)

        def report():
            end = r"reload: .*(change\(s\) made|in effect|refused).*"
            found = re.search(end, self.switch.log()[already:])
            return found and found[0]

        wait_for("the end of the reload", report, 10)
        if f"{changes} change(s) made" not in report() or "failed" in report():
            raise Failure(f"not {changes} change(s):\n{self.switch.log()[already:]}")
        if "restart" in self.switch.log()[already:]:
            raise Failure(f"the host interface is restarted:\n{self.switch.log()[already:]}")


class Witness:
    """A VM that pings the gateway all the time, and sends to the host through a forward."""

    def __init__(self, run, vm):
        command = vm.place.command(["ping", "-n", "-i", "0.05", "-W", "10", GATEWAY])
        self._ping = run.keep(Process("witness", command, run.folder))
        self._transfer = drip(2001)
        self._read = 0

    def expect_unharmed(self):
        while self._read < 4 << 20:
            piece = self._transfer.recv(1 << 20)
            if not piece:
                raise Failure("a transfer through another forward has ended")
            self._read += len(piece)
        self._read = 0

    def end(self):
        self.expect_unharmed()
        self._transfer.close()
        self._ping.signal(signal.SIGINT)
        self._ping.wait(20)
        # The last one may be under way.
        found = re.search(r"(\d+) packets .*, (\d+) rec", self._ping.log())
        sent, received = int(found[1]), int(found[2])
        if received == 0 or sent - received > 1:
            raise Failure(f"pings were lost:\n{self._ping.log()[-300:]}")
        return received


def change_forwards(run, daemon, witness):
    web, other = KEPT + forward(2002, "web"), KEPT + forward(2002, "other")
    udp = other + forward(2003, "other", "udp")
    expect_refused(2002)
    daemon.reload(1, forwards=web)
    expect_answer(2002, "a")
    daemon.reload(2, forwards=other)
    expect_answer(2002, "b")
    daemon.reload(1, forwards=udp)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(10)
        client.connect(("127.0.0.1", 2003))
        expect_echo(client, "b")
    witness.expect_unharmed()
    daemon.reload(2, forwards=KEPT)
    expect_refused(2002)
    if ":2003" in sh("ss -lun"):
        raise Failure("a UDP forward that was removed is still open")
    expect_answer(2001, "a")
    witness.expect_unharmed()
    run.step("forwards: added, led elsewhere, removed; TCP and UDP")


def change_dns(run, daemon, witness, ask):
    expect(ask.status("db"), "NXDOMAIN", "a record that is not there yet")
    ask.expect('"127.0.0.1"', "who.example.com TXT")
    daemon.reload(1, records=RECORD.format(name="db", address="192.168.105.50"))
    ask.expect("192.168.105.50", "db.vm.internal")
    daemon.reload(1, records=RECORD.format(name="db", address="192.168.105.51"))
    ask.expect("192.168.105.51", "db.vm.internal")
    ask.expect("192.168.105.11", "web.vm.internal")  # a lease, not the file
    ask.expect('"127.0.0.1"', "who.example.com TXT")
    daemon.reload(1, upstream="127.0.0.2")
    ask.expect('"127.0.0.2"', "who.example.com TXT")
    daemon.reload(1, records="")
    expect(ask.status("db"), "NXDOMAIN", "a record that was removed")
    witness.expect_unharmed()
    run.step("DNS: a record added, changed, removed; another server asked; leases kept their names")


def reload(run, mode):
    for address in ("127.0.0.1", "127.0.0.2"):
        Upstream(run, address)
    daemon = Daemon(run, mode)
    vms = [Vm(run, daemon.switch, name, number) for number, name in enumerate("ab", 1)]
    for vm, address, name in zip(vms, ("192.168.105.11", "192.168.105.12"), ("web", "other")):
        vm.lease(address, name)
    expect_answer(2001, "a")
    witness = Witness(run, vms[0])
    change_forwards(run, daemon, witness)
    change_dns(run, daemon, witness, Resolver(vms[0].place))
    run.step(f"the VM noticed nothing: {witness.end()} pings, none lost, and a transfer")
    daemon.switch.stop()


def scenario_reload_user(run):
    reload(run, "user")


def scenario_reload_host(run):
    reload(run, "host")
