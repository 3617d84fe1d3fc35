"""What a network with a device leaves behind, and what it does while nothing happens: nothing."""

import os
import pathlib
import socket
import time

from forward import Vm, expect_answer
from namespaces import pings, sh
from processes import Failure, wait_for
from run import expect
from switch import Switch
from tap_dns import Resolver, Upstream
from tap_support import GATEWAY, expect_untouched, footprint, start, vm

IDLE_SECONDS = 10
FEW_SWITCHES = 10
LITTLE_CPU = 0.02
SOON = "net.ipv4.neigh.{}.delay_first_probe_time=1"  # the ARP that follows traffic


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


def scenario_kept_tap(run):
    """A TAP that somebody made outlives a daemon that was killed; the next one tidies it."""
    sh("ip tuntap add dev mine mode tap; ip link set mine mtu 1400")
    sh("ip link set mine up; ip link set mine down")  # which gives it a queue
    before = footprint()
    options = ["--vmnet-mode=host", "--vmnet-interface=mine"]
    start(run, *options).stop()
    expect_untouched(before, footprint(), "after SIGTERM")
    start(run, *options).kill()
    if f"{GATEWAY}/24" not in sh("ip address show dev mine"):
        raise Failure("there is nothing to take back: this test shows nothing")
    # With another gateway: the old one is not to be there beside it.
    other = start(run, *options, "--vmnet-gateway=10.9.0.1")
    if GATEWAY in sh("ip address show dev mine"):
        raise Failure("what a killed daemon left is there beside what is new")
    other.kill()
    start(run, *options).stop()
    expect_untouched(before, footprint(), "after kill -9, restart and SIGTERM")
    run.step("addresses, MTU and settings of someone's TAP are as they were")


ALL_SERVICES = """\
[daemon]
pidfile = "{folder}/pid"
control = "{folder}/control"
[[network]]
mode = "{mode}"
[network.dns]
upstream = ["127.0.0.1"]
[network.dhcp]
lease_file = "{folder}/{mode}.leases"
[[network.forward]]
port = 2001
to = "web"
to_port = 7000
[[network.forward]]
protocol = "udp"
port = 2001
to = "web"
to_port = 7000
[[network.listen]]
path = "{folder}/socket"
[[network.listen]]
type = "dgram"
path = "{folder}/datagrams"
"""


def cost_of(switch):
    """Voluntary context switches, and seconds of CPU time, of all threads so far."""
    switches = ticks = 0
    for task in pathlib.Path(f"/proc/{switch.pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                switches += int(line.split()[1])
        # "17 (a name) S ...": utime and stime are the 14th and 15th word.
        ticks += sum(map(int, (task / "stat").read_text().rpartition(")")[2].split()[11:13]))
    return switches, ticks / os.sysconf("SC_CLK_TCK")


def cost_in(switch, seconds):
    before = cost_of(switch)
    time.sleep(seconds)  # the time that is measured
    return [after - one for one, after in zip(before, cost_of(switch))]


def use_everything(run, switch, number):
    """Each service does its work once: DHCP, DNS, forward, control API; and VMs that are silent."""
    guest = Vm(run, switch, f"vm{number}", number)
    # Kernels are not to speak in the silence.
    guest.place.run("sysctl -q -w net.ipv6.conf.vm0.disable_ipv6=1")
    guest.place.run(f"sysctl -q -w {SOON.format('vm0')}")
    guest.lease("192.168.105.100", "web")
    if not pings(guest.place, GATEWAY):
        raise Failure(f"the network does not work:\n{switch.log()}")
    ask = Resolver(guest.place)
    ask.expect("192.168.105.100", "web.vm.internal")
    ask.expect("192.168.105.100", "web.vm.internal", "+tcp")
    ask.expect("10.1.2.3", "www.example.com")
    expect_answer(2001, guest.name)
    control = [run.bin / "vmswitchctl", "--control", run.folder / "control", "leases"]
    if "192.168.105.100" not in sh(" ".join(map(str, control))):
        raise Failure("the control API does not know the lease")
    return guest


def scenario_idle(run):
    """With all services on, which have had work, and silent VMs, nothing wakes up."""
    Upstream(run, "127.0.0.1")
    for number, mode in enumerate(("user", "host", "shared"), 1):
        config = run.folder / "vmswitch.toml"
        config.write_text(ALL_SERVICES.format(folder=run.folder, mode=mode))
        switch = run.keep(Switch(run.bin, run.folder, ["--config", config]))
        switch.wait_ready()
        silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for one in silent:
            one.connect(str(switch.socket))
        if mode != "user":
            sh(f"sysctl -q -w {SOON.format('vms-default')}")
        use_everything(run, switch, number)
        # libslirp ticks as long as it remembers a connection that was closed.
        wait_for("silence", lambda switch=switch: cost_in(switch, 2)[0] == 0, 60)
        switches, seconds = cost_in(switch, IDLE_SECONDS)
        said = f"{switches} wake-ups, {seconds:.2f} s of CPU time in {IDLE_SECONDS} s of silence"
        if switches > FEW_SWITCHES or seconds > LITTLE_CPU:
            raise Failure(f"mode {mode}: {said}")
        run.step(f"mode {mode}: {said}")
        switch.stop()
