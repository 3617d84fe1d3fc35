"""A headless Chromium, driven by the W3C WebDriver protocol: what the tests need of it."""

import base64
import http.client
import json
import re
import shutil
import subprocess
import tempfile
import time

CONSOLE = "goog:loggingPrefs"


class Missing(Exception):
    """The machine has no browser."""


class WebDriverError(Exception):
    pass


class Browser:
    """Each has a profile of its own, which is removed with it."""

    def __init__(self, dark=False):
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        driver = shutil.which("chromedriver")
        if not browser or not driver:
            raise Missing("chromium and chromium-driver are not installed")
        self.profile = tempfile.TemporaryDirectory(prefix="vmswitch-browser-")
        self.driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.session = None
        try:
            self.port = self._port()
            arguments = [
                "--headless=new",
                "--no-sandbox",  # the tests may run as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
                f"--user-data-dir={self.profile.name}",
            ]
            options = {"binary": browser, "args": arguments}
            capabilities = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                CONSOLE: {"browser": "ALL", "performance": "ALL"},
            }
            made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = made["sessionId"]
            self.look(dark=dark)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _port(self):
        for line in self.driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                return int(found[1])
        raise WebDriverError("chromedriver did not start")

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            text = None if method == "GET" else json.dumps(body or {})
            connection.request(method, path, text, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(f"{value['error']}: {value['message'].splitlines()[0]}")
        return value

    def call(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Runs the body of a function; what it returns comes back, awaited."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=15):
        """Until the expression is true; its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(f"return ({script});")
            if value:
                return value
            if time.monotonic() > end:
                raise WebDriverError(f"after {seconds} s still not: {script}")
            time.sleep(0.1)

    def look(self, dark=False, calm=True):
        """Which of the page's looks is asked for."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"},
        ]
        self.devtools("Emulation.setEmulatedMedia", media="screen", features=features)

    def size(self, width, height):
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def press(self, *keys):
        """Keys in a row, as from a keyboard; "\\ue004" is Tab, "\\ue007" Enter."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": steps}]})

    def screenshot(self, path, whole=True):
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def console(self):
        """Warnings and errors since the last look."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self):
        """Addresses that were asked for since the last look."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def close(self):
        if self.session:
            try:
                self.call("DELETE", "")
            except (OSError, WebDriverError):
                pass
            self.session = None
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.profile.cleanup()
