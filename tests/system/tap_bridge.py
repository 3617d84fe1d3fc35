#!/usr/bin/env python3
"""Plugs a TAP device of its network namespace into a switch, as a VM would be.

    unshare --net --mount tap_bridge.py SOCKET MAC

Prints a line for every DHCP message of the client, and connects again when the switch has gone.
SIGUSR1: unicast DHCP is lost from now on, so that a client has to rebind.
"""

import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
KINDS = {1: "discover", 3: "request", 4: "decline", 7: "release", 8: "inform"}
BROADCAST = b"\xff" * 6


def open_tap(name, mac):
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    for command in (f"link set lo up", f"link set {name} address {mac}", f"link set {name} up"):
        subprocess.run(["ip", *command.split()], check=True)
    return tap


def dhcp_line(frame):
    """What the client says, or None if this is no DHCP message of it."""
    if len(frame) < 285 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    if struct.unpack_from(">H", frame, 36)[0] != 67:
        return None
    options = frame[282:]
    kind = options[options.index(b"\x35\x01") + 2]
    client_address = socket.inet_ntoa(frame[54:58])
    way = "broadcast" if frame[:6] == BROADCAST else "unicast"
    return f"{way} {KINDS.get(kind, kind)} from {client_address}"


class Bridge:
    def __init__(self, path, tap):
        self.path = path
        self.tap = tap
        self.loses_unicast = False
        self.switch = None
        self.received = b""
        signal.signal(signal.SIGUSR1, self._lose_unicast)

    def _lose_unicast(self, *_):
        self.loses_unicast = True

    def run(self):
        while True:
            if self.switch is None:
                self._connect()
            readable, _, _ = select.select([self.tap, self.switch], [], [])
            try:
                if self.switch in readable:
                    self._from_switch()
                if self.tap in readable:
                    self._from_client()
            except OSError:
                self._hang_up()

    def _connect(self):
        while True:
            self.switch = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self.switch.connect(self.path)
                print("connected", flush=True)
                return
            except OSError:
                self.switch.close()
                time.sleep(0.05)

    def _hang_up(self):
        self.switch.close()
        self.switch = None
        self.received = b""

    def _from_client(self):
        frame = os.read(self.tap, 65536)
        line = dhcp_line(frame)
        if line:
            lost = self.loses_unicast and line.startswith("unicast request")
            print(line + (" (lost)" if lost else ""), flush=True)
            if lost:
                return
        self.switch.sendall(struct.pack(">I", len(frame)) + frame)

    def _from_switch(self):
        data = self.switch.recv(65536)
        if not data:
            self._hang_up()
            return
        self.received += data
        while len(self.received) >= 4:
            length = struct.unpack_from(">I", self.received)[0]
            if len(self.received) < 4 + length:
                break
            os.write(self.tap, self.received[4 : 4 + length])
            self.received = self.received[4 + length :]


if __name__ == "__main__":
    Bridge(sys.argv[1], open_tap("tap0", sys.argv[2])).run()
