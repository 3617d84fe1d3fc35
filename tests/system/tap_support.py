"""What the tests of networks with a network device share."""

import os
import pathlib
import pwd
import re

from namespaces import Here, Namespace, sh
from run import expect
from switch import Switch

HOST = Here()
GATEWAY = "192.168.105.1"
SKIPPED = 77


def start(run, *options):
    switch = run.keep(Switch.from_command_line(run.bin, run.folder, *options))
    switch.wait_ready()
    return switch


def vm(run, switch, name, number, address=None):
    made = Namespace(run, name)
    made.plug_in(run, switch.socket, f"52:54:00:00:00:0{number}")
    if address:
        made.run(f"ip address add {address} dev vm0")
    return made


def settings(pattern):
    """Values under /proc/sys/net of this namespace."""
    found = sorted(pathlib.Path("/proc/sys/net").glob(pattern))
    return {str(path): path.read_text() for path in found}


def footprint():
    """All that a daemon may leave in the network: devices, addresses, rules, settings."""
    values = {}
    for pattern in ("ipv4/conf/*/forwarding", "ipv6/conf/*/*forwarding", "ipv6/conf/*/accept_ra"):
        values.update(settings(pattern))
    # Without what comes and goes by itself: carrier, link-local addresses.
    addresses = re.sub(r"^\d+: |\\.*", "", sh("ip -o address show scope global"), flags=re.M)
    changing = re.compile(r"^\d+: | state \S+|NO-CARRIER,|,LOWER_UP", re.M)
    links = changing.sub("", sh("ip -o link show"))
    # Of the devices that stay; the kernel adds and removes link-local ones in its own time.
    # A persistent TAP that nobody holds has no carrier.
    routes = sh("ip -4 route show table all; ip -6 route show table all | grep -v -e ff00 -e fe80")
    routes = routes.replace(" linkdown", "")
    rules = sh("nft list ruleset")
    return {"links": links, "routes": routes, "addresses": addresses, "rules": rules, **values}


def expect_untouched(before, after, when):
    for key, value in before.items():
        expect(after.get(key), value, f"{key} {when}")
    expect(sorted(after), sorted(before), f"what is there {when}")


def as_nobody(run, *words):
    """A daemon without any privilege."""
    folder = run.folder / "nobody"
    folder.mkdir(exist_ok=True)
    os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    os.chmod(run.folder, 0o755)
    command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    return folder, [*command, run.bin / "vmswitchd", *words]
