#!/usr/bin/env python3
"""Finds phrases that read as translated, in all text that people read: documents, help, errors, comments.

Each row of WORDS is a phrase and its replacement. The list has only phrases that occurred in this repository and are
wrong in any context; the rest is a matter of taste. Lines of docs/cli have at most 120 columns. Standard library only.
"""

import pathlib
import re
import subprocess
import sys

WORDS = [
    (r"goes on (from|with the same|where)", "resumes"),
    (r"same command goes on", "resumes"),
    (r"(is|are|was|were|be) made again", "recomputed, or: replaced"),
    (r"(tell|tells|told) (\w+ )?apart", "distinguish, separate"),
    (r"of its own", "say what it has"),
    (r"taken apart", "split"),
    (r"foretold", "predicted"),
    (r"witness\w*", "reference"),
    (r"speechless", "without voice"),
    (r"dear to", "expensive to"),
    (r"as good as none", "almost none"),
    (r"none does", "say who does not"),
    (r"without asking anybody", "say what is allowed"),
    (r"what cannot be is", "say what is rejected"),
    (r"in nobody's way", "say what it does not block"),
    (r"without the voice's way", "say what is removed"),
    (r"came to be", "was made"),
    (r"VALL-E's way", "as in VALL-E"),
    (r"must not see", "must not include, must not depend on"),
    (r"(a|of|on|and|from) made (sounds?|posteriors)", "synthetic"),
]
WIDE = "docs/cli/"
MAX_COLUMNS = 120
SUFFIXES = (".md", ".h", ".cpp", ".py", ".sh", ".yaml", ".cmake", ".txt")
PROGRAMS = ("Makefile", "tools/bench", ".ci/run")  # without a suffix
SKIPPED = ("bench/results/", "tests/data/", "tools/check_prose.py")


def faults(root):
    files = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    pattern = re.compile("|".join(f"(?P<w{i}>\\b{words}\\b)" for i, (words, _) in enumerate(WORDS)), re.I)
    for file in files:
        if not file.endswith(SUFFIXES + PROGRAMS) or file.startswith(SKIPPED) or not (root / file).is_file():
            continue
        for number, line in enumerate((root / file).read_text(errors="replace").splitlines(), 1):
            for match in pattern.finditer(line):
                yield f"{file}:{number}: '{match.group(0)}': write '{WORDS[int(match.lastgroup[1:])][1]}'"
            if file.startswith(WIDE) and len(line) > MAX_COLUMNS:
                yield f"{file}:{number}: {len(line)} columns (at most {MAX_COLUMNS})"


def main(root):
    found = list(faults(root))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parents[1]))
