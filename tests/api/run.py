#!/usr/bin/env python3
"""Sends what schemathesis derives from /openapi.json to a real `hum serve`: run.py --program build/bin/hum [--examples N]

Exits with 77, which ctest calls skipped, where `make api` has not installed schemathesis.
"""

import argparse
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # it would be an untracked file beside the tests
ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build" / "api" / "packages"
SKIPPED = 77
sys.path.insert(0, str(ROOT / "tests" / "page"))

import service  # noqa: E402

# Left out: /ready, which says 503 as long as there is no worker, and the check that whatever fits the schema is
# accepted. A schema cannot say which bytes are a sound, or that a note ends after it starts.
OPTIONS = ["--exclude-path", "/ready", "--exclude-checks", "positive_data_acceptance", "--seed", "28", "--no-color"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "hum"))
    parser.add_argument("--examples", default="20", help="requests of each kind for each call")
    arguments = parser.parse_args()
    if not (PACKAGES / "schemathesis").exists():
        print("skipped: schemathesis is missing; `make api` installs it", file=sys.stderr)
        return SKIPPED
    server = service.Service(arguments.program, workers=0)
    try:
        command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run",
                   f"{server.url}/openapi.json", "--max-examples", arguments.examples, *OPTIONS]
        # A folder that goes away: hypothesis keeps a data base of examples where it runs.
        run = subprocess.run(command, cwd=server.folder.name, env=dict(os.environ, PYTHONPATH=str(PACKAGES)))
        status, _ = server.call("GET", "/health")
        print(f"afterwards /health answers {status}")
        return 0 if run.returncode == 0 and status == 200 else 1
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
