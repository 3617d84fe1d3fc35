"""Networks with a network device, by a daemon that has no privilege."""

import os
import pathlib

import namespaces
from namespaces import Namespace, pings, sh, transfer
from processes import Failure, Process, wait_for
from run import expect
from tap_support import GATEWAY, HOST, SKIPPED, as_nobody, expect_untouched, footprint


def scenario_unprivileged(run):
    for mode in ("host", "shared"):
        folder, command = as_nobody(run, f"--vmnet-mode={mode}", run.folder / "nobody" / "s")
        refused = run.keep(Process(f"refused-{mode}", command, run.folder))
        expect(refused.wait(10), 77, f"the exit code of mode {mode} without privilege")
        for part in ("CAP_NET_ADMIN", "--vmnet-mode=user needs no privilege"):
            if part not in refused.log():
                raise Failure(f"mode {mode} is refused without {part}:\n{refused.log()}")
    run.step("without privilege it says what is missing and what works")

    sh("ip tuntap add dev mytap mode tap user nobody")
    folder, command = as_nobody(
        run, "--vmnet-mode=host", "--vmnet-interface=mytap", run.folder / "nobody" / "s"
    )
    refused = run.keep(Process("refused-tap", command, run.folder))
    expect(refused.wait(10), 77, "the exit code for a TAP that is not ready")
    if f"ip address add {GATEWAY}/24 dev mytap" not in refused.log():
        raise Failure(f"what is to be done is not told:\n{refused.log()}")
    sh(f"ip address add {GATEWAY}/24 dev mytap")
    sh("ip link set mytap up")
    before = footprint()
    folder, command = as_nobody(
        run, "--vmnet-mode=host", "--vmnet-interface=mytap", f"--pidfile={folder}/pid", folder / "s"
    )
    daemon = run.keep(Process("vmswitchd-nobody", command, run.folder))
    wait_for("the daemon is ready", lambda: (folder / "pid").exists() or not daemon.running(), 15)
    a = Namespace(run, "a")
    a.plug_in(run, folder / "s", "52:54:00:00:00:01")
    a.run("ip address add 192.168.105.11/24 dev vm0")
    if not pings(a, GATEWAY):
        raise Failure(f"a TAP of the user's own does not work:\n{daemon.log()}")
    daemon.terminate()
    expect(daemon.wait(5), 0, "the exit code")
    expect_untouched(before, footprint(), "on the user's own TAP")
    run.step("a TAP of the user's own works without root, and is left as it was")


def scenario_inherited(run):
    """A TAP that whoever starts the daemon opened, and one of another namespace."""
    for place in (None, Namespace(run, "far")):
        tap = open_tap("given0", place)
        place = place or HOST
        place.run(f"ip address add {GATEWAY}/24 dev given0")
        place.run("ip link set given0 up")
        folder, _ = as_nobody(run)
        config = folder / "fd.toml"
        config.write_text(
            f'[daemon]\npidfile = "{folder}/pid"\n[[network]]\nmode = "host"\ntap_fd = {tap}\n'
            f'[[network.listen]]\npath = "{folder}/s"\n'
        )
        _, command = as_nobody(run, "--config", config)
        daemon = run.keep(Process(f"fd-{place.name}", command, run.folder, pass_fds=[tap]))
        wait_for("it is ready", lambda: (folder / "pid").exists() or not daemon.running(), 15)
        guest = Namespace(run, f"vm-{place.name}")
        guest.plug_in(run, folder / "s", "52:54:00:00:00:01")
        guest.run("ip address add 192.168.105.11/24 dev vm0")
        if not pings(guest, GATEWAY):
            raise Failure(f"a TAP that is passed in does not work:\n{daemon.log()}")
        daemon.terminate()
        expect(daemon.wait(5), 0, "the exit code")
        os.close(tap)
        run.step(f"a TAP that was passed in, of the namespace {place.name}")


def open_tap(name, place):
    return namespaces.open_tap(name, place.pid if place else None)


def scenario_helper(run):
    """Rootless, through QEMU's setuid helper, which decides by its own list."""
    original = pathlib.Path("/usr/lib/qemu/qemu-bridge-helper")
    if not original.exists():
        print("skipped: qemu-bridge-helper is missing (apt-get install qemu-system-common)")
        raise SystemExit(SKIPPED)
    outside = Namespace(run, "outside")
    outside.cable("o0", "phys0", ["10.7.0.1/24"])
    sh("ip link add br0 type bridge; ip link set br0 up; ip link set phys0 master br0")
    before = footprint()
    sh("mkdir -p /etc/qemu; mount -t tmpfs tmpfs /etc/qemu; echo allow br0 >/etc/qemu/bridge.conf")
    folder, _ = as_nobody(run)
    helper = run.folder / "helper"
    helper.write_bytes(original.read_bytes())
    helper.chmod(0o4755)
    config = folder / "bridged.toml"
    config.write_text(
        f'[daemon]\npidfile = "{folder}/pid"\n[[network]]\nmode = "bridged"\ninterface = "br0"\n'
        f'bridge_helper = "{helper}"\n[[network.listen]]\npath = "{folder}/s"\n'
    )
    _, command = as_nobody(run, "--config", config)
    daemon = run.keep(Process("vmswitchd-helped", command, run.folder))
    wait_for("it is ready", lambda: (folder / "pid").exists() or not daemon.running(), 15)
    guest = Namespace(run, "vm")
    guest.plug_in(run, folder / "s", "52:54:00:00:00:01")
    guest.run("ip address add 10.7.0.11/24 dev vm0")
    if not pings(guest, "10.7.0.1") or not pings(outside, "10.7.0.11"):
        raise Failure(f"the bridge does not work:\n{daemon.log()}")
    transfer(run, outside, guest, "10.7.0.1", 7008)
    daemon.terminate()
    expect(daemon.wait(5), 0, "the exit code")
    expect_untouched(before, footprint(), "after SIGTERM")
    run.step("bridged without root, by the helper; nothing is left")
    pathlib.Path("/etc/qemu/bridge.conf").write_text("deny all\n")
    refused = run.keep(Process("refused", command, run.folder))
    expect(refused.wait(10), 77, "the exit code when the helper refuses")
    if "CAP_NET_ADMIN" not in refused.log() or "allow br0" not in refused.log():
        raise Failure(f"what is to be done is not told:\n{refused.log()}")
