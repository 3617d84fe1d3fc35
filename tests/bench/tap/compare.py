#!/usr/bin/env python3
"""iperf3 between the host and a VM (a namespace) through a TAP of the daemon's, beside models.

    compare.py --bin BUILD/bin [--seconds S] [--rounds N] [--mtu M]

Models: `relay` copies frames between two TAPs, the limit of all that moves single frames; `wire` is
two processes with a stream socket between them, each with a TAP: a VM and the least that a host's
side can be. `forward` and `user` go through a port forward of a host and of a user network. They
take turns. Where other work wants the cores too, put `chrt -r 1` before it: else the wait for a
core is what is measured. Runs in namespaces of its own; exits with 77 where that cannot be.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "system"))

import namespaces
from namespaces import Namespace, sh
from processes import Failure, Process, wait_for
from run import Run
from switch import Switch

GATEWAY, GUEST = "192.168.105.1", "192.168.105.11"
FORWARDED = 5999


class Lab:
    def __init__(self, run, mtu):
        self.run, self.mtu = run, mtu
        self.model = run.bin / "vmswitch-tap-model"
        self.vm = Namespace(run, "vm")
        self.count = 0

    def start(self, name, command, place=None):
        self.count += 1
        words = place.command(command) if place else command
        return self.run.keep(Process(f"{name}-{self.count}", words, self.run.folder))

    def set_up(self, process, run, device, address):
        wait_for(
            device,
            lambda: "mtu" in run(f"ip link show {device}", False) or not process.running(),
            10,
        )
        run(f"ip link set {device} mtu {self.mtu}")
        run(f"ip address add {address}/24 dev {device}")
        run(f"ip link set {device} up")

    def path(self):
        self.count += 1
        return self.run.folder / f"wire{self.count}"

    def relay(self):
        relay = self.start("relay", [self.model, "relay", "tap0", f"vm0@{self.vm.pid}"])
        self.set_up(relay, sh, "tap0", GATEWAY)
        self.set_up(relay, self.vm.run, "vm0", GUEST)
        return [relay]

    def wire(self):
        path = self.path()
        host = self.start("wire", [self.model, "listen", "tap0", path])
        wait_for("the wire", path.exists, 10)
        vm = self.start("vm", [self.model, "vm", "vm0", path], self.vm)
        self.set_up(host, sh, "tap0", GATEWAY)
        self.set_up(vm, self.vm.run, "vm0", GUEST)
        return [vm, host]

    def vmswitch(self, mode="host", more=""):
        config = self.run.folder / "bench.toml"
        config.write_text(
            f'[daemon]\npidfile = "{self.run.folder}/pid"\n[[network]]\nmode = "{mode}"\n'
            f'mtu = {self.mtu}\n[[network.listen]]\npath = "{self.run.folder}/socket"\n{more}'
        )
        switch = self.run.keep(Switch(self.run.bin, self.run.folder, ["--config", config]))
        switch.wait_ready()
        vm = self.start("vm", [self.model, "vm", "vm0", switch.socket], self.vm)
        self.set_up(vm, self.vm.run, "vm0", GUEST)
        return [vm, switch]

    def forward(self, mode="host"):
        return self.vmswitch(
            mode,
            f'[[network.forward]]\nport = {FORWARDED}\nto = "{GUEST}"\nto_port = 5201\n',
        )

    def user(self):
        return self.forward("user")

    def measure(self, subject, seconds, reverse):
        server = self.start("iperf3-server", ["iperf3", "-s", "-1", "-B", GUEST], self.vm)
        wait_for("iperf3", lambda: "5201" in self.vm.run("ss -ltn"), 10)
        options = "-R" if reverse else ""
        target = f"127.0.0.1 -p {FORWARDED}" if subject in ("forward", "user") else GUEST
        text = sh(f"iperf3 -J -c {target} -t {seconds} {options}")
        server.kill()
        return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--only", action="append", help="relay, wire, vmswitch, forward, user")
    chosen = parser.parse_args()
    why = namespaces.missing() or (None if sh("command -v iperf3", False) else "no iperf3")
    if why:
        print(f"skipped: {why}")
        return 77
    subjects = chosen.only or ["relay", "wire", "vmswitch"]
    figures = {}
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        try:
            with contextlib.ExitStack() as cleanup:
                namespaces.enter()
                run = Run(chosen.bin.resolve(), None, pathlib.Path(name), cleanup)
                lab = Lab(run, chosen.mtu)
                for _ in range(chosen.rounds):
                    for subject in subjects:
                        processes = getattr(lab, subject)()
                        for direction in ("to VM", "to host"):
                            rate = lab.measure(subject, chosen.seconds, direction == "to host")
                            figures.setdefault((subject, direction), []).append(rate)
                        for process in processes:
                            process.kill()
                        wait_for("the devices are gone", lambda: "tap0" not in sh("ip link"), 5)
                        wait_for("vm0 is gone", lambda: "vm0" not in lab.vm.run("ip link"), 5)
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    print(f"MTU {chosen.mtu}, Gbit/s, median of {chosen.rounds}")
    for direction in ("to VM", "to host"):
        medians = {s: statistics.median(figures[s, direction]) for s in subjects}
        base = medians.get("relay")
        for subject, value in medians.items():
            ratio = f"{value / base:6.2f} of relay" if base else ""
            print(f"  {direction:8} {subject:9} {value:6.2f} {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
