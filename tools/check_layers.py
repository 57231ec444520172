#!/usr/bin/env python3
"""Checks the includes between the folders of src/, the includes of src/ in bench/ and tests/, and the length of files.

Every `#include "folder/..."` must follow ARROWS, directly or over several steps. A source may include only folders in
the DEPS of its CMakeLists.txt and their dependencies; a test may also include those in TEST_DEPS. Only the places that
LEAVES names may include its folders. Of a folder in DOORS, other folders may include only one header.
Not checked: cycles inside a folder, unused includes. Standard library only.
"""

import pathlib
import re
import sys

# The folders that each folder may include. It may also include theirs.
ARROWS = {
    "base": "",
    "monitor": "base",
    "audio": "base",
    "graph": "base",
    "pjrt": "base",
    "runtime": "graph pjrt monitor base",
    "kernels": "graph pjrt base",
    "data": "audio monitor base",
    "nn": "kernels graph base",
    "models": "nn runtime audio base",  # runtime: a model's session.cpp runs what model.cpp describes
    "train": "nn runtime data monitor base",
    "plan": "nn graph base",
    "pipeline": "nn runtime data audio base",
    "eval": "pipeline nn runtime data audio base",
    "decode": "pipeline audio base",
    "app": "decode base monitor audio graph pjrt runtime kernels data nn models train plan pipeline eval",
    "serve": "app decode base monitor audio graph pjrt runtime kernels data nn models train plan pipeline eval",
    "cli": "serve app decode base monitor audio graph pjrt runtime kernels data nn models train plan pipeline eval",
}
# The places that may include these folders, besides the folders themselves. Humming does not need the planner.
LEAVES = {
    "cli": [],
    "plan": ["app/plan", "cli", "bench", "tests"],
    "app/plan": ["cli", "bench", "tests"],
}
# Folders with only one public header.
DOORS = {
    "pipeline/sound_quality": "pipeline/sound_quality/sound_quality.h",
}
LINES_NOTED, LINES_MAX = 300, 600
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# Code that only tests and benches use.
TEST_FILE = re.compile(r"(_test|_bench)\.cpp$|/test_?\w*\.h$|/testing\w*\.(h|cpp)$|_test\.h$|/bench_impl\.h$|/testdata/")
KEYWORDS = ("DEPS", "LINK", "TEST_DEPS")


def closure(folders, arrows):
    seen, todo = set(), list(folders)
    while todo:
        folder = todo.pop()
        if folder not in seen:
            seen.add(folder)
            todo += arrows.get(folder, "").split()
    return seen


def declared(cmake_text, folder):
    """The DEPS and TEST_DEPS of hum_library(folder ...), with ${variables} set in the same file."""
    text = re.sub(r"#.*", "", cmake_text)
    for name, value in re.findall(r"\bset\((\w+)\s+([^)]*)\)", text):
        text = text.replace("${%s}" % name, value)
    call = re.search(r"\bhum_library\(\s*%s\b([^)]*)\)" % folder, text)
    found, keyword = {"DEPS": set(), "TEST_DEPS": set()}, None
    for word in call.group(1).split() if call else []:
        if word in KEYWORDS:
            keyword = word
        elif keyword in found:
            found[keyword].add(word)
    return found["DEPS"], found["TEST_DEPS"]


class Checker:
    def __init__(self, root):
        self.root, self.faults, self.long_files = root, [], []

    def fault(self, path, line, text):
        self.faults.append(f"{path.relative_to(self.root)}:{line}: {text}")

    def check_folder(self, folder):
        cmake = folder / "CMakeLists.txt"
        allowed = closure([folder.name], ARROWS)
        deps, test_deps = declared(cmake.read_text() if cmake.exists() else "", folder.name)
        for dep in sorted(deps - allowed):
            self.fault(cmake, 1, f"DEPS {dep}: {folder.name} must not depend on {dep}")
        linked = closure({folder.name} | deps, ARROWS)
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu"):
                self.check_file(path, folder.name, allowed, linked, test_deps)

    def check_file(self, path, folder, allowed, linked, test_deps):
        is_test = TEST_FILE.search("/" + str(path.relative_to(self.root)))
        lines = path.read_text(errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            target = match.group(1).split("/")[0] if match and "/" in match.group(1) else None
            if target:
                self.check_walls(path, number, match.group(1))
            if target in ARROWS:
                self.check_include(path, number, folder, target, allowed, linked, test_deps if is_test else set())
            if not line.isascii():
                self.fault(path, number, "a character outside ASCII")
            if path.suffix == ".h" and re.match(r"\s*using namespace\b", line):
                self.fault(path, number, "`using namespace` in a header")
        if len(lines) > LINES_MAX:
            self.fault(path, len(lines), f"{len(lines)} lines: split it (at most {LINES_MAX})")
        elif len(lines) > LINES_NOTED:
            self.long_files.append(f"{path.relative_to(self.root)}: {len(lines)} lines")

    def check_walls(self, path, number, included):
        """LEAVES and DOORS."""
        place = str(path.relative_to(self.root)).removeprefix("src/")
        for leaf, users in LEAVES.items():
            if included.startswith(leaf + "/") and not place.startswith(tuple(u + "/" for u in [leaf, *users])):
                self.fault(path, number, f"{included}: only {', '.join([leaf, *users])} may include {leaf}")
        for folder, door in DOORS.items():
            if included.startswith(folder + "/") and included != door and not place.startswith(folder + "/"):
                self.fault(path, number, f"{included}: from outside include {door}")

    def check_users(self, folder):
        """bench/ and tests/, which may include all folders of src/ except as LEAVES and DOORS restrict them."""
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cpp", ".cu")):
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                if match := INCLUDE.match(line):
                    self.check_walls(path, number, match.group(1))

    def check_include(self, path, number, folder, target, allowed, linked, test_deps):
        if target in closure(test_deps, ARROWS):
            return
        if target not in allowed:
            self.fault(path, number, f"{folder} must not include {target}")
        elif target not in linked:
            self.fault(path, number, f"{target} is not among the DEPS of src/{folder}/CMakeLists.txt")


def main(root):
    checker = Checker(root)
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if folder.name in ARROWS:
            checker.check_folder(folder)
        else:
            checker.fault(folder, 1, "tools/check_layers.py does not know this folder")
    for name in ("bench", "tests"):
        checker.check_users(root / name)
    for line in checker.long_files:
        print(f"long (over {LINES_NOTED}): {line}")
    for line in checker.faults:
        print(line, file=sys.stderr)
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[1]))
