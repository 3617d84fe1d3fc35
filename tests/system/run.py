#!/usr/bin/env python3
"""System tests: the daemon as users run it, with real guests under QEMU or simulated ones.

    run.py SCENARIO --bin BUILD/bin [--cache FOLDER]

Prints what it does, one line a step; on failure also the logs of all processes.
"""

import argparse
import contextlib
import ipaddress
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import dhcp_clients
import guest
from host_server import HostServer
from processes import Failure, Process, Skip, require_program, wait_for
from switch import Switch

HERE = pathlib.Path(__file__).resolve().parent
SUBNET = ipaddress.ip_network("192.168.105.0/24")
GATEWAY = "192.168.105.1"
GUEST_FILE_BYTES = 4 << 20  # as guest/init makes it
HOST_FILE_BYTES = 8 << 20
SKIPPED = 77  # ctest knows it


class Run:
    """What the scenarios share: where things are, what to end, and a line for every step."""

    def __init__(self, bin_folder, cache, folder, cleanup):
        self.bin = bin_folder
        self.cache = cache
        self.folder = folder
        self.ended_by = cleanup
        self._begin = time.monotonic()

    def step(self, text):
        print(f"[{time.monotonic() - self._begin:6.1f} s] {text}", flush=True)

    def keep(self, process):
        """Has it killed at the end, whatever happens."""
        self.ended_by.callback(process.kill)
        return process


def expect(actual, expected, what):
    if actual != expected:
        raise Failure(f"{what}: {actual}, not {expected}")


def guest_image(run):
    require_program("qemu-system-x86_64", "qemu-system-x86")
    built = subprocess.run(
        [HERE / "build_guest.sh", run.cache], stdout=subprocess.PIPE, text=True, check=False
    )
    if built.returncode != 0:
        raise Failure("the guest image could not be built")
    return pathlib.Path(built.stdout.strip())


def two_guests(run, switch, netdev, launcher=()):
    """Everything that two guests on one network may expect."""
    image = guest_image(run)
    switch.wait_ready()
    run.step("the switch is ready; booting two guests")
    guests = [
        run.keep(
            guest.Guest(
                name,
                image,
                f"52:54:00:00:00:0{name}",
                netdev(switch.socket, run.folder / f"{name}.socket"),
                run.folder,
                launcher,
            )
        )
        for name in ("a", "b")
    ]
    a, b = guests
    files = [one.wait_booted() for one in guests]
    run.step("both have booted")

    addresses = []
    for one in guests:
        address, router = one.command("dhcp")
        expect(router, GATEWAY, "the router that DHCP names")
        expect(ipaddress.ip_interface(address).network, SUBNET, "the subnet that DHCP names")
        addresses.append(address.split("/")[0])
    if addresses[0] == addresses[1]:
        raise Failure(f"both guests were given {addresses[0]}")
    run.step(f"addresses by DHCP: {' and '.join(addresses)}")

    for one, target in ((a, addresses[1]), (b, addresses[0]), (a, GATEWAY), (b, GATEWAY)):
        one.command("ping", target)
    run.step("guests ping each other and the gateway")

    for one, other in ((a, 1), (b, 0)):
        begin = time.monotonic()
        size, checksum = one.command("fetch", f"http://{addresses[other]}/data")
        expect((int(size), checksum), (GUEST_FILE_BYTES, files[other]), "what came from a guest")
        rate = GUEST_FILE_BYTES * 8 / (time.monotonic() - begin) / 1e6
        run.step(f"TCP between guests, to {one.name}: {rate:.0f} Mbit/s (a smoke value)")

    server = HostServer(HOST_FILE_BYTES)
    run.ended_by.callback(server.close)
    host_url = f"http://{GATEWAY}:{server.port}/"
    for one, file in zip(guests, files):
        size, checksum = one.command("fetch", host_url)
        expect((int(size), checksum), (HOST_FILE_BYTES, server.checksum), "what came from the host")
        expect(one.command("upload", host_url), [file], "what the guest says it sent")
        expect(server.received_checksum, file, "what the host received")
    run.step("TCP to and from the host's loopback, through the gateway")

    server.halfway = a.kill
    size, checksum = b.command("fetch", host_url)
    expect((int(size), checksum), (HOST_FILE_BYTES, server.checksum), "what came from the host")
    expect(server.halfway, None, "the kill that is pending")
    b.command("ping", GATEWAY)
    switch.expect_running()
    run.step("a was killed in the middle of a transfer of b, and b went on")

    switch.stop()
    run.step("the switch ended within 2 s of SIGTERM, with a guest still connected")


def scenario_stream(run):
    switch = run.keep(Switch.from_command_line(run.bin, run.folder))
    two_guests(run, switch, guest.stream_netdev)


def scenario_dgram(run):
    switch = run.keep(Switch.from_file(run.bin, run.folder, "dgram"))
    two_guests(run, switch, guest.dgram_netdev)


def scenario_fd3(run):
    switch = run.keep(Switch.from_command_line(run.bin, run.folder))
    two_guests(run, switch, guest.fd3_netdev, [run.bin / "vmswitch-run", switch.socket, "--"])


def demo(run, switch, *options):
    switch.wait_ready()
    command = [run.bin / "vmswitch-demo", *options, switch.socket]
    shown = run.keep(Process("demo", command, run.folder))
    status = shown.wait(60)
    print(shown.log())
    expect(status, 0, "the demo's exit status")
    switch.stop()


def scenario_demo(run):
    demo(run, run.keep(Switch.from_command_line(run.bin, run.folder)))


def scenario_demo_dgram(run):
    demo(run, run.keep(Switch.from_file(run.bin, run.folder, "dgram")), "--dgram")


def scenario_demo_isolated(run):
    switch = run.keep(Switch.from_command_line(run.bin, run.folder, "--vmnet-mode=isolated"))
    demo(run, switch, "--no-gateway")


DHCP_SETTINGS = """
[network.dhcp]
range = ["192.168.105.100", "192.168.105.149"]
lease_time = 20
lease_file = "{folder}/leases"
[[network.reservation]]
mac = "52:54:00:00:01:02"
address = "192.168.105.42"
name = "kept"
"""


def dhcp_switch(run, settings=DHCP_SETTINGS):
    settings = settings.format(folder=run.folder)
    switch = run.keep(
        Switch.from_file(run.bin, run.folder, "stream", settings, "--log-level=debug")
    )
    switch.wait_ready()
    return switch


def scenario_dhcp(run):
    """Real clients get, renew, rebind and release, and get the same address after restarts."""
    dhcp_clients.require_namespaces()
    absent = [one for one in dhcp_clients.ALL if not one.is_there()]
    for one in absent:
        run.step(f"left out: {one.program} is missing (apt-get install {one.package})")
    if len(absent) == len(dhcp_clients.ALL):
        raise Skip("no DHCP client is installed")
    switch = dhcp_switch(run)
    clients = [
        one(run, switch.socket, f"52:54:00:00:01:0{number}")
        for number, one in enumerate(dhcp_clients.ALL, 1)
        if one not in absent
    ]
    first = {}
    for client in clients:
        first[client] = client.start()
        run.step(f"{client.name} has {first[client]}")
        if client.mac.endswith("02"):
            expect(first[client], "192.168.105.42", "the reserved address")
        elif isinstance(client, dhcp_clients.Udhcpc):
            expect(first[client], client.asks_for, "the address that it asked for")
        elif not 100 <= int(first[client].split(".")[3]) <= 149:
            raise Failure(f"{first[client]} is not in the range")
        client.command("busybox", "ping", "-c", "1", "-W", "5", GATEWAY)
        expect(f"{client.mac} has {first[client]}" in switch.log(), True, "a line in the log")
    expect(len(set(first.values())), len(clients), "different addresses")

    for client in clients:
        renewal = f"unicast request from {first[client]}\n"
        wait_for(f"{client.name} renews", lambda: renewal in client.said(), 30)
        line = f"{client.mac} keeps {first[client]}"
        wait_for(f"{client.name} is answered", lambda: line in switch.log(), 5)
        client.lose_unicast()
    run.step("all have renewed")
    for client in clients:
        rebinding = f"broadcast request from {first[client]}\n"
        wait_for(f"{client.name} rebinds", lambda: rebinding in client.said(), 40)
        expect(client.address(), first[client], "the address after rebinding")
    run.step("all have rebound")

    for client in clients:
        client.release()
        line = f"{client.mac} has given back {first[client]}"
        wait_for(f"{client.name} releases", lambda: line in switch.log(), 10)
        client.kill()
    run.step("all have released")

    for end in (switch.stop, None):
        if end:
            end()
        else:
            switch.kill()
        switch = dhcp_switch(run)
        for client in clients:
            expect(client.start(), first[client], f"the address of {client.name}")
            client.kill()
        run.step(f"the same addresses after {'SIGTERM' if end else 'kill -9'} and a restart")
    switch.stop()


def scenario_dhcp_crowd(run):
    """A range of five serves fifty VMs that vanish without a word, and tells clones apart."""
    dhcp_clients.require_namespaces()
    if not dhcp_clients.Udhcpc.is_there():
        raise Skip("busybox is missing (apt-get install busybox)")
    switch = dhcp_switch(
        run, '\n[network.dhcp]\nrange = ["192.168.105.10", "192.168.105.14"]\n'
    )
    client = dhcp_clients.Udhcpc(run, switch.socket, "52:54:00:00:02:00")
    for number in range(50):
        address = client.once(f"52:54:00:00:02:{number:02x}")
        if not 10 <= int(address.split(".")[3]) <= 14:
            raise Failure(f"VM {number} got {address}, which is not in the range")
    run.step("fifty VMs had an address of five")
    clones = {client.once(f"52:54:00:00:03:0{clone}", "ffaabbcc") for clone in (1, 2)}
    expect(len(clones), 2, "addresses of two clones with one client identifier")
    switch.stop()


SCENARIOS = {
    name.removeprefix("scenario_"): function
    for name, function in list(globals().items())
    if name.startswith("scenario_")
}


def default_cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "vmswitch"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where vmswitchd is")
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache())
    chosen = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleaned up
    # Not TMPDIR: a socket's path has to stay short.
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        folder = pathlib.Path(name)
        try:
            with contextlib.ExitStack() as cleanup:
                run = Run(chosen.bin.resolve(), chosen.cache, folder, cleanup)
                SCENARIOS[chosen.scenario](run)
        except Skip as reason:
            print(f"SKIPPED: {reason}")
            return SKIPPED
        except Failure as failure:
            print(f"FAILED: {failure}")
            for log in sorted(folder.glob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
