"""What a network with a device leaves behind, and what it does while nothing happens: nothing."""

import pathlib
import socket
import time

from namespaces import pings, sh
from processes import Failure, wait_for
from run import expect
from switch import Switch
from tap_support import GATEWAY, expect_untouched, footprint, start, vm

FEW_SWITCHES = 20  # in three seconds; as in tests/integration/daemon_load_test.cpp


def scenario_leftovers(run):
    """Interfaces, tables, routes, settings, files: all go but the leases, however it ends."""
    sh("ip link add up0 type veth peer name up1; ip address add 10.9.0.2/24 dev up0")
    sh("ip link set up0 up; ip link set up1 up; ip route add default via 10.9.0.1")
    home = run.folder / "home"
    home.mkdir()
    config = run.folder / "vmswitch.toml"
    config.write_text(
        f'[daemon]\npidfile = "{home}/pid"\n[[network]]\nmode = "shared"\n'
        f'[network.dhcp]\nlease_file = "{home}/leases"\n'
        f'[[network.listen]]\npath = "{home}/socket"\n'
        f'[[network.listen]]\ntype = "dgram"\npath = "{home}/datagrams"\n'
    )
    before = footprint()

    def start_here(name):
        switch = run.keep(Switch(run.bin, home, ["--config", config]))
        switch.wait_ready()
        guest = vm(run, switch, name, 1)
        guest.run("busybox udhcpc -i vm0 -n -q -s /bin/true")
        guest.run("ip address add 192.168.105.200/24 dev vm0")
        if not pings(guest, GATEWAY):
            raise Failure(f"the network does not work:\n{switch.log()}")
        return switch

    def expect_clean(when):
        expect_untouched(before, footprint(), when)
        left = sorted(path.name for path in home.iterdir() if path.suffix != ".log")
        expect(left, ["leases"], f"files {when}")
        run.step(f"nothing but the leases is left {when}")

    start_here("a").stop()
    expect_clean("after SIGTERM")
    start_here("b").kill()
    start_here("c").stop()
    expect_clean("after kill -9, restart and SIGTERM")


def switches_in(switch, seconds):
    def count():
        total = 0
        for task in pathlib.Path(f"/proc/{switch.pid}/task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if "ctxt_switches" in line:
                    total += int(line.split()[1])
        return total

    before = count()
    time.sleep(seconds)  # the time that is measured
    return count() - before


def scenario_idle(run):
    """With a device, DHCP, router advertisements and silent VMs nothing wakes up."""
    for number, mode in enumerate(("host", "shared"), 1):
        switch = start(run, f"--vmnet-mode={mode}")
        silent = []
        for _ in range(20):
            silent.append(socket.socket(socket.AF_UNIX))
            silent[-1].connect(str(switch.socket))
        guest = vm(run, switch, f"vm{number}", number)
        # Its own kernel is not to speak first: no neighbour discovery.
        guest.run("sysctl -q -w net.ipv6.conf.vm0.disable_ipv6=1")
        guest.run("busybox udhcpc -i vm0 -n -q -s /bin/true")
        guest.run("ip address add 192.168.105.200/24 dev vm0")
        if not pings(guest, GATEWAY):
            raise Failure(f"the network does not work:\n{switch.log()}")
        wait_for("silence", lambda: switches_in(switch, 0.5) == 0, 30)
        switches = switches_in(switch, 3)
        if switches > FEW_SWITCHES:
            raise Failure(f"mode {mode}: {switches} context switches in 3 s of silence")
        run.step(f"mode {mode}: {switches} context switches in 3 s")
        switch.stop()
