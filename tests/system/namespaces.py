"""Network namespaces for a test: the one that this process is in plays the host.

enter() moves the process into namespaces of its own, so that nothing of the machine's network is
touched, and all of it vanishes with the last process, however the test ends.
"""

import ctypes
import fcntl
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from processes import Failure, Process, wait_for

CLONE_NEWNS = 0x20000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x4000 | (1 << 18)
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 2, 0x1000
HERE = pathlib.Path(__file__).resolve().parent


def missing():
    """Why such tests cannot run here; None if they can."""
    if os.geteuid() != 0:
        return "they need root, to make network namespaces"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    for program in ("ip", "nsenter", "unshare", "mount", "nft", "ping", "setpriv"):
        if not shutil.which(program):
            return f"the program {program} is missing"
    return None


def enter():
    """A network of our own, with a /sys and a /dev/net/tun that belong to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        raise Failure(f"unshare: {os.strerror(ctypes.get_errno())}")
    if libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None) != 0:
        raise Failure(f"mount: {os.strerror(ctypes.get_errno())}")
    sh("mount -t sysfs sysfs /sys")
    sh("mount -t tmpfs tmpfs /dev/net")
    sh("mknod -m 666 /dev/net/tun c 10 200")
    sh("ip link set lo up")


def sh(command, check=True):
    """Runs a command line here and returns what it prints."""
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if check and done.returncode != 0:
        raise Failure(f"{command}: {done.stdout.strip()}")
    return done.stdout


class Here:
    """The host's namespace."""

    name = "host"

    def command(self, words):
        return [str(word) for word in words]

    def run(self, command, check=True):
        return sh(command, check)


class Namespace(Here):
    """Another one, which lives as long as this object's process."""

    def __init__(self, run, name):
        self.name = name
        command = ["unshare", "-n", "sleep", "1000"]
        self._holder = run.keep(Process(f"ns-{name}", command, run.folder))
        ours = os.readlink("/proc/self/ns/net")
        link = f"/proc/{self._holder.pid}/ns/net"
        wait_for(f"namespace {name}", lambda: os.readlink(link) != ours, 10)
        self.run("ip link set lo up")

    @property
    def pid(self):
        return self._holder.pid

    def command(self, words):
        return ["nsenter", "-t", str(self.pid), "-n", *map(str, words)]

    def run(self, command, check=True):
        return sh(f"nsenter -t {self.pid} -n sh -c {quoted(command)}", check)

    def cable(self, own, theirs, own_addresses=(), their_addresses=()):
        """A veth from here (`theirs`, in the host's namespace) to there (`own`)."""
        sh(f"ip link add {theirs} type veth peer name {own} netns {self.pid}")
        for address in their_addresses:
            sh(f"ip address add {address} dev {theirs} nodad")
        for address in own_addresses:
            self.run(f"ip address add {address} dev {own} nodad")
        sh(f"ip link set {theirs} up")
        self.run(f"ip link set {own} up")

    def plug_in(self, run, socket, mac):
        """Makes it a VM: a TAP `vm0` there, with its wire in the switch."""
        command = [sys.executable, HERE / "tap_vm.py", socket, "vm0", mac]
        process = run.keep(Process(f"vm-{self.name}", self.command(command), run.folder))

        def plugged():
            if not process.running():
                raise Failure(f"the VM ended:\n{process.log()}")
            return "UP" in self.run("ip link show vm0", check=False)

        wait_for(f"{self.name} is plugged in", plugged, 15)
        return process


def open_tap(name, pid=None):
    """A descriptor of a new TAP, here or in the namespace of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", "rb") as ours:
        if pid:
            with open(f"/proc/{pid}/ns/net", "rb") as theirs:
                libc.setns(theirs.fileno(), CLONE_NEWNET)
        tap = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        libc.setns(ours.fileno(), CLONE_NEWNET)
    return tap


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def pings(place, target, patience=5):
    """Whether an answer comes. Tries for so many seconds."""
    return " 1 received" in place.run(f"ping -n -c 1 -W {patience} {target}", check=False)


TCP_SERVER = """
import hashlib, socket, sys
address, port, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
server = socket.create_server((address, port), family=family)
print("listening", flush=True)
peer = server.accept()[0]
got = hashlib.sha256()
while piece := peer.recv(65536):
    got.update(piece)
peer.sendall(bytes(range(256)) * (size // 256))
peer.close()
print(got.hexdigest(), flush=True)
"""
TCP_CLIENT = """
import hashlib, socket, sys
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])), 20)
data = bytes(range(256)) * (int(sys.argv[3]) // 256)
peer.sendall(data)
peer.shutdown(socket.SHUT_WR)
got = hashlib.sha256()
while piece := peer.recv(65536):
    got.update(piece)
print(got.hexdigest() == hashlib.sha256(data).hexdigest())
print(hashlib.sha256(data).hexdigest())
"""


def transfer(run, server, client, address, port, size=4 << 20):
    """A TCP connection that carries `size` bytes each way, unharmed."""
    command = [sys.executable, "-c", TCP_SERVER, address, port, size]
    serving = run.keep(Process(f"tcp-{port}", server.command(command), run.folder))
    wait_for("the server listens", lambda: "listening" in serving.log(), 10)
    command = [sys.executable, "-c", TCP_CLIENT, address, port, size]
    asking = run.keep(Process(f"tcp-{port}-client", client.command(command), run.folder))
    if asking.wait(60) != 0 or serving.wait(10) != 0:
        raise Failure(f"TCP from {client.name} to {address}:\n{asking.log()}\n{serving.log()}")
    came_back, sent = asking.log().split()
    if came_back != "True" or sent not in serving.log():
        raise Failure(f"TCP from {client.name} to {address}: the data are not what was sent")
