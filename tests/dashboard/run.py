#!/usr/bin/env python3
"""The dashboard in headless Chromium, at a vmswitchd with simulated VMs.

What it shows is held against the API; what it asks for stays with the daemon; its pictures are left
in the folder of --out. With --axe FILE (axe.min.js of the npm package axe-core) its accessibility
is checked too.
"""

import argparse
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "system"))

from browser import Browser, Missing  # noqa: E402
from processes import Failure, Process, wait_for  # noqa: E402
from switch import Switch  # noqa: E402
from vms import VM  # noqa: E402

WIDE, NARROW = (1360, 900), (390, 844)
TAB, ENTER = "\ue004", "\ue007"
OFFLINE = "Failed to load resource"  # how Chromium says that a request failed


def expect(is_so, text):
    if not is_so:
        raise Failure(text)


class Lab:
    """A daemon, two VMs that talk, one that takes nothing, leases, and its API."""

    def __init__(self, bin_folder, folder):
        self.bin, self.folder = bin_folder, folder
        self.switch = Switch.from_command_line(
            bin_folder, folder, f"--control={folder / 'control'}", "--dashboard=127.0.0.1:0"
        )
        self.vms = []
        self.openers = []

    def start(self):
        self.switch.wait_ready()
        self.url = re.search(r"http://127\.0\.0\.1:\d+/\?token=\w+", self.switch.log())[0]
        subprocess.run(
            [self.bin / "vmswitch-demo", self.switch.socket], check=True, stdout=subprocess.DEVNULL
        )
        self.vms = [VM(self.switch.socket, number) for number in range(1, 5)]
        for vm in self.vms:
            vm.send(vm.frame(b"\xff" * 6))
        first, second, third, stuck = self.vms
        first.send_always(second.mac, 4000)
        second.send_always(first.mac, 300)
        third.send_always(second.mac, 60)
        first.send_always(stuck.mac, 2000)
        stuck.is_reading = False

    def get(self, path):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as to:
            to.connect(str(self.folder / "control"))
            to.sendall(f"GET /v1/{path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
            answer = b"".join(iter(lambda: to.recv(65536), b""))
        return json.loads(answer.split(b"\r\n\r\n", 1)[1])

    def open(self, *options):
        """The address of one more dashboard, by vmswitchctl."""
        control = self.folder / "control"
        opener = Process(
            f"vmswitchctl-{len(self.openers)}",
            [self.bin / "vmswitchctl", f"--control={control}", "dashboard", *options],
            self.folder,
            stdout=subprocess.PIPE,
        )
        self.openers.append(opener)
        return opener.stdout.readline().decode().strip()

    def stop(self):
        for vm in self.vms:
            vm.close()
        for opener in self.openers:
            opener.kill()
        self.switch.stop()


def rows(page, part):
    """The table below an element, as it is shown."""
    return page.run(
        "return [...document.querySelectorAll('#' + arguments[0] + ' tbody tr')]"
        ".map(row => [...row.children].map(cell => cell.innerText.trim()));",
        part,
    )


def check_tables(lab, page):
    page.wait("document.querySelectorAll('#ports tbody tr').length >= 5")
    ports = {port["name"]: port for port in lab.get("ports")["ports"]}
    shown = {row[0]: row for row in rows(page, "ports")}
    expect(shown.keys() == ports.keys(), f"ports: {sorted(shown)}, not {sorted(ports)}")
    for name, port in ports.items():
        expect(port["macs"] == [] or port["macs"][0] in shown[name][3], f"MAC of {name}")
    macs = {mac["mac"] for mac in lab.get("macs")["macs"]}
    page.wait(f"document.querySelectorAll('#macs tbody tr').length == {len(macs)}")
    expect({row[0] for row in rows(page, "macs")} == macs, "MAC addresses")
    leases = {lease["address"] for lease in lab.get("leases")["leases"]}
    expect(leases, "the demo's VMs have leases")
    expect({row[0] for row in rows(page, "leases")} == leases, "leases")
    status = lab.get("status")
    facts = page.run("return document.getElementById('facts').innerText")
    expect(status["version"] in facts and "look and change" in facts, f"facts: {facts}")


def check_life(lab, page):
    """What moves is seen to move, and what is stuck to be stuck."""
    page.wait("document.querySelector('#picture [data-tone=bad] .badge')?.textContent == 'stalled'")
    page.wait("[...document.querySelectorAll('#legend .legend-value')]"
              ".some(value => /[MG]bit/.test(value.textContent))")
    page.wait("/egress_stalled|egress_expired/.test(document.getElementById('drops').innerText)")
    page.wait("document.querySelectorAll('#events li time').length > 3")
    page.wait("/alpha/.test(document.getElementById('picture').innerText)")  # by its lease
    late = VM(lab.switch.socket, 9)
    lab.vms.append(late)
    late.send(late.frame(b"\xff" * 6))
    page.wait("/52:54:00:de:00:09/.test(document.getElementById('ports').innerText)")
    page.wait("/52:54:00:de:00:09/.test(document.getElementById('events').innerText)")


def check_one_port(page):
    """By keyboard alone: a card, chosen, shows its two directions."""
    page.run("document.querySelectorAll('.node button')[1].focus()")
    page.press(ENTER)
    page.wait("document.querySelectorAll('#legend li').length == 2")
    expect(page.run("return document.activeElement.getAttribute('aria-pressed')") == "true",
           "the focus stays at the card that was chosen")
    page.press(ENTER)
    page.wait("document.querySelectorAll('#legend li').length > 2")


def check_forwards(lab, page):
    """Adds one and removes it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    target = lab.get("leases")["leases"][0]["address"]
    page.run(
        "const fields = document.querySelector('form.add').elements;"
        "fields.listen_port.value = arguments[0]; fields.to.value = arguments[1];"
        "fields.to_port.value = 22; fields.to_port.focus();",
        port,
        target,
    )
    page.press(ENTER)
    page.wait(f"/:{port}/.test(document.querySelector('#forwards tbody').innerText)")
    expect(any(f["listen_port"] == port for f in lab.get("forwards")["forwards"]), "it is there")
    for _ in range(2):
        page.run("document.querySelector('#forwards tbody button').click()")
    page.wait(f"!document.querySelector('#forwards tbody')?.innerText.includes(':{port}')")
    expect(not lab.get("forwards")["forwards"], "it is gone")


def check_quiet(page, url):
    """No complaint, and nobody else is asked for anything."""
    origin = url.split("/?")[0]
    asked = [each for each in page.requests() if not each.startswith(("chrome:", "data:"))]
    strangers = [each for each in asked if not each.startswith(origin + "/")]
    expect(asked and not strangers, f"requests elsewhere: {strangers}")
    complaints = page.console()
    expect(not complaints, f"console: {complaints}")
    expect("token" not in page.run("return location.href"), "the token stands in the address")
    expect("token" not in page.run("return document.cookie"), "scripts can read the cookie")


def check_layout(page):
    wide = page.run("return document.documentElement.scrollWidth")
    expect(wide <= page.run("return innerWidth"), f"it is {wide} pixels wide")


def check_hidden(page):
    """Nobody sees it: nothing is asked. CDP cannot hide a page, so the page is told so."""
    say = (
        "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange'));"
    )
    page.run(say, True)
    page.requests()
    page.run("return new Promise(done => setTimeout(done, 3000))")
    expect(not page.requests(), "a hidden page asks")
    page.run(say, False)
    wait_for("it asks again", page.requests, 10)


def check_accessible(page, axe):
    if not axe:
        return
    page.run(pathlib.Path(axe).read_text() + "; window.axe = axe;")
    found = page.run("return axe.run().then(({violations}) => violations.map("
                     "each => each.id + ': ' + each.nodes[0].html))")
    expect(not found, f"axe: {found}")


def shoot(page, out, name, size):
    page.size(*size)
    page.run("return new Promise(done => setTimeout(done, 1500))")
    page.size(size[0], page.run("return document.documentElement.scrollHeight"))
    page.run("return new Promise(done => setTimeout(done, 700))")
    check_layout(page)
    page.screenshot(out / f"{name}.png")


def check_gone(lab, page):
    """A daemon that is gone is told, once, and what was seen stays."""
    lab.stop()
    lab.vms, lab.openers = [], []
    page.wait("!document.getElementById('trouble').hidden")
    text = page.run("return document.getElementById('trouble').innerText")
    expect("does not answer" in text, f"trouble: {text}")
    expect(rows(page, "ports"), "the last picture stays")
    others = [each for each in page.console() if OFFLINE not in each]
    expect(not others, f"console: {others}")


def run(arguments, folder):
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    lab = Lab(pathlib.Path(arguments.bin), folder)
    with Browser() as page:
        try:
            lab.start()
            page.size(*WIDE)
            page.open(lab.url)
            page.wait("document.getElementById('live').textContent == 'live'")
            check_tables(lab, page)
            check_life(lab, page)
            check_one_port(page)
            check_forwards(lab, page)
            page.run("return new Promise(done => setTimeout(done, arguments[0]))",
                     1000 * arguments.film)
            for dark in (False, True):
                page.look(dark=dark)
                theme = "dark" if dark else "light"
                shoot(page, out, theme, WIDE)
                shoot(page, out, f"{theme}-phone", NARROW)
                check_accessible(page, arguments.axe)
            check_quiet(page, lab.url)
            check_hidden(page)

            page.size(*WIDE)
            page.open(lab.open("--read-only"))
            page.wait("/You may\\s+look$/m.test(document.getElementById('facts').innerText)")
            seen = page.run("return [...document.querySelectorAll('form, #forwards td button')]"
                            ".some(each => each.checkVisibility())")
            expect(not seen, "who may only look sees what changes")
            page.open(lab.url.split("?")[0].replace("127.0.0.1", "localhost"))
            expect("token" in page.run("return document.body.innerText"), "no token, no page")
            page.open(lab.url)
            page.wait("document.querySelectorAll('#ports tbody tr').length >= 5")
            page.console()
            check_gone(lab, page)
        finally:
            if lab.switch:
                lab.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, help="folder of vmswitchd")
    parser.add_argument("--out", required=True, help="folder for the pictures")
    parser.add_argument("--axe", default=os.environ.get("VMSWITCH_AXE"), help="axe.min.js")
    parser.add_argument("--film", type=int, default=0, help="seconds of traffic for the pictures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vmswitch-dashboard-") as folder:
        try:
            run(arguments, pathlib.Path(folder))
        except Missing as missing:
            print(f"skipped: {missing}")
            return 77
        except Failure as failure:
            traceback.print_exc()
            print(f"failed: {failure}")
            return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
