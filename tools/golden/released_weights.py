#!/usr/bin/env python3
"""Stores the metrics of the released weights for tests/quality, measured by build/tests/quality/hum_quality_test."""

import json
import pathlib
import subprocess
import tempfile

from made_by import made_by

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "data" / "quality" / "released_weights.json"
CLIPS_SEED = 20261122  # eval::TestSetOptions


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def processor():
    rows = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next(row.split(":")[1].strip() for row in rows if row.startswith("model name"))


def measured():
    """The figures that the test records; whether it passes is of no interest here."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        program = ROOT / "build" / "tests" / "quality" / "hum_quality_test"
        subprocess.run([program, "--gtest_filter=*MeetTheirFloors*", f"--gtest_output=json:{report}"], cwd=ROOT)
        (suite,) = json.loads(report.read_text())["testsuites"]
    names = ("chroma", "note_f1", "mel_distance", "timbre")
    return {test["row"]: {name: float(test[name]) for name in names} for test in suite["testsuite"]}


def main():
    maker = made_by("released_weights.py", CLIPS_SEED) | {"processor": processor()}
    content = {"made_by": maker, "commit": git("rev-parse", "HEAD"), "figures": measured()}
    OUT.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
