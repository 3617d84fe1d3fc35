#!/usr/bin/env python3
"""slirp4netns#284: with an MTU of 65520 the throughput of user mode collapsed. Here it must not.

iperf3 between a VM (a namespace) and a server on the host's loopback, at both MTUs, beside pasta if
that is there.

    user_throughput.py --bin BUILD/bin [--seconds S]
"""

import argparse
import contextlib
import json
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import namespaces
from namespaces import Namespace, sh
from processes import Failure, Process, wait_for
from run import Run
from switch import Switch
from tap_support import GATEWAY, SKIPPED

MTUS = (1500, 65520)
DIRECTIONS = {"from VM": "", "to VM": "-R"}
# Smoke values: a collapse is a matter of factors.
LEAST_SHARE = 0.1  # of the rate at 1500
LEAST_MBIT = 20
ROUNDS = 3  # at most; the best counts, since other work on the machine makes figures smaller


def rate(text):
    """Mbit/s, out of iperf3's JSON."""
    try:
        return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e6
    except (ValueError, KeyError):
        raise Failure(f"iperf3 says:\n{text[-2000:]}") from None


class Lab:
    def __init__(self, run, seconds):
        self.run, self.seconds = run, seconds
        self.count = 0

    def keep(self, name, command):
        self.count += 1
        return self.run.keep(Process(f"{name}-{self.count}", command, self.run.folder))

    def serve(self):
        server = self.keep("iperf3", ["iperf3", "-s", "-1"])
        wait_for("iperf3", lambda: ":5201" in sh("ss -ltn"), 10)
        return server

    def vmswitch(self, mtu):
        """Mbit/s in both directions."""
        config = self.run.folder / "vmswitch.toml"
        config.write_text(
            f'[daemon]\npidfile = "{self.run.folder}/pid"\n[[network]]\nmode = "user"\n'
            f'mtu = {mtu}\n[[network.listen]]\npath = "{self.run.folder}/socket"\n'
            # A busy machine is not what is measured.
            "[network.limits]\negress_deadline_ms = 2000\n"
        )
        switch = self.run.keep(Switch(self.run.bin, self.run.folder, ["--config", config]))
        switch.wait_ready()
        self.count += 1
        vm = Namespace(self.run, f"vm{self.count}")
        model = self.run.bin / "vmswitch-tap-model"
        self.keep("vm", vm.command([model, "vm", "vm0", switch.socket]))
        wait_for("vm0", lambda: "mtu" in vm.run("ip link show vm0", False), 10)
        vm.run(f"ip link set vm0 mtu {mtu} up; ip address add 192.168.105.11/24 dev vm0")
        rates = {}
        for direction, option in DIRECTIONS.items():
            server = self.serve()
            rates[direction] = rate(
                vm.run(f"iperf3 -J -c {GATEWAY} -t {self.seconds} {option}", check=False)
            )
            server.kill()
        switch.stop()
        return rates

    def pasta(self, mtu):
        """The same through pasta; None where it does not run."""
        rates = {}
        for direction, option in DIRECTIONS.items():
            server = self.serve()
            command = f"iperf3 -J -c 10.9.0.1 -t {self.seconds} {option}"
            text = sh(
                f"pasta -q --runas 0:0 --config-net -m {mtu} -t none -u none -T none -U none"
                f" -- {command} 2>/dev/null",
                check=False,
            )
            server.kill()
            if '"sum_received"' not in text:
                return None
            rates[direction] = rate(text)
        return rates


def measure(run, seconds):
    # pasta takes over the addresses of the host's way out, and the gateway's leads to its loopback.
    world = Namespace(run, "world")
    world.cable("w0", "eth0", ["10.9.0.1/24"], ["10.9.0.2/24"])
    sh("ip route add default via 10.9.0.1")
    lab = Lab(run, seconds)
    subjects = [lab.vmswitch] + ([lab.pasta] if shutil.which("pasta") else [])
    best = {}
    for number in range(1, ROUNDS + 1):
        for mtu in MTUS:
            for subject in subjects if number == 1 else subjects[:1]:
                for direction, mbit in (subject(mtu) or {}).items():
                    print(f"MTU {mtu:5}  {direction:8} {subject.__name__:9} {mbit:8.0f} Mbit/s")
                    key = subject.__name__, mtu, direction
                    best[key] = max(mbit, best.get(key, 0))
        slow = [
            f"{direction}: {best['vmswitch', MTUS[1], direction]:.0f} Mbit/s at {MTUS[1]}, after"
            f" {best['vmswitch', MTUS[0], direction]:.0f} at {MTUS[0]}"
            for direction in DIRECTIONS
            if not is_fine(*(best["vmswitch", mtu, direction] for mtu in MTUS))
        ]
        if not slow:
            return
    raise Failure("; ".join(slow))


def is_fine(small, large):
    return small >= LEAST_MBIT and large >= LEAST_SHARE * small


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where vmswitchd is")
    parser.add_argument("--seconds", type=int, default=2)
    chosen = parser.parse_args()
    why = namespaces.missing() or (None if shutil.which("iperf3") else "iperf3 is missing")
    if why or not (chosen.bin / "vmswitch-tap-model").exists():
        print(f"skipped: {why or 'vmswitch-tap-model is not built'}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="vmswitch.", dir="/tmp") as name:
        folder = pathlib.Path(name)
        try:
            with contextlib.ExitStack() as cleanup:
                namespaces.enter()
                measure(Run(chosen.bin.resolve(), None, folder, cleanup), chosen.seconds)
        except Failure as failure:
            print(f"FAILED: {failure}")
            for log in sorted(folder.rglob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            return 1
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
