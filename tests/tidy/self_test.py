"""For each rule of tidy.py: a sound tree, and trees with one breach each."""

CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- a\n\n## [0.2.0] - 2030-01-02\n"


def changelog(text):
    return {"CHANGELOG.md": text}


HEADERS = ("transport/link.hpp transport/frame/burst.hpp vmnet/ipv4.hpp actors/port.hpp "
           "app/options.hpp tests/support/frames.hpp").split()


def code(text, path="transport/a.cpp"):
    return {path: text}


def include(path, target):
    return {path: f"#include {target}\n", **dict.fromkeys(HEADERS, "")}


def quotes(example):
    text = "".join(f"`a.{kind}`:\n\n```cpp\nint {kind};\n```\n" for kind in ("hpp", "cpp"))
    text += f"`a.cc`:\n\n```cpp\n{example}```\n"
    files = {"a.hpp": "int hpp;\n", "a.cpp": "int cpp;\n", "a.cc": "int a;\n"}
    return {"CONTRIBUTING.md": text, **files}


SOUND = {
    "rule_arrows": [
        include("transport/frame/a.hpp", "<cstdint>"),
        include("transport/frame/a.cpp", '"transport/frame/burst.hpp"'),
        include("transport/a.cpp", '"transport/frame/burst.hpp"'),
        include("transport/a.cpp", "<sys/socket.h>"),
        include("vmnet/a.cpp", '"transport/link.hpp"'),
        include("actors/a.cpp", '"vmnet/ipv4.hpp"'),
        include("app/a.cpp", '"actors/port.hpp"'),
        include("tests/a.cpp", '"app/options.hpp"'),
    ],
    "rule_caf": [include("actors/a.cpp", "<caf/all.hpp>"), include("app/a.cpp", "<caf/all.hpp>"),
                 include("actors/switch/switch_actor.cpp", "<caf/all.hpp>")],
    "rule_caf_version": [code("#if CAF_VERSION < 1800\n", "actors/caf.hpp"),
                         code("#if CAF_MAJOR_VERSION\n", "tests/support/actor_fixture.cpp")],
    "rule_top_level": [{"transport/a.cpp": "", "dev": "", ".ci/run": ""}],
    "rule_platform": [code("#ifdef __APPLE__\n", "transport/a_darwin.cpp"), code("#ifdef A_HPP\n")],
    "rule_file_length": [code("\n" * 400), code("\n" * 900, "LICENSE")],
    "rule_lines": [code("a\n"), code("x" * 100 + "\n"), code("x" * 300 + "\n", "README.md"),
                   code("\t\n", "tests/fuzz/corpus/a.bin")],
    "rule_pragma_once": [code("#pragma once\n\n#include <a>\n", "transport/a.hpp")],
    "rule_banned_words": [code("mktemp /tmp/a-XX" "XXXX\n", "dev"), code("to do\n")],
    "rule_changelog": [changelog(CHANGELOG), changelog(CHANGELOG + "## [0.1.9] - 2030-01-01\n")],
    "rule_quoted_files": [quotes("int a;\n")],
}

BREACHES = {
    "rule_arrows": [
        include("transport/frame/a.hpp", "<fmt/core.h>"),
        include("transport/frame/a.hpp", "<unistd.h>"),
        include("transport/frame/a.hpp", '"transport/link.hpp"'),
        include("transport/a.cpp", '"vmnet/ipv4.hpp"'),
        include("vmnet/a.cpp", '"actors/port.hpp"'),
        include("actors/a.cpp", '"app/options.hpp"'),
        include("actors/port/egress_queue.cpp", '"vmnet/ipv4.hpp"'),
        include("actors/switch/mac_table.hpp", '"actors/port.hpp"'),
        include("app/a.cpp", '"tests/support/frames.hpp"'),
        include("transport/a.cpp", '"link.hpp"'),
    ],
    "rule_caf": [include("vmnet/a.cpp", "<caf/all.hpp>"), include("transport/a.cpp", "<caf/a.hpp>"),
                 include("actors/switch/forwarding.cpp", "<caf/all.hpp>"),
                 include("actors/port/ingress_buffer.hpp", "<caf/all.hpp>")],
    "rule_caf_version": [code("#if CAF_VERSION < 1800\n", "actors/port.cpp"),
                         code("  #  if CAF_MAJOR_VERSION > 0\n", "app/a.cpp")],
    "rule_top_level": [{"src/a.cpp": ""}, {"notes.md": ""}],
    "rule_platform": [code("#ifdef __linux__\n"), code("#if defined(__APPLE__)\n"),
                      code("#elif defined(_WIN32)\n")],
    "rule_file_length": [code("\n" * 401)],
    "rule_lines": [code("x" * 101 + "\n"), code("\tx\n"), code("x \n"), code("x"), code("x\n\n"),
                   code("x\r\n"), code("y \n", "dev"), code("z \n", "CMakeLists.txt")],
    "rule_pragma_once": [code("#include <a>\n", "transport/a.hpp"),
                         code("// a\n#pragma once\n", "transport/a.hpp")],
    "rule_banned_words": [code("// TO" "DO: later\n"), code("FIX" "ME\n", "README.md"),
                          code("# X" "XX\n", "dev")],
    "rule_changelog": [
        {},
        changelog(CHANGELOG.replace("# Changelog\n", "# Changes\n", 1)),
        changelog(CHANGELOG.replace("## [Unreleased]\n", "")),
        changelog(CHANGELOG.replace("Added", "News")),
        changelog(CHANGELOG.replace("[0.2.0] - 2030-01-02", "0.2.0 (January)")),
        changelog(CHANGELOG + "## [0.10.0] - 2030-01-01\n"),
    ],
    "rule_quoted_files": [{}, quotes("int b;\n"), {"CONTRIBUTING.md": "# Contributing\n"}],
}


def run(rules):
    """Returns the exit code: 0 if every rule accepts what is sound and finds every breach."""
    failures = []
    for rule in rules:
        name = rule.__name__
        if not SOUND.get(name) or not BREACHES.get(name):
            failures.append(f"{name}: no example, sound or not")
        for number, tree in enumerate(SOUND.get(name, []), 1):
            failures += [f"{name}: sound example {number}: {text}" for text in rule(tree)]
        for number, tree in enumerate(BREACHES.get(name, []), 1):
            if len(list(rule(tree))) != 1:
                failures.append(f"{name}: breach {number}: {list(rule(tree))}, not one finding")
    for name in sorted((SOUND.keys() | BREACHES.keys()) - {rule.__name__ for rule in rules}):
        failures.append(f"{name}: examples without a rule")
    print("\n".join(failures) if failures else f"{len(rules)} rules: each can fail")
    return 1 if failures else 0
