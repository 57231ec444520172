#!/usr/bin/env python3
"""Times how long commits take to build: the bars `first-sound` and `rebuild`. docs/building.md holds the figures.

Usage: tools/build_times.py [--tests] COMMIT...    for example: tools/build_times.py 8ba16b9 HEAD
Each commit is cloned into a temporary folder, with this clone's wheels and without a compiler cache, and built: `make
demo` is the first sound, `make build` then builds the tests. After that three edits, each followed by linking `hum`.
With --tests it also runs the tests. Needs an idle machine with two cores for about 15 minutes a commit, 30 with --tests.
Prints a table and JSON. Standard library only.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENVIRONMENT = dict(os.environ, CCACHE_DISABLE="1")

# What is edited: a file, what to look for, what to write instead.
EDITS = {
    "a declaration in graph/ops.h": ("src/graph/ops.h", r"\Z", "\nnamespace hum::graph {\nvoid added_declaration();\n}\n"),
    "a constant of the attention kernel": ("src/kernels/attention/attention_forward_cpu.cpp", r"(constexpr \w+ k\w+ = )(\d+)",
                                           lambda match: f"{match[1]}{int(match[2]) + 1}"),
    "a help text of a command": ("src/cli/commands/presets.cpp", '"print JSON"', '"print JSON, for programs"'),
}


def seconds_of(folder, *command):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"build_times: `{' '.join(command)}` failed:\n{done.stdout[-3000:]}")
    return round(time.monotonic() - start, 1)


def edit(folder, file, pattern, replacement):
    text = (folder / file).read_text()
    edited, count = re.subn(pattern, replacement, text, count=1)
    if count != 1:
        sys.exit(f"build_times: {file} has no {pattern}")
    (folder / file).write_text(edited)


def times_in(folder, run_tests):
    """Seconds by what was built, in a fresh clone."""
    times = {"first sound": seconds_of(folder, "make", "demo"), "then the tests": seconds_of(folder, "make", "build")}
    if run_tests:
        times["the tests themselves"] = seconds_of(folder, "make", "test")
    for name, change in EDITS.items():
        edit(folder, *change)
        times[f"hum after {name}"] = seconds_of(folder, "ninja", "-C", "build", "hum")
    return times


def times_of(commit, run_tests):
    with tempfile.TemporaryDirectory(prefix="hum-build-times-") as temporary:
        folder = pathlib.Path(temporary) / "hum"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True)
        (folder / "build").mkdir()
        subprocess.run(["cp", "-a", ROOT / "build" / "third_party", folder / "build"], check=True)
        return times_in(folder, run_tests)


def main():
    run_tests = "--tests" in sys.argv[1:]
    commits = [word for word in sys.argv[1:] if word != "--tests"]
    if not commits or any(commit.startswith("-") for commit in commits):
        sys.exit(__doc__)
    times = {}
    for commit in commits:
        name = subprocess.run(["git", "rev-parse", "--short", commit], cwd=ROOT, check=True, capture_output=True, text=True)
        times[name.stdout.strip()] = times_of(name.stdout.strip(), run_tests)
    first, *others = times
    for what, seconds in times[first].items():
        ratios = "".join(f"  {times[commit][what]:8.1f} s ({times[commit][what] / seconds:.2f} x)" for commit in others)
        print(f"{what:50} {seconds:8.1f} s{ratios}")
    print(json.dumps(times))


if __name__ == "__main__":
    main()
