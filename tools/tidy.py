#!/usr/bin/env python3
"""Runs clang-tidy on the sources that changed since it last passed, one process per core.

build/tidy records each pass under a hash of the source, its own headers of the repository, and .clang-tidy.
Usage: tools/tidy.py [PART-OF-A-PATH]. Needs a finished build in build/. Standard library only.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
PASSED = BUILD / "tidy"
CLANG_TIDY = "clang-tidy-19"


def included_files():
    """For each object file, the files of the repository that it was compiled from."""
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    files, current = {}, None
    for line in text.splitlines():
        if line.startswith("    "):
            path = (BUILD / line.strip()).resolve()
            if path.is_relative_to(ROOT) and not path.is_relative_to(BUILD):
                current.append(path)
        elif line.strip():
            current = files.setdefault(line.split(":")[0], [])
    return files


def key_of(command, files):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + command.encode())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check(source, key):
    run = subprocess.run(
        [CLANG_TIDY, "--quiet", "-p", BUILD, source], capture_output=True, text=True, cwd=ROOT, check=False
    )
    if run.returncode == 0:
        (PASSED / key).touch()
        return True
    print(run.stdout.strip() or run.stderr.strip(), flush=True)
    return False


def main(part):
    PASSED.mkdir(parents=True, exist_ok=True)
    files, todo = included_files(), {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if not source.is_relative_to(ROOT / "src") or part not in entry["file"] or source.suffix != ".cpp":
            continue
        target = re.search(r" -o (\S+)", entry["command"]).group(1)
        key = key_of(entry["command"], files.get(target, [source]))
        if not (PASSED / key).exists():
            todo[entry["file"]] = key
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(check, todo.keys(), todo.values()))
    print(f"tidy: {len(passed)} checked, {passed.count(False)} with findings")
    return 1 if False in passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
