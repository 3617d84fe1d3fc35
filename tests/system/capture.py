#!/usr/bin/env python3
"""System tests of live captures: real guests, and tshark as the one who reads.

    capture.py SCENARIO --bin BUILD/bin [--cache FOLDER]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import guest
from host_server import HostServer
from processes import Failure, Process, Skip, wait_for
from run import GATEWAY, HOST_FILE_BYTES, SKIPPED, Run, default_cache, expect, guest_image
from switch import Switch

READ = "tshark -l -n -r - -T fields -E separator=| -e frame.interface_name".split() + [
    *"-e frame.packet_flags_direction -e _ws.col.Protocol -e eth.src".split()
]


def start_switch(run, *options):
    control = run.folder / "control"
    switch = run.keep(
        Switch.from_command_line(run.bin, run.folder, f"--control={control}", *options)
    )
    switch.control = control
    switch.wait_ready()
    return switch


def ask(run, switch, *words):
    """What vmswitchctl prints."""
    command = [run.bin / "vmswitchctl", "--control", switch.control, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode != 0:
        raise Failure(f"vmswitchctl {' '.join(words)}: {done.stderr}")
    return done.stdout


def captures(run, switch):
    return json.loads(ask(run, switch, "--json", "captures"))["captures"]


def capture(run, switch, name, *options, **streams):
    """A running vmswitchctl capture, as soon as the switch has it."""
    before = len(captures(run, switch))
    made = run.keep(
        Process(
            name,
            [run.bin / "vmswitchctl", "--control", switch.control, "capture", *options],
            run.folder,
            **streams,
        )
    )
    wait_for(f"{name} begins", lambda: len(captures(run, switch)) > before, 10)
    return made


def read_by_tshark(run, switch, name, *options):
    """A capture and the tshark that reads it live; what tshark has said is in its log."""
    source = capture(run, switch, name, *options, stdout=subprocess.PIPE)
    reader = run.keep(Process(f"{name}-tshark", READ, run.folder, stdin=source.stdout))
    source.stdout.close()
    return source, reader


def lines_of(reader):
    return [line.split("|") for line in reader.log().splitlines() if line.count("|") == 3]


def protocols(reader):
    return {line[2] for line in lines_of(reader)}


def finish(capture_process, reader=None):
    """Ctrl-C: the capture ends in order, and so does who reads it. What vmswitchctl says."""
    capture_process.signal(signal.SIGINT)
    expect(capture_process.wait(10), 0, "the exit status of vmswitchctl capture")
    if reader:
        expect(reader.wait(10), 0, "the exit status of tshark")
    return capture_process.log()


def scenario_guest(run):
    """tshark reads a guest's DHCP, ARP, ICMP and TCP while it happens."""
    if not shutil.which("tshark"):
        raise Skip("tshark is missing (apt-get install tshark)")
    image = guest_image(run)
    switch = start_switch(run)
    everything, all_reader = read_by_tshark(run, switch, "all")
    vm = run.keep(
        guest.Guest(
            "a", image, "52:54:00:00:00:0a", guest.stream_netdev(switch.socket, None), run.folder
        )
    )
    vm.wait_booted()
    of_port, port_reader = read_by_tshark(run, switch, "port", "-p", "default.1")
    of_icmp, icmp_reader = read_by_tshark(run, switch, "icmp", "-p", "default.1", "-f", "icmp")
    run.step("three captures run, the guest has booted")

    vm.command("dhcp")
    for reader in (all_reader, port_reader):
        wait_for("tshark sees DHCP", lambda: "DHCP" in protocols(reader), 20)
    vm.command("ping", GATEWAY)
    for reader in (all_reader, port_reader, icmp_reader):
        wait_for("tshark sees ICMP", lambda: "ICMP" in protocols(reader), 20)
    run.step("tshark shows frames while the capture goes on")
    server = HostServer(HOST_FILE_BYTES)
    run.ended_by.callback(server.close)
    vm.command("fetch", f"http://{GATEWAY}:{server.port}/")
    wait_for("tshark sees TCP", lambda: {"ARP", "TCP"} <= protocols(all_reader), 20)

    # 0x1: inbound, from the guest; 0x2: outbound, to it.
    expect({line[0] for line in lines_of(port_reader)}, {"default.1"}, "interfaces of one port")
    expect({line[1] for line in lines_of(port_reader)}, {"0x00000001", "0x00000002"}, "directions")
    expect({line[0] for line in lines_of(all_reader)}, {"default.1", "host"}, "all interfaces")
    expect({line[1] for line in lines_of(all_reader)}, {"0x00000001"}, "direction of all ports")
    for line in lines_of(port_reader):
        from_guest = line[3] == "52:54:00:00:00:0a"
        expect(line[1], "0x00000001" if from_guest else "0x00000002", "direction of a frame")
    for said in (finish(of_icmp, icmp_reader), finish(of_port, port_reader)):
        run.step(said.strip())
    expect(protocols(icmp_reader), {"ICMP"}, "what the filter lets pass")
    missing = {"DHCP", "ARP", "ICMP", "TCP"} - protocols(port_reader)
    expect(missing, set(), "what is missing")

    # The port's end is its capture's.
    until_end, end_reader = read_by_tshark(run, switch, "end", "-p", "default.1")
    vm.kill()
    expect(until_end.wait(10), 0, "the exit status when the VM goes")
    expect(end_reader.wait(10), 0, "the exit status of tshark")
    expect("the port has gone" in until_end.log(), True, "the reason")
    run.step(finish(everything, all_reader).strip())
    expect(captures(run, switch), [], "captures that are left")

    path = run.folder / "file.pcapng"
    done = capture(run, switch, "file", "-w", path, "-d", "1")
    expect(done.wait(10), 0, "the exit status after --duration")
    names = subprocess.run(
        ["capinfos", "-c", "-M", path], capture_output=True, text=True, check=False
    )
    expect(names.returncode, 0, f"capinfos on the file ({names.stderr})")
    switch.stop()


def descriptors(switch):
    return sorted(os.listdir(f"/proc/{switch.pid}/fd"))


def resident_kib(switch):
    status = pathlib.Path(f"/proc/{switch.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def traffic(run, switch, name):
    """Simulated VMs ping, and send for two seconds; it fails if a frame is lost."""
    return run.keep(
        Process(name, [run.bin / "vmswitch-demo", switch.socket], run.folder)
    )


def scenario_killed(run):
    """kill -9 of whoever captures leaves nothing behind."""
    switch = start_switch(run)
    first = traffic(run, switch, "warm-up")
    expect(first.wait(60), 0, "the demo's exit status")
    ask(run, switch, "status")
    before = descriptors(switch)
    resident = resident_kib(switch)
    for number in range(10):
        demo = traffic(run, switch, f"demo{number}") if number % 5 == 0 else None
        clients = [
            capture(run, switch, f"capture{number}-{i}", *options, stdout=subprocess.PIPE)
            for i, options in enumerate(([], ["-f", "arp"], ["-p", "host"]))
        ]
        if demo:
            time.sleep(0.5)
        for client in clients:
            client.kill()
        wait_for("the captures end", lambda: captures(run, switch) == [], 5)
        if demo:
            expect(demo.wait(60), 0, "the demo's exit status")
    # Those of the NAT come and go by themselves; thirty captures had more.
    few = len(before) + 10
    wait_for("the daemon's descriptors", lambda: len(descriptors(switch)) < few, 5)
    grown = resident_kib(switch) - resident
    if grown > 16384:  # of 120 MiB that they had; the first ones bring in libpcap
        raise Failure(f"the daemon has grown by {grown} KiB")
    run.step(f"30 captures killed: no descriptor is left, memory {grown:+} KiB")
    switch.stop()


def scenario_stopped(run):
    """Captures whose readers are stopped cost the VMs no frame, and end with the daemon."""
    switch = start_switch(run)
    stuck = [
        capture(run, switch, f"stuck{i}", *options, stdout=subprocess.PIPE)
        for i, options in enumerate(([], ["-s", "64"], ["-f", "udp or icmp"]))
    ]
    for client in stuck:
        client.signal(signal.SIGSTOP)
    demo = traffic(run, switch, "demo")
    expect(demo.wait(60), 0, "the demo's exit status beside stopped captures")
    print(demo.log())
    lost = {each["id"]: each["lost"] for each in captures(run, switch)}
    run.step(f"frames lost to the captures: {lost}")
    expect(len(lost), 3, "captures that run")
    if not max(lost.values()):
        raise Failure("nothing was lost: the test does not test")
    switch.stop()
    run.step("the daemon ended within 2 s beside them")


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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
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
