"""Real DHCP clients, each in a network namespace of its own behind a TAP device."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys

from processes import Failure, Process, Skip, wait_for

HERE = pathlib.Path(__file__).resolve().parent

# What all three clients call, each with names of its own: sets the address, unless the client does
# so itself, and notes it. Nothing of the machine is touched, not even resolv.conf.
HOOK = """\
#!/bin/sh
address=${{new_ip_address:-$ip}}
case "${{reason:-$1}}" in
bound | renew | BOUND | RENEW | REBIND | REBOOT)
  {sets_address} && ip address replace "$address/24" dev tap0
  echo "$address" >{folder}/{name}.address
  ;;
deconfig | RELEASE | STOP | EXPIRE) {sets_address} && ip address flush dev tap0 ;;
esac
exit 0
"""
# Where clients keep what they know: each namespace has its own, empty.
CLIENT_FOLDERS = ("/var/lib/dhcp", "/var/lib/dhcpcd", "/run/dhcpcd", "/var/lib/dhcpcd5")


def require_namespaces():
    """Skips where network namespaces and TAP devices cannot be had."""
    if not pathlib.Path("/dev/net/tun").exists():
        raise Skip("there is no /dev/net/tun")
    for program in ("unshare", "nsenter", "ip"):
        if not shutil.which(program):
            raise Skip(f"{program} is missing")
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "true"], stderr=subprocess.PIPE, check=False
    )
    if tried.returncode != 0:
        raise Skip("network namespaces need root: " + tried.stderr.decode().strip())


class Client:
    """A DHCP client and the machine that it runs on. Subclasses say how it is called."""

    program = ""
    package = ""
    needs_hook_to_set_address = True

    def __init__(self, run, switch_socket, mac):
        self.name = self.program
        self.folder = run.folder
        self.mac = mac
        self.hook = run.folder / f"{self.name}.hook"
        sets = "true" if self.needs_hook_to_set_address else "false"
        self.hook.write_text(HOOK.format(folder=run.folder, name=self.name, sets_address=sets))
        self.hook.chmod(self.hook.stat().st_mode | stat.S_IXUSR)
        bridge = [sys.executable, HERE / "tap_bridge.py", switch_socket, mac]
        self._bridge = run.keep(
            Process(f"{self.name}-bridge", ["unshare", "--net", "--mount", *bridge], run.folder)
        )
        self._client = None
        self._run = run
        wait_for(f"the machine of {self.name}", lambda: "connected" in self._bridge.log(), 20)
        for folder in CLIENT_FOLDERS:
            if os.path.isdir(folder):
                self.command("mount", "-t", "tmpfs", "tmpfs", folder)

    @classmethod
    def is_there(cls):
        return shutil.which(cls.program) is not None

    def inside(self, *command):
        return ["nsenter", f"--target={self._bridge.pid}", "--net", "--mount", "--", *command]

    def command(self, *command):
        done = subprocess.run(
            self.inside(*map(str, command)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        if done.returncode != 0:
            raise Failure(f"{self.name}: {' '.join(map(str, command))}: {done.stdout}")

    def start(self):
        """Runs the client until stop(); the address that it gets."""
        self._address_file().unlink(missing_ok=True)
        self._client = self._run.keep(
            Process(self.name, self.inside(*map(str, self.call())), self.folder)
        )
        wait_for(f"{self.name} gets an address", self.address, 30)
        return self.address()

    def address(self):
        file = self._address_file()
        return file.read_text().strip() if file.exists() else ""

    def said(self):
        """The DHCP messages that it has sent, one a line."""
        return self._bridge.log()

    def lose_unicast(self):
        self._bridge.signal(signal.SIGUSR1)

    def kill(self):
        self._client.kill()

    def _address_file(self):
        return self.folder / f"{self.name}.address"

    def call(self):
        raise NotImplementedError

    def release(self):
        raise NotImplementedError


class Udhcpc(Client):
    program = "busybox"
    package = "busybox"
    # At its first start only, so that it is the lease that makes it stay the same afterwards.
    asks_for = "192.168.105.111"

    def call(self):
        wish = ["-r", self.asks_for] if self._client is None else []
        return ["busybox", "udhcpc", "-i", "tap0", "-f", *self._options(), *wish]

    def once(self, mac, client_id=None):
        """The address that a VM with this MAC address gets, which then vanishes without a word."""
        self._address_file().unlink(missing_ok=True)
        self.command("ip", "link", "set", "tap0", "address", mac)
        identity = ["-x", f"0x3d:{client_id}"] if client_id else []
        self.command(
            *["busybox", "udhcpc", "-i", "tap0", "-n", "-q", *self._options(), *identity]
        )
        return self.address()

    def _options(self):
        return ["-t", "10", "-T", "1", "-s", self.hook]

    def release(self):
        self._client.signal(signal.SIGUSR2)


class Dhclient(Client):
    program = "dhclient"
    package = "isc-dhcp-client"

    # Else its pauses between renewals may be longer than is left for rebinding.
    SETTINGS = "initial-interval 1;\nbackoff-cutoff 1;\n"

    def _files(self):
        settings = self.folder / "dhclient.conf"
        settings.write_text(self.SETTINGS)
        kept = {"-cf": settings, "-lf": self._leases(), "-pf": self.folder / "dhclient.pid"}
        return [each for pair in kept.items() for each in pair]

    def _leases(self):
        return self.folder / "dhclient.leases"

    def call(self):
        self._leases().unlink(missing_ok=True)
        return ["dhclient", "-4", "-d", "-sf", self.hook, *self._files(), "tap0"]

    def release(self):
        self.command("dhclient", "-4", "-r", "-sf", self.hook, *self._files(), "tap0")


class Dhcpcd(Client):
    program = "dhcpcd"
    package = "dhcpcd-base"
    needs_hook_to_set_address = False

    def call(self):
        return ["dhcpcd", "-4", "-B", "-A", "-f", "/dev/null", "-c", self.hook, "tap0"]

    def release(self):
        self.command("dhcpcd", "-4", "-k", "-f", "/dev/null", "-c", self.hook, "tap0")


ALL = (Udhcpc, Dhclient, Dhcpcd)
