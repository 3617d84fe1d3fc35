#!/usr/bin/env python3
"""A namespace as a VM: a TAP here, whose frames go through a stream socket of the switch.

    tap_vm.py SOCKET DEVICE MAC
"""

import fcntl
import os
import select
import socket
import struct
import subprocess
import sys

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 2, 0x1000


def main():
    path, device, mac = sys.argv[1:]
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    for arguments in (f"set dev {device} address {mac}", f"set dev {device} up"):
        subprocess.run(["ip", "link", *arguments.split()], check=True)
    received = b""
    while True:
        ready, _, _ = select.select([tap, link], [], [])
        if tap in ready:
            frame = os.read(tap, 65536)
            link.sendall(struct.pack(">I", len(frame)) + frame)
        if link in ready:
            data = link.recv(1 << 18)
            if not data:
                return
            received += data
            while len(received) >= 4:
                size = struct.unpack_from(">I", received)[0]
                if len(received) < 4 + size:
                    break
                os.write(tap, received[4 : 4 + size])
                received = received[4 + size :]


if __name__ == "__main__":
    main()
