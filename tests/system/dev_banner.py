#!/usr/bin/env python3
"""What `./dev run` prints about its network is what the daemon's options ask for.

    dev_banner.py BUILD/bin
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBNET = "192.168.105.0/24, gateway 192.168.105.1"
BANNERS = {
    (): f"{SUBNET}, DHCP, DNS",
    # DNS stays on, and IPv6: neither is to be taken for DHCP.
    ("--vmnet-disable-dhcp",): f"{SUBNET}, DNS",
    ("--vmnet-mode=host", "--vmnet-gateway=10.1.2.1"): "10.1.2.0/24, gateway 10.1.2.1, DHCP, DNS",
    ("--vmnet-mode=isolated",): "none: the VMs reach each other only",
    ("--vmnet-mode=bridged", "--vmnet-interface=br0"): "that of the network behind the bridge",
}
WITHOUT_DNS = """\
[[network]]
mode = "user"
[network.dns]
enabled = false
[[network.listen]]
path = "a"
[[network]]
name = "other"
mode = "user"
subnet = "10.9.0.0/24"
[network.dhcp]
enabled = false
[[network.listen]]
path = "b"
"""
SETTINGS = {
    "network name": "default",
    "network mode": "user",
    "network subnet": "192.168.105.0/24",
    "network ipv6": "true",
    "network.dns enabled": "false",
    "network.dhcp enabled": "true",
    "network.forward to": "",
}


def bash(programs, script, *arguments):
    """What a script prints that uses the functions of ./dev."""
    script = f". '{ROOT}/dev'; bin='{programs}'; {script}"
    return subprocess.run(
        ["bash", "-c", script, "test", *arguments], text=True, check=True, stdout=subprocess.PIPE
    ).stdout


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    found = {}
    for options, wanted in BANNERS.items():
        lines = bash(programs, 'banner /s "$@"', *options).splitlines()
        found[" ".join(options)] = wanted, [one[11:] for one in lines if "  subnet" in one]
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
        config.write(WITHOUT_DNS)
        config.flush()
        script = 'settings=$("$bin/vmswitchd" --config "$1" --check); setting $2 $3'
        for setting, wanted in SETTINGS.items():
            lines = bash(programs, script, config.name, *setting.split()).splitlines()
            found[setting] = wanted, lines or [""]
    for what, (wanted, lines) in found.items():
        if lines != [wanted]:
            sys.exit(f"FAILED: {what or 'without options'}: {lines}, not {wanted}")
    print("passed")


if __name__ == "__main__":
    main()
