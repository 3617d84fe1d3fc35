#!/usr/bin/env python3
"""What a VM serves in the tests of port forwards, on one port of all its addresses.

    forward_server.py NAME PORT

TCP: reads until the client ends its side, then answers with NAME, the number of bytes and their
checksum. A connection that begins with "drip" is answered at once, byte by byte, without end. UDP:
answers each datagram with NAME, a blank and the datagram.
"""

import hashlib
import socket
import sys
import threading


def serve(name, peer):
    with peer:
        checksum, size = hashlib.sha256(), 0
        try:
            while piece := peer.recv(65536):
                if size == 0 and piece.startswith(b"drip"):
                    while True:
                        peer.sendall(b"x" * 65536)
                checksum.update(piece)
                size += len(piece)
            peer.sendall(f"{name} {size} {checksum.hexdigest()}".encode())
        except OSError:
            pass


def echo(name, port):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("0.0.0.0", port))
    while True:
        data, client = server.recvfrom(65536)
        server.sendto(name.encode() + b" " + data, client)


def main():
    name, port = sys.argv[1], int(sys.argv[2])
    threading.Thread(target=echo, args=(name, port), daemon=True).start()
    server = socket.create_server(
        ("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128
    )
    print("serving", flush=True)
    while True:
        peer = server.accept()[0]
        threading.Thread(target=serve, args=(name, peer), daemon=True).start()


if __name__ == "__main__":
    main()
