#!/usr/bin/env python3
"""System tests of the networks with a network device, in namespaces of their own.

    tap.py SCENARIO --bin BUILD/bin

Exits with 77, and says why, where they cannot run.
"""

import argparse
import contextlib
import os
import pathlib
import pwd
import re
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import namespaces
from namespaces import Namespace, pings, sh, transfer
from processes import Failure, Process, wait_for
from run import Run, expect
from switch import Switch
from tap_dns import scenario_dns_host, scenario_dns_user
from tap_reload import scenario_reload_host, scenario_reload_user
from tap_repair import scenario_repair_host, scenario_repair_shared
from tap_rootless import scenario_helper, scenario_inherited, scenario_unprivileged
from tap_support import (
    GATEWAY,
    HOST,
    SKIPPED,
    expect_untouched,
    footprint,
    start,
    vm,
)
from tap_upkeep import scenario_idle, scenario_kept_tap, scenario_leftovers


def prefix_of(run):
    found = re.search(r"IPv6 (\S+)::/64", (run.folder / "vmswitchd.log").read_text())
    if not found:
        raise Failure("the daemon announces no IPv6 prefix")
    return found[1]


def expect_host_reaches(run, guest, address):
    """Ping and TCP both ways between the daemon's namespace and a VM, IPv4 and IPv6."""
    for place, target in ((guest, GATEWAY), (HOST, address)):
        if not pings(place, target):
            raise Failure(f"no answer to {place.name} from {target}")
    transfer(run, HOST, guest, GATEWAY, 7001)
    transfer(run, guest, HOST, address, 7002)
    run.step("ping and TCP both ways between host and VM")
    prefix = prefix_of(run)
    wait_for(
        "the VM makes an IPv6 address", lambda: prefix in guest.run("ip -6 address show vm0"), 10
    )
    wait_for("an IPv6 ping", lambda: pings(guest, f"{prefix}::1", 1), 15)
    run.step(f"IPv6: the VM has an address in {prefix}::/64, and reaches the host")


def scenario_host(run):
    before = footprint()
    switch = start(run, "--vmnet-mode=host")
    a = vm(run, switch, "a", 1, "192.168.105.11/24")
    b = vm(run, switch, "b", 2, "192.168.105.12/24")
    expect_host_reaches(run, a, "192.168.105.11")
    expect_no_ipv6_spoofing(run, a)
    transfer(run, a, b, "192.168.105.11", 7003)
    command = [run.bin / "vmswitchd", "--vmnet-mode=host", run.folder / "other"]
    refused = run.keep(Process("overlapping", command, run.folder))
    expect(refused.wait(10), 69, "the exit code for a subnet that is in use")
    if "192.168.105.0/24 is in use by vms-default" not in refused.log():
        raise Failure(f"a subnet that is in use is refused with:\n{refused.log()}")
    routes = a.run("ip -6 route show default")
    expect(routes.strip(), "", "the default route that a host-only network announces")
    # A neighbour who takes the host for a router gets nowhere, though the host forwards for others.
    world = Namespace(run, "world")
    world.cable("w0", "eth0", ["10.9.0.1/24"], ["10.9.0.2/24"])
    sh("sysctl -q -w net.ipv4.conf.eth0.forwarding=1")
    world.run("ip route add 192.168.105.0/24 via 10.9.0.2")
    a.run(f"ip route add default via {GATEWAY}")
    for place, target in ((world, "192.168.105.11"), (a, "10.9.0.1")):
        if pings(place, target, 1):
            raise Failure(f"{place.name} reaches {target} through a host-only network")
    run.step("nothing is forwarded in or out")
    # Its addresses elsewhere are not for the network (ARP for its own only).
    a.run("ip route add 10.9.0.2/32 dev vm0")
    if pings(a, "10.9.0.2", 1):
        raise Failure("the host answers ARP for an address of another network")
    a.run("ip route del 10.9.0.2/32 dev vm0")
    sh("ip link set vms-default down")
    sh("ping -c 1 -W 1 192.168.105.11", check=False)
    a.run(f"ping -c 2 -i 0.2 -W 1 {GATEWAY}", check=False)
    sh("ip link set vms-default up")
    if not pings(a, GATEWAY):
        raise Failure("a device that was down for a while does not work any more")
    # The device goes away under the daemon, and comes back.
    sh("ip link delete vms-default")
    wait_for("the host interface is restarted", lambda: pings(a, GATEWAY, 1), 20)
    run.step("the device was deleted, and the daemon made it again")
    sh("ip link delete eth0")
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")


def expect_no_ipv6_spoofing(run, guest):
    """firecracker#762: packets with a source outside of the network are dropped and counted."""

    def dropped():
        rules = sh("nft list table inet vmswitch-vms-default")
        found = re.search(r"ip6 saddr != .* counter packets (\d+) ", rules)
        if not found:
            raise Failure(f"no rule looks at IPv6 sources:\n{rules}")
        return int(found[1])

    gateway = f"{prefix_of(run)}::1"
    expect(dropped(), 0, "packets of others, before there are any")
    guest.run("ip -6 address add fd66::9/128 dev vm0 nodad")
    if " 1 received" in guest.run(f"ping -n -c 1 -W 1 -I fd66::9 {gateway}", check=False):
        raise Failure("the host answers a foreign IPv6 source")
    if dropped() == 0:
        raise Failure("a packet with a foreign IPv6 source is not counted")
    guest.run("ip -6 address del fd66::9/128 dev vm0")
    if not pings(guest, gateway):
        raise Failure("the VM's own IPv6 address is refused")
    run.step("a foreign IPv6 source is dropped and counted")


def make_world(run):
    """The host's way out, and a second network behind the host that is none of ours."""
    world = Namespace(run, "world")
    world.cable("w0", "eth0", ["10.9.0.1/24", "fd09::1/64"], ["10.9.0.2/24", "fd09::2/64"])
    sh("ip route add default via 10.9.0.1")
    sh("ip -6 route add default via fd09::1")
    lan = Namespace(run, "lan")
    lan.cable("l0", "eth1", ["10.8.0.1/24", "fd08::1/64"], ["10.8.0.2/24", "fd08::2/64"])
    lan.run("ip route add default via 10.8.0.2")
    world.run("ip route add 10.8.0.0/24 via 10.9.0.2")
    world.run("ip -6 route add fd08::/64 via fd09::2")
    world.run("ip route add 192.168.105.0/24 via 10.9.0.2")
    return world, lan


def expect_no_leak(run, world, guest):
    for place, target in (
        (world, "10.8.0.1"),
        (world, "fd08::1"),
        (world, "192.168.105.11"),
    ):
        if pings(place, target, 1):
            raise Failure(f"{place.name} reaches {target} through the host")
    # A source that is not the network's own is not forwarded.
    guest.run("ip address add 172.16.0.9/32 dev vm0")
    if "1 received" in guest.run("ping -n -c 1 -W 1 -I 172.16.0.9 10.9.0.1", check=False):
        raise Failure("a foreign source address was forwarded")
    run.step("no other network became reachable, and the VM cannot use a foreign address")


def scenario_shared(run):
    world, _ = make_world(run)
    before = footprint()
    sh("ip route del default; ip -6 route del default")
    switch = start(run, "--vmnet-mode=shared")
    sh("ip route add default via 10.9.0.1; ip -6 route add default via fd09::1")
    a = vm(run, switch, "a", 1, "192.168.105.11/24")
    expect_host_reaches(run, a, "192.168.105.11")
    expect_no_ipv6_spoofing(run, a)
    a.run(f"ip route add default via {GATEWAY}")
    if not pings(a, "10.9.0.1"):
        raise Failure("the VM does not reach the world")
    transfer(run, world, a, "10.9.0.1", 7004)
    wait_for("IPv6 ping of the world", lambda: pings(a, "fd09::1", 1), 15)
    transfer(run, world, a, "fd09::1", 7005)
    run.step("the world answers by IPv4 and IPv6, through the kernel's NAT")
    expect_no_leak(run, world, a)

    def forwarding(device):
        return sh(f"sysctl -n net.ipv4.conf.{device}.forwarding").strip()

    for new, old, router in (("eth1", "eth0", "10.8.0.1"), ("eth0", "eth1", "10.9.0.1")):
        sh(f"ip route replace default via {router}")
        wait_for(f"forwarding on {new}", lambda new=new: forwarding(new) == "1", 5)
        wait_for(f"no forwarding on {old}", lambda old=old: forwarding(old) == "0", 5)
    run.step("forwarding follows the default route from device to device, and back")

    # A second daemon shares the uplink, and goes first: the first one's forwarding stays.
    second = run.folder / "second"
    second.mkdir()
    config = second / "vmswitch.toml"
    config.write_text(
        f'[daemon]\npidfile = "{second}/pid"\n[[network]]\nmode = "shared"\n'
        f'subnet = "192.168.106.0/24"\n[[network.listen]]\npath = "{second}/socket"\n'
    )
    other = run.keep(Switch(run.bin, second, ["--config", config]))
    other.wait_ready()
    if "vms-default-2" not in sh("ip link"):
        raise Failure("the second daemon has no device of its own")
    other.stop()
    if not pings(a, "10.9.0.1"):
        raise Failure("the second daemon took the first one's forwarding with it")
    run.step("a second daemon came and went")

    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")
    run.step("nothing is left after SIGTERM")

    killed = start(run, "--vmnet-mode=shared")
    killed.kill()
    if "vmswitch-vms-default" not in sh("nft list tables"):
        raise Failure("there is nothing to clean up: this test shows nothing")
    again = start(run, "--vmnet-mode=shared")
    if not pings(vm(run, again, "b", 2, "192.168.105.12/24"), GATEWAY):
        raise Failure("after kill -9 and a restart the network does not work")
    again.stop()
    expect_untouched(before, footprint(), "after kill -9, restart and SIGTERM")
    killed = start(run, "--vmnet-mode=shared")
    killed.kill()
    start(run, "--vmnet-mode=host", "--vmnet-interface=tap7").stop()
    expect_untouched(before, footprint(), "after kill -9 and another network")
    run.step("nothing is left after kill -9 and a restart")


def scenario_bridged(run):
    outside = Namespace(run, "outside")
    outside.cable("o0", "phys0", ["10.7.0.1/24", "fd07::1/64"])
    sh("ip link add br0 type bridge")
    sh("ip link set br0 up")
    sh("ip link set phys0 master br0")
    mac = sh("cat /sys/class/net/br0/address")
    before = footprint()
    switch = start(run, "--vmnet-mode=bridged", "--vmnet-interface=br0")
    a = vm(run, switch, "a", 1, "10.7.0.11/24")
    for place, target in ((a, "10.7.0.1"), (outside, "10.7.0.11")):
        if not pings(place, target):
            raise Failure(f"{place.name} does not reach {target} through the bridge")
    transfer(run, outside, a, "10.7.0.1", 7006)
    transfer(run, a, outside, "10.7.0.11", 7007)
    run.step("ping and TCP both ways through the bridge")
    expect(sh("cat /sys/class/net/br0/address"), mac, "the bridge's MAC address")
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")
    start(run, "--vmnet-mode=bridged", "--vmnet-interface=br0").kill()
    start(run, "--vmnet-mode=bridged", "--vmnet-interface=br0").stop()
    expect_untouched(before, footprint(), "after kill -9, restart and SIGTERM")
    run.step("nothing is left")
    refused = Process(
        "refused",
        [run.bin / "vmswitchd", "--vmnet-mode=bridged", "--vmnet-interface=phys0", "unused"],
        run.folder,
    )
    run.keep(refused)
    expect(refused.wait(10), 69, "the exit code for a port of a bridge")
    if 'write interface = "br0"' not in refused.log():
        raise Failure(f"a port of a bridge is refused with:\n{refused.log()}")


def scenario_privileges(run):
    os.chmod(run.folder, 0o755)
    closed = run.folder / "closed"
    closed.mkdir()
    refused = run.keep(
        Process(
            "refused",
            [run.bin / "vmswitchd", "--user=nobody", "--vmnet-mode=shared", closed / "s"],
            run.folder,
        )
    )
    expect(refused.wait(10), 77, "the exit code where the user may not make its socket")
    own = run.folder / "own"
    own.mkdir()
    os.chown(own, pwd.getpwnam("nobody").pw_uid, -1)
    make_world(run)
    before = footprint()
    words = ["--user=nobody", "--group=nogroup", "--vmnet-mode=shared", "--socket-group=tty"]
    switch = run.keep(Switch.from_command_line(run.bin, own, *words))
    switch.wait_ready()
    threads = list(pathlib.Path(f"/proc/{switch.pid}/task").iterdir())
    nobody = pwd.getpwnam("nobody").pw_uid
    for thread in threads:
        lines = (thread / "status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        net_admin = f"{1 << 12:016x}"
        expect(status["Uid"].split(), [str(nobody)] * 4, "the user of every thread")
        for kind in ("CapPrm", "CapEff"):
            expect(status[kind], net_admin, f"{kind} of every thread")
        for kind in ("CapBnd", "CapInh", "CapAmb"):
            expect(int(status[kind], 16), 0, f"{kind} of every thread")
        expect(status["NoNewPrivs"], "1", "no new privileges")
    expect((own / "socket").group(), "tty", "the group of the socket")
    if "kept CAP_NET_ADMIN" not in (own / "vmswitchd.log").read_text():
        raise Failure("the log does not say what was kept")
    run.step(f"all {len(threads)} threads are nobody's, with CAP_NET_ADMIN only")
    # It can still make its device again, and remove all.
    sh("ip link delete vms-default")
    wait_for("the device is back", lambda: "vms-default" in sh("ip link"), 10)
    wait_for("the rules are back", lambda: "masquerade" in sh("nft list ruleset"), 10)
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM, as nobody")
    run.step("device, rules, settings, socket and pidfile are gone")


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
    if why := namespaces.missing():
        print(f"skipped: {why}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        folder = pathlib.Path(name)
        try:
            with contextlib.ExitStack() as cleanup:
                namespaces.enter()
                run = Run(chosen.bin.resolve(), None, folder, cleanup)
                SCENARIOS[chosen.scenario](run)
        except Failure as failure:
            print(f"FAILED: {failure}")
            for log in sorted(folder.rglob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            return 1
    print(f"passed in {time.monotonic() - begin:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
