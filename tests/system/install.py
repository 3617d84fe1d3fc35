#!/usr/bin/env python3
"""What `cmake --install` makes: a complete tree, and units that systemd accepts.

    install.py BUILD_FOLDER
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("vmswitchd", "vmswitchctl", "vmswitch-run")
LINKS = {"socket_vmnet": "vmswitchd", "socket_vmnet_client": "vmswitch-run"}
FILES = (
    "share/doc/vmswitch/LICENSE",
    "share/doc/vmswitch/README.md",
    "share/doc/vmswitch/CHANGELOG.md",
    "share/doc/vmswitch/examples/vmswitch.toml",
    "share/doc/vmswitch/examples/shared.toml",
    "lib/sysusers.d/vmswitch.conf",
)
MAN_PAGES = {"man8/vmswitchd.8": "--vmnet-mode", "man1/vmswitchctl.1": "capture",
             "man1/vmswitch-run.1": "CMD"}
MAN_ALIASES = {
    "man8/socket_vmnet.8": "man8/vmswitchd.8",
    "man1/socket_vmnet_client.1": "man1/vmswitch-run.1",
}
COMPLETIONS = {
    "bash": "bash-completion/completions/vmswitchctl",
    "zsh": "zsh/site-functions/_vmswitchctl",
    "fish": "fish/vendor_completions.d/vmswitchctl.fish",
}
UNITS = tuple(
    f"lib/systemd/{manager}/vmswitchd.{kind}"
    for manager in ("system", "user")
    for kind in ("service", "socket")
)


def output_of(*command):
    """What a command says on both its outputs; its failure ends the test."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"FAILED ({done.returncode}): {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def check_programs(prefix):
    for name in PROGRAMS:
        output_of(prefix / "bin" / name, "--version")
    for link, program in LINKS.items():
        path = prefix / "bin" / link
        expect(path.is_symlink() and str(path.readlink()) == program, f"{link} leads to {program}")
        expect(link in output_of(path, "--help"), f"the help of {link} names it")
    for path in (prefix / "bin").iterdir():
        expect("bench" not in path.name and "demo" not in path.name, f"{path.name} is for tests")


def check_man_pages(prefix):
    for page, word in MAN_PAGES.items():
        text = (prefix / "share/man" / page).read_text()
        expect(text.startswith(".TH "), f"{page} is a manual page")
        expect(word in text.replace("\\-", "-"), f"{page} tells of {word}")
    for page, stands_for in MAN_ALIASES.items():
        text = (prefix / "share/man" / page).read_text()
        expect(text == f".so {stands_for}\n", f"{page} leads to {stands_for}")


def check_completions(prefix):
    for shell, file in COMPLETIONS.items():
        text = (prefix / "share" / file).read_text()
        made = output_of(prefix / "bin" / "vmswitchctl", "completion", shell)
        expect(text == made and "capture" in text, f"{file} is what vmswitchctl makes for {shell}")
        if shutil.which(shell):
            output_of(shell, "-n", prefix / "share" / file)
    # bash looks for a file of the program's name, and then for the function that is registered.
    script = f". '{prefix}/share/{COMPLETIONS['bash']}' && complete -p vmswitchctl"
    expect("vmswitchctl" in output_of("bash", "-c", script), "bash completes vmswitchctl")


def check_units(prefix):
    for unit in UNITS:
        text = (prefix / unit).read_text()
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        for line in lines:
            if line.startswith("ExecStart="):
                program = line.removeprefix("ExecStart=").split()[0]
                expect(program == f"{prefix}/bin/vmswitchd", f"{unit} starts {program}")
        expect("@bin@" not in text and "@doc@" not in text, f"{unit} has paths filled in")
    if not shutil.which("systemd-analyze"):
        print("left out: systemd-analyze is missing (apt-get install systemd)")
        return
    for manager in ("system", "user"):
        units = [prefix / unit for unit in UNITS if f"/{manager}/" in unit]
        analyze = ["env", f"XDG_RUNTIME_DIR={prefix}", "systemd-analyze", f"--{manager}"]
        said = output_of(*analyze, "--man=no", "verify", *units)
        expect(said == "", f"systemd-analyze verify says about the {manager} units:\n{said}")


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vmswitch-install.") as name:
        prefix = pathlib.Path(name).resolve() / "opt"
        output_of("cmake", "--install", build, "--prefix", prefix)
        pages = (f"share/man/{page}" for page in MAN_PAGES)
        completions = (f"share/{file}" for file in COMPLETIONS.values())
        for file in (*FILES, *UNITS, *pages, *completions):
            expect((prefix / file).is_file(), f"{file} is installed")
        check_programs(prefix)
        check_man_pages(prefix)
        check_completions(prefix)
        check_units(prefix)
        staged = pathlib.Path(name) / "stage"
        output_of("env", f"DESTDIR={staged}", "cmake", "--install", build, "--prefix", "/usr")
        unit = staged / "usr/lib/systemd/system/vmswitchd.service"
        expect("ExecStart=/usr/bin/vmswitchd " in unit.read_text(), "DESTDIR is not in the units")
    print("passed")


if __name__ == "__main__":
    main()
