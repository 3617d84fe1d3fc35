#!/usr/bin/env python3
"""System tests: two real guests in every mode that has a host, in namespaces of their own.

    guests.py MODE --bin BUILD/bin [--cache FOLDER]

Exits with 77, and says why, where they cannot run.
"""

import argparse
import contextlib
import hashlib
import ipaddress
import pathlib
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import guest
import namespaces
from host_server import HostServer
from namespaces import Namespace, sh
from processes import Failure, Process, wait_for
from run import GUEST_FILE_BYTES, Run, default_cache, expect, guest_image
from switch import Switch
from tap import make_world, prefix_of
from tap_support import GATEWAY, HOST, SKIPPED, expect_untouched, footprint, start

HOST_FILE_BYTES = 4 << 20
WEB_PORT = 8000
SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "config"
FETCH = (
    "import hashlib, sys, urllib.request as web;"
    " print(hashlib.sha256(web.urlopen(sys.argv[1], timeout=60).read()).hexdigest())"
)

# A port of the host's that leads to each guest, by the name that it tells the DHCP server.
FORWARDED = {"a": 8001, "b": 8002}
FORWARDS = "".join(
    f'[[network.forward]]\nport = {port}\nto = "{name}"\nto_port = 80\n'
    for name, port in FORWARDED.items()
)


def start_with_forwards(run, *options):
    switch = run.keep(Switch.from_file(run.bin, run.folder, "stream", FORWARDS, *options))
    switch.wait_ready()
    return switch


def boot(run, switch, image, macs={"a": "52:54:00:00:00:0a", "b": "52:54:00:00:00:0b"}):
    guests = [
        run.keep(
            guest.Guest(name, image, mac, guest.stream_netdev(switch.socket, None), run.folder)
        )
        for name, mac in macs.items()
    ]
    for one in guests:
        one.file = one.wait_booted()
    run.step("two guests have booted")
    return guests


def get_addresses(run, guests, subnet, gateway, tell_names=True):
    for one in guests:
        address, router = one.command("dhcp", *([one.name] if tell_names else []))
        expect(router, gateway, "the router that DHCP names")
        expect(str(ipaddress.ip_interface(address).network), subnet, "the subnet that DHCP names")
        one.address = address.split("/")[0]
    a, b = guests
    if a.address == b.address:
        raise Failure(f"both guests were given {a.address}")
    run.step(f"addresses by DHCP: {a.address} and {b.address}")


def expect_neighbours(run, guests):
    """Guests reach each other."""
    for one, other in (guests, guests[::-1]):
        one.command("ping", other.address)
        size, checksum = one.command("fetch", f"http://{other.address}/data")
        expect((int(size), checksum), (GUEST_FILE_BYTES, other.file), "what came from a guest")
    run.step("guests reach each other: ping, and TCP both ways")


def expect_names(run, guests, domain="vm.internal"):
    """Each guest knows the other by name, whole and short."""
    for one, other in (guests, guests[::-1]):
        for name in (f"{other.name}.{domain}", other.name):
            expect(one.command("resolve", name), [other.address], f"the address of {name}")
            one.command("ping", name)
        size, checksum = one.command("fetch", f"http://{other.name}/data")
        expect((int(size), checksum), (GUEST_FILE_BYTES, other.file), "what came by name")
    run.step(f"{guests[0].name} and {guests[1].name} know each other by name: DNS, ping, TCP")


def expect_forwarded(run, guests, ports):
    """TCP from the host through forwards that lead to guests by name."""
    for one in guests:
        if one.name in ports:
            expect(fetch(HOST, f"127.0.0.1:{ports[one.name]}"), one.file, "what came by a forward")
    run.step(f"forwards by name: {ports}")


def fetch(place, server):
    """The checksum of a guest's file, as it comes from HOST[:PORT]."""
    return place.run(f'{sys.executable} -c "{FETCH}" http://{server}/data').strip()


def expect_server(run, guests, listen, address):
    """TCP from guests to a server of the host's, with data each way."""
    server = HostServer(HOST_FILE_BYTES, listen)
    run.ended_by.callback(server.close)
    url = f"http://{address}:{server.port}/"
    for one in guests:
        one.command("ping", address)
        size, checksum = one.command("fetch", url)
        expect((int(size), checksum), (HOST_FILE_BYTES, server.checksum), "what the host sent")
        one.command("upload", url)
        expect(server.received_checksum, one.file, "what the host received")
    run.step(f"guests reach the host at {address}: ping, and TCP with data each way")


def expect_reached(run, place, guests):
    """TCP from `place` to a server in each guest, and a ping."""
    for one in guests:
        if not namespaces.pings(place, one.address, 20):
            raise Failure(f"no answer from {one.name} to {place.name}")
        expect(fetch(place, one.address), one.file, "what came from a guest")
    run.step(f"{place.name} reaches the guests: ping and TCP")


def expect_ipv6(run, guests, prefix, gateway):
    for one in guests:
        (one.address6,) = one.command("address6", prefix)
        one.command("ping", gateway)
    guests[0].command("ping", guests[1].address6)
    size, checksum = guests[1].command("fetch", f"http://[{guests[0].address6}]/data")
    expect((int(size), checksum), (GUEST_FILE_BYTES, guests[0].file), "what came by IPv6")
    run.step(f"IPv6: {guests[0].address6} and {guests[1].address6} reach {gateway} and each other")


def serve_files(run, place):
    """A web server in another namespace, with one file; its checksum."""
    folder = run.folder / "www"
    folder.mkdir()
    data = bytes(range(256)) * 4096
    (folder / "file").write_bytes(data)
    command = [sys.executable, "-m", "http.server", WEB_PORT, "--bind", "::", "--directory", folder]
    run.keep(Process(f"www-{place.name}", place.command(command), run.folder))
    wait_for("the web server", lambda: str(WEB_PORT) in place.run("ss -ltn", check=False), 15)
    return str(len(data)), hashlib.sha256(data).hexdigest()


def scenario_user(run, image):
    before = footprint()
    switch = start_with_forwards(run)
    guests = boot(run, switch, image)
    get_addresses(run, guests, "192.168.105.0/24", GATEWAY)
    expect_neighbours(run, guests)
    expect_names(run, guests)
    expect_forwarded(run, guests, FORWARDED)
    expect_server(run, guests, "127.0.0.1", GATEWAY)
    expect_ipv6(run, guests, "fd00::", "fd00::2")
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")


def scenario_host(run, image):
    before = footprint()
    switch = start_with_forwards(run, "--vmnet-mode=host")
    guests = boot(run, switch, image)
    get_addresses(run, guests, "192.168.105.0/24", GATEWAY)
    expect_neighbours(run, guests)
    expect_names(run, guests)
    expect_forwarded(run, guests, FORWARDED)
    expect_server(run, guests, GATEWAY, GATEWAY)
    expect_reached(run, HOST, guests)
    prefix = prefix_of(run)
    expect_ipv6(run, guests, prefix, f"{prefix}::1")
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")


def scenario_shared(run, image):
    world, _ = make_world(run)
    before = footprint()
    switch = start_with_forwards(
        run, "--vmnet-mode=shared", "--vmnet-nat66-prefix=fd12:3456:789a:1::"
    )
    guests = boot(run, switch, image)
    get_addresses(run, guests, "192.168.105.0/24", GATEWAY)
    expect_neighbours(run, guests)
    expect_names(run, guests)
    expect_forwarded(run, guests, FORWARDED)
    expect_server(run, guests, GATEWAY, GATEWAY)
    expect_reached(run, HOST, guests)
    expect_ipv6(run, guests, "fd12:3456:789a:1:", "fd12:3456:789a:1::1")
    served = serve_files(run, world)
    for address in ("10.9.0.1", "[fd09::1]"):
        found = guests[0].command("fetch", f"http://{address}:{WEB_PORT}/file")
        expect(tuple(found), served, f"what came from the world at {address}")
    run.step("the world is reached by IPv4 and IPv6, through the kernel's NAT")
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")


UDHCPD = """\
start 10.7.0.100
end 10.7.0.110
interface o0
max_leases 11
lease_file {folder}/udhcpd.leases
option subnet 255.255.255.0
option router 10.7.0.1
"""


def scenario_bridged(run, image):
    """Guests are on the network of a second namespace, whose DHCP server gives them addresses."""
    outside = Namespace(run, "outside")
    outside.cable("o0", "phys0", ["10.7.0.1/24"])
    sh("ip link add br0 type bridge; ip link set br0 up; ip link set phys0 master br0")
    config = run.folder / "udhcpd.conf"
    config.write_text(UDHCPD.format(folder=run.folder))
    (run.folder / "udhcpd.leases").touch()
    run.keep(
        Process("udhcpd", outside.command(["busybox", "udhcpd", "-f", config]), run.folder)
    )
    before = footprint()
    switch = start(run, "--vmnet-mode=bridged", "--vmnet-interface=br0")
    guests = boot(run, switch, image)
    get_addresses(run, guests, "10.7.0.0/24", "10.7.0.1")
    expect_neighbours(run, guests)
    served = serve_files(run, outside)
    for one in guests:
        one.command("ping", "10.7.0.1")
        found = one.command("fetch", f"http://10.7.0.1:{WEB_PORT}/file")
        expect(tuple(found), served, "what came from outside")
    expect_reached(run, outside, guests)
    switch.stop()
    expect_untouched(before, footprint(), "after SIGTERM")


def scenario_desk(run, image):
    """The sample does what its comments say: names, addresses that are kept, a forward."""
    config = pathlib.Path(shutil.copy(SAMPLES / "desk.toml", run.folder))
    options = ["--config", config, f"--pidfile={run.folder}/pid"]
    switch = run.keep(Switch(run.bin, run.folder, options))
    switch.socket = run.folder / "desk.sock"
    switch.wait_ready()
    guests = boot(run, switch, image, {"web": "52:54:00:00:00:10", "db": "52:54:00:00:00:11"})
    get_addresses(run, guests, "192.168.105.0/24", GATEWAY, tell_names=False)
    expect([one.address for one in guests], ["192.168.105.10", "192.168.105.11"], "the addresses")
    expect_names(run, guests)
    expect_forwarded(run, guests, {"web": 8080})
    switch.stop()


SCENARIOS = {
    name.removeprefix("scenario_"): function
    for name, function in list(globals().items())
    if name.startswith("scenario_")
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where vmswitchd is")
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache())
    chosen = parser.parse_args()
    if why := namespaces.missing():
        print(f"skipped: {why}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        folder = pathlib.Path(name)
        try:
            with contextlib.ExitStack() as cleanup:
                run = Run(chosen.bin.resolve(), chosen.cache, folder, cleanup)
                image = guest_image(run)  # which may need the network
                namespaces.enter()
                SCENARIOS[chosen.scenario](run, image)
        except Failure as failure:
            print(f"FAILED: {failure}")
            for log in sorted(folder.rglob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
