#!/usr/bin/env python3
"""A DNS server for tests, in place of the host's resolver: UDP and TCP on port 53 of an address.

    dns_upstream.py ADDRESS

Prints a line for every question: "www.example.com A udp".
"""

import socket
import socketserver
import struct
import sys
import threading

TYPES = {1: "A", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV", 6: "SOA"}
NXDOMAIN, TRUNCATED, ANSWER = 3, 0x0200, 0x8180
BIG = 4096


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def text(data):
    parts = [data[i : i + 255] for i in range(0, len(data), 255)]
    return b"".join(bytes([len(part)]) + part.encode() for part in parts)


SOA = wire("ns.example.com") + wire("root.example.com") + struct.pack(">5I", 1, 60, 60, 60, 1)
RECORDS = {
    ("www.example.com", "A"): (60, socket.inet_aton("10.1.2.3")),
    ("www.example.com", "AAAA"): (60, socket.inet_pton(socket.AF_INET6, "2001:db8::3")),
    ("_http._tcp.example.com", "SRV"): (60, struct.pack(">3H", 1, 2, 80) + wire("www.example.com")),
    ("example.com", "MX"): (60, struct.pack(">H", 10) + wire("mail.example.com")),
    ("example.com", "SOA"): (60, SOA),
    ("3.2.1.10.in-addr.arpa", "PTR"): (60, wire("www.example.com")),
    ("big.example.com", "TXT"): (60, text("x" * BIG)),
}


def question_of(message):
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode())
        at += 1 + message[at]
    kind = struct.unpack_from(">H", message, at + 1)[0]
    return ".".join(labels).lower(), TYPES.get(kind, str(kind)), message[12 : at + 5]


def udp_size(message, question):
    """What the sender takes, by its EDNS record."""
    rest = message[12 + len(question) :]
    return struct.unpack_from(">H", rest, 3)[0] if len(rest) >= 11 else 512


class Answers:
    def __init__(self, address):
        self.address = address

    def to(self, message, way):
        name, kind, question = question_of(message)
        print(name, kind, way, flush=True)
        found = RECORDS.get((name, kind))
        if name == "who.example.com":
            found = (0, text(self.address))
        elif name.startswith("n") and name.endswith(".many.example.com"):
            found = (60, socket.inet_aton("10.9.9.9"))
        flags, answers, authorities = ANSWER, b"", b""
        kind_bytes = question[-4:-2]
        if found:
            answers = b"\xc0\x0c" + kind_bytes + struct.pack(">HIH", 1, found[0], len(found[1]))
            answers += found[1]
        else:
            exists = any(known == name for known, _ in RECORDS)
            flags |= 0 if exists else NXDOMAIN
            authorities = wire("example.com") + struct.pack(">HHIH", 6, 1, 60, len(SOA)) + SOA
        reply = message[:2] + struct.pack(
            ">5H", flags, 1, 1 if answers else 0, 1 if authorities else 0, 0
        )
        reply += question + answers + authorities
        if way == "udp" and len(reply) > udp_size(message, question):
            reply = message[:2] + struct.pack(">5H", flags | TRUNCATED, 1, 0, 0, 0) + question
        return reply


class Tcp(socketserver.BaseRequestHandler):
    def handle(self):
        stream = self.request.makefile("rwb")
        while len(prefix := stream.read(2)) == 2:
            reply = self.server.answers.to(stream.read(struct.unpack(">H", prefix)[0]), "tcp")
            stream.write(struct.pack(">H", len(reply)) + reply)
            stream.flush()


def main():
    address = sys.argv[1]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    answers = Answers(address)

    class Server(socketserver.ThreadingTCPServer):
        address_family = family
        allow_reuse_address = True
        daemon_threads = True

    tcp = Server((address, 53), Tcp)
    tcp.answers = answers
    threading.Thread(target=tcp.serve_forever, daemon=True).start()
    udp = socket.socket(family, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    udp.bind((address, 53))
    print("listening", flush=True)
    while True:
        message, peer = udp.recvfrom(4096)
        udp.sendto(answers.to(message, "udp"), peer)


if __name__ == "__main__":
    main()
