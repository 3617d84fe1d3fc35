"""A real guest under QEMU, told what to do over its serial console (see guest/init)."""

import queue
import subprocess
import threading
import time

from processes import Failure, Process

BOOT_SECONDS = 120  # 3 s on an idle machine without KVM
COMMAND_SECONDS = 120

MACHINE = """-machine q35 -m 128 -nodefaults -display none -monitor none -serial stdio -no-reboot
  -append""".split() + ["console=ttyS0 quiet loglevel=1 panic=-1 no_timer_check"]


def stream_netdev(switch_socket, _own_socket):
    return f"stream,id=n0,addr.type=unix,addr.path={switch_socket},server=off"


def dgram_netdev(switch_socket, own_socket):
    return (
        f"dgram,id=n0,local.type=unix,local.path={own_socket},"
        f"remote.type=unix,remote.path={switch_socket}"
    )


def fd3_netdev(_switch_socket, _own_socket):
    return "socket,id=n0,fd=3"


class Guest:
    def __init__(self, name, image, mac, netdev, folder, launcher=()):
        """`launcher` is a command that executes the one behind it, such as vmswitch-run."""
        self.name = name
        self._lines = queue.Queue()
        self._process = Process(
            name,
            [*launcher, "qemu-system-x86_64", *MACHINE]
            + ["-kernel", image / "vmlinux", "-initrd", image / "initramfs.cpio"]
            + ["-netdev", netdev, "-device", f"virtio-net-pci,netdev=n0,mac={mac},romfile="],
            folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        threading.Thread(target=self._read_console, daemon=True).start()

    def wait_booted(self):
        """The checksum of the file that it serves."""
        (checksum,) = self._answer("boot", BOOT_SECONDS)
        return checksum

    def command(self, verb, *arguments):
        """Lets the guest do something; the words of its answer. Failure if it could not."""
        try:
            self._process.stdin.write(" ".join((verb, *arguments)).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer will not come: reported there
        return self._answer(verb, COMMAND_SECONDS)

    def kill(self):
        self._process.kill()

    def _read_console(self):
        for line in self._process.stdout:
            self._process.note(line)
            words = line.decode(errors="replace").split()
            if words[:1] == ["GUEST"]:
                self._lines.put(words[1:])
        self._lines.put(None)

    def _answer(self, verb, seconds):
        try:
            words = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"guest {self.name}: no answer to {verb} within {seconds} s") from None
        if words is None:
            raise Failure(f"guest {self.name} ended while {verb} was awaited")
        if words[:2] != ["ok", verb]:
            raise Failure(f"guest {self.name}: {' '.join(words)}")
        return words[2:]
