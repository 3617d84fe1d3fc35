"""Simulated VMs that send all the time, each as much as it is told to."""

import socket
import struct
import threading
import time

PERIOD = 0.05  # s between two bursts


class VM:
    def __init__(self, path, number):
        self.mac = bytes([0x52, 0x54, 0, 0xDE, 0, number])  # vmswitch-demo's: 1 to 3
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.is_reading = True
        self._ended = False
        self._threads = [threading.Thread(target=self._read, daemon=True)]
        self._threads[0].start()

    def frame(self, target, size=1000):
        return target + self.mac + b"\x88\xb5" + bytes(size - 14)  # 88b5: for experiments

    def send(self, frame, count=1):
        self.socket.sendall((struct.pack(">I", len(frame)) + frame) * count)

    def send_always(self, target, frames_per_second):
        def run():
            while not self._ended:
                try:
                    self.send(self.frame(target), max(1, int(frames_per_second * PERIOD)))
                except OSError:
                    return
                time.sleep(PERIOD)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _read(self):
        while not self._ended:
            if not self.is_reading:
                time.sleep(PERIOD)
                continue
            try:
                if not self.socket.recv(65536):
                    return
            except OSError:
                return

    def close(self):
        self._ended = True
        self.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self.socket.close()
