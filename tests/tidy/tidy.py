#!/usr/bin/env python3
"""House style that a formatter cannot check: layout, include arrows, sizes, wording.

Theory of operation. A rule is a generator over a tree (path -> text) that yields one finding for
each breach. `tidy.py` applies all rules to the working tree; `tidy.py --self-test` applies each
rule to small trees of which one is sound and the others each have one breach; so a rule that can
no longer fail is found. `tidy.py --update` rewrites the files quoted in CONTRIBUTING.md.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CXX = (".hpp", ".cpp", ".cc")
TEXT = CXX + (".md", ".py", ".sh", ".txt", ".cmake", ".json", ".toml", ".supp", ".yml")
TOP_LEVEL = set(
    "CMakeLists.txt CMakePresets.json CHANGELOG.md CONTRIBUTING.md LICENSE README.md dev .ci "
    ".clang-format .clang-tidy .gitignore .github actors app config tests transport vmnet".split()
)
MOST_LINES = 400
MOST_COLUMNS = 100
LONG_FILES = {  # path -> why its idea cannot be told in MOST_LINES
}


def finding(path, line, text):
    return f"{path}:{line}: {text}"


def lines_of(tree, suffixes):
    for path, text in tree.items():
        if path.endswith(suffixes):
            for number, line in enumerate(text.splitlines(), 1):
                yield path, number, line


# --- Layout and arrows (app -> actors -> {vmnet, transport} -> transport/frame) -------------------

# The first prefix that fits says from where a file may include; "std" is standard headers only.
DATAPATH = r"actors/(switch/(mac_table|forwarding)|port/(ingress_buffer|egress_queue))\b"
FRAME_SYSTEM = {"sys/mman.h"}  # slabs ask the kernel for their pages
ARROWS = [
    (r"transport/frame/", ["transport/frame/"]),
    (r"transport/", ["transport/"]),
    (r"vmnet/", ["vmnet/", "transport/"]),
    (DATAPATH, ["actors/switch/", "actors/port/", "actors/port_id.hpp", "actors/port_flags.hpp",
                "transport/"]),
    (r"actors/", ["actors/", "vmnet/", "transport/"]),
    (r"app/", ["app/", "actors/", "vmnet/", "transport/"]),
    (r"tests/", [""]),
]
CAF_USERS = re.compile(r"(actors|app|tests)/")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def includes(tree):
    for path, number, line in lines_of(tree, CXX):
        if match := INCLUDE.match(line):
            yield path, number, match[1] == '"', match[2]


def rule_arrows(tree):
    """Arrows only point down; project files are included from the root of the tree."""
    for path, number, quoted, target in includes(tree):
        allowed = next((below for prefix, below in ARROWS if re.match(prefix, path)), None)
        if allowed is None:
            continue
        if quoted and target not in tree:
            yield finding(path, number, f'"{target}" is no file of ours, seen from the root')
        elif quoted and not target.startswith(tuple(allowed)):
            yield finding(path, number, f'may not include "{target}": arrows only point down')
        elif path.startswith("transport/frame/") and not quoted and re.search(r"[./]", target):
            if target not in FRAME_SYSTEM:
                yield finding(path, number, f"<{target}>: standard library only here")


def rule_caf(tree):
    """CAF lives in actors/, app/ and tests/, and not in pure logic."""
    for path, number, _, target in includes(tree):
        pure = not CAF_USERS.match(path) or re.match(DATAPATH, path)
        if target.startswith("caf/") and pure:
            yield finding(path, number, f"<{target}>: no CAF here")


CAF_VERSION_KNOWERS = re.compile(r"actors/caf[^/]*\.[ch]pp$|tests/support/actor_fixture")


def rule_caf_version(tree):
    """Only actors/caf* and the actor fixture know which CAF they meet."""
    for path, number, line in lines_of(tree, CXX):
        if re.search(r"\bCAF_(MAJOR_|MINOR_|PATCH_)?VERSION\b", line):
            if not CAF_VERSION_KNOWERS.match(path):
                yield finding(path, number, "the version of CAF is tested in actors/caf* only")


def rule_top_level(tree):
    """The top level is fixed."""
    for name in sorted({path.split("/")[0] for path in tree} - TOP_LEVEL):
        yield finding(name, 1, "not one of the names of the top level")


PLATFORM_IF = re.compile(
    r"\s*#\s*(if|ifdef|ifndef|elif|elifdef)\b.*"
    r"(__linux|__APPLE__|__MACH__|_WIN32|__FreeBSD__|__OpenBSD__|__NetBSD__|__unix|TARGET_OS_)"
)


def rule_platform(tree):
    """Platform is chosen by file name."""
    for path, number, line in lines_of(tree, CXX):
        if PLATFORM_IF.match(line) and not re.search(r"_(linux|darwin)\.\w+$", path):
            yield finding(path, number, "make it two files, x_linux.cpp and x_darwin.cpp")


# --- Text -----------------------------------------------------------------------------------------


def rule_file_length(tree):
    """At 400 lines a file has a second idea."""
    for path, text in tree.items():
        count = text.count("\n")
        if path.endswith(CXX + (".py",)) and count > MOST_LINES and path not in LONG_FILES:
            yield finding(path, count, f"{count} lines: which second idea can move out?")


def is_text(path):
    return path.endswith(TEXT) or os.path.basename(path) in {"dev", "run"}


def rule_lines(tree):
    """At most 100 columns in code; no tabs, no trailing blanks, one newline at the end."""
    for path, text in tree.items():
        if not is_text(path):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > MOST_COLUMNS and not path.endswith((".md", ".json", ".toml")):
                yield finding(path, number, f"{len(line)} columns")
            if "\t" in line:
                yield finding(path, number, "a tab")
            if line != line.rstrip():
                yield finding(path, number, "blanks at the end")
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield finding(path, text.count("\n"), "wants one newline at the end")


def rule_pragma_once(tree):
    """A header opens with #pragma once."""
    for path, text in tree.items():
        if path.endswith(".hpp") and not text.startswith("#pragma once\n"):
            yield finding(path, 1, "wants #pragma once in its first line")


# Written in pieces, so that this file needs no exception.
BANNED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")


def rule_banned_words(tree):
    """Nothing is left for later without an issue."""
    for path, number, line in lines_of({p: t for p, t in tree.items() if is_text(p)}, ""):
        if match := BANNED.search(line):
            yield finding(path, number, f"{match[0]}: do it now, or file it as an issue")


# --- Documents ------------------------------------------------------------------------------------

CHANGE_KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def rule_changelog(tree):
    """CHANGELOG.md follows Keep a Changelog: Unreleased first, then versions, newest first."""
    path = "CHANGELOG.md"
    lines = tree.get(path, "").splitlines()
    if not lines or lines[0] != "# Changelog":
        yield finding(path, 1, "wants to begin with # Changelog")
        return
    releases = [(n, line[3:]) for n, line in enumerate(lines, 1) if line.startswith("## ")]
    if not releases or releases[0][1] != "[Unreleased]":
        yield finding(path, 1, "its first section is to be ## [Unreleased]")
    last = None
    for number, title in releases[1:]:
        match = re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d\d-\d\d", title)
        version = match and tuple(map(int, match.groups()))
        if not version:
            yield finding(path, number, f"not like [1.2.3] - 2030-12-31: {title}")
        elif last and version >= last:
            yield finding(path, number, "the newest version comes first")
        last = version or last
    for number, line in enumerate(lines, 1):
        if line.startswith("### ") and line[4:] not in CHANGE_KINDS:
            yield finding(path, number, f"no kind of change: {line[4:]}")


QUOTE = re.compile(r"^`([\w./]+)`:\n\n```\w*\n(.*?)^```$", re.M | re.S)


def rule_quoted_files(tree):
    """The example in CONTRIBUTING.md is real: a header, a source and a test as they are."""
    path = "CONTRIBUTING.md"
    text = tree.get(path, "")
    quotes = list(QUOTE.finditer(text))
    if len(quotes) < 3:
        yield finding(path, 1, "wants a header, a source and a test, each as `path`: and a block")
    for quote in quotes:
        if tree.get(quote[1]) != quote[2]:
            line = text.count("\n", 0, quote.start()) + 1
            yield finding(path, line, f"{quote[1]} has changed: tests/tidy/tidy.py --update")


RULES = [value for name, value in list(globals().items()) if name.startswith("rule_")]


# --- The working tree -----------------------------------------------------------------------------


def paths():
    """What git tracks or would track; without git, every file outside build/."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return sorted(path for path in listed.split("\0") if path)
    except (OSError, subprocess.CalledProcessError):
        found = (str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file())
        return sorted(p for p in found if not re.match(r"(build|\.git|\.cache)/", p))


def working_tree():
    tree = {}
    for path in paths():
        file = ROOT / path
        if file.is_file():
            tree[path] = file.read_bytes().decode(errors="replace") if readable(path) else ""
    return tree


def readable(path):
    return is_text(path) or "." not in os.path.basename(path)


def update_quotes():
    file = ROOT / "CONTRIBUTING.md"
    tree = working_tree()
    fence = re.compile(QUOTE.pattern.replace("^`([", "(^`([").replace("\\n(.*?)", "\\n)(.*?)"),
                       re.M | re.S)
    file.write_text(fence.sub(lambda m: m[1] + tree[m[2]] + "```", file.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="show that each rule can fail")
    parser.add_argument("--update", action="store_true", help="quote files anew")
    options = parser.parse_args()
    if options.self_test:
        import self_test

        return self_test.run(RULES)
    if options.update:
        update_quotes()
    tree = working_tree()
    findings = [text for rule in RULES for text in rule(tree)]
    print("\n".join(findings) if findings else f"{len(RULES)} rules, {len(tree)} files: sound")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
