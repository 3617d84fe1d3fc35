"""The daemon under test, on sockets in a private folder."""

from processes import Failure, Process, wait_for

CONFIGURATION = """\
[daemon]
pidfile = "{folder}/pid"

[[network]]
name = "default"
mode = "user"

[[network.listen]]
type = "{kind}"
path = "{folder}/socket"
"""


class Switch:
    def __init__(self, bin_folder, folder, arguments):
        self.socket = folder / "socket"
        self._pidfile = folder / "pid"
        self._process = Process("vmswitchd", [bin_folder / "vmswitchd", *arguments], folder)

    @classmethod
    def from_command_line(cls, bin_folder, folder, *options):
        return cls(
            bin_folder, folder, [*options, f"--pidfile={folder / 'pid'}", folder / "socket"]
        )

    @classmethod
    def from_file(cls, bin_folder, folder, kind, more="", *options):
        """`more` is put behind the usual configuration, in the network's last listener."""
        path = folder / "vmswitch.toml"
        path.write_text(CONFIGURATION.format(folder=folder, kind=kind) + more)
        return cls(bin_folder, folder, ["--config", path, *options])

    def log(self):
        return self._process.log()

    @property
    def pid(self):
        return self._process.pid

    def signal(self, number):
        self._process.signal(number)

    def wait_ready(self):
        """The pidfile is written last, so it says that clients may come."""

        def ready():
            if not self._process.running():
                raise Failure(f"vmswitchd ended at once:\n{self._process.log()}")
            # An older file, of a daemon that was killed, names another process.
            return self._pidfile.exists() and self._pidfile.read_text() == f"{self.pid}\n"

        wait_for("vmswitchd writes its pidfile", ready, 30)

    def expect_running(self):
        if not self._process.running():
            raise Failure(f"vmswitchd has died with status {self._process.wait(0)}")

    def stop(self):
        """SIGTERM ends it within two seconds, in good order, and leaves nothing behind."""
        self._process.terminate()
        status = self._process.wait(2)
        if status != 0:
            raise Failure(f"vmswitchd ended with status {status} on SIGTERM")
        for path in (self.socket, self._pidfile):
            if path.exists():
                raise Failure(f"vmswitchd left {path} behind")

    def kill(self):
        self._process.kill()
