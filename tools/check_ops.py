#!/usr/bin/env python3
"""Checks and counts the ops that code outside src/graph/ops names.

Passes, estimates and models read the properties of an op from its row (OpKind in src/graph/op.h), so every new op has
to state them. Code that must recognise a single op names its row, and tools/op_addresses.txt lists the place with the
reason. The check fails for a place that is not listed and for an entry that no longer applies. It also fails for a row
that is missing from the op table, because the op tests would not see it. Standard library only.
"""

import pathlib
import re
import sys

OPS = "src/graph/ops/"
TABLE = OPS + "table.h"
LIST = "tools/op_addresses.txt"
NAME = re.compile(r"\bk[A-Z]\w*Op\b")
ROW = re.compile(r"^(?:const OpDef |HUM_[A-Z]+\()(k[A-Z]\w*Op)\b", re.M)


def names_in(path):
    return set(NAME.findall(re.sub(r"//.*", "", path.read_text(errors="replace"))))


def named(root, rows):
    """{(file, op)} in all sources outside graph/ops."""
    found = set()
    for folder in ("src", "bench", "tests"):
        for path in (root / folder).rglob("*"):
            file = str(path.relative_to(root))
            if path.suffix in (".h", ".cpp") and not file.startswith(OPS):
                found |= {(file, op) for op in names_in(path) & rows}
    return found


def listed(text, faults):
    """{(file, op)} in the list, whose lines are: file, ops, a colon, the reason."""
    entries = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place, _, reason = line.partition(":")
        file, *ops = place.split()
        if not ops or not reason.strip():
            faults.append(f"{LIST}:{number}: expected FILE OP...: REASON")
        entries |= {(file, op) for op in ops}
    return entries


def main(root):
    faults = []
    rows = names_in(root / TABLE)
    for path in sorted((root / OPS).glob("*.cpp")):
        for op in sorted(set(ROW.findall(path.read_text())) - rows):
            faults.append(f"{path.relative_to(root)}: {op} is not in {TABLE}")
    found, allowed = named(root, rows), listed((root / LIST).read_text(), faults)
    for file, op in sorted(found - allowed):
        faults.append(f"{file}: names {op}: use its properties in OpKind (graph/op.h), or list it in {LIST}")
    for file, op in sorted(allowed - found):
        faults.append(f"{LIST}: {file} does not name {op}: remove the entry")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"ops named outside {OPS}: {len(found)} in {len({file for file, _ in found})} files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[1]))
