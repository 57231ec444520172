#!/usr/bin/env python3
"""Runs the tests of the page in Chromium: run.py --program build/bin/hum [--screenshots FOLDER] [TEST...]

Exits with 77, which ctest calls skipped, where `make page` has not installed Chromium and the Python packages.
"""

import argparse
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # it would be an untracked file beside the tests
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / "build" / "page" / "packages"
SKIPPED = 77


def missing():
    wanted = ["/usr/bin/chromium", "/usr/bin/chromedriver", PACKAGES / "selenium", PACKAGES / "axe_selenium_python"]
    return [str(path) for path in wanted if not pathlib.Path(path).exists()]


def find_packages():
    sys.path[:0] = [str(HERE), str(PACKAGES)]
    os.environ["SE_OFFLINE"] = "true"  # selenium must not look for drivers in the network


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "hum"))
    parser.add_argument("--sample-report", default=str(ROOT / "build" / "tests" / "page" / "hum_sample_report"))
    parser.add_argument("--tiny-spleeter", default=str(ROOT / "build" / "tests" / "page" / "hum_tiny_spleeter"))
    parser.add_argument("--screenshots", default=str(ROOT / "build" / "page" / "screenshots"))
    parser.add_argument("tests", nargs="*",
                        default=["journeys_test", "corrections_test", "faults_test", "modules_test", "session_test",
                                 "songs_test", "report_test"])
    arguments = parser.parse_args()
    if missing():
        print(f"skipped: {', '.join(missing())} missing; `make page` installs them", file=sys.stderr)
        return SKIPPED
    find_packages()
    os.environ.update(HUM_PAGE_PROGRAM=arguments.program, HUM_PAGE_SCREENSHOTS=arguments.screenshots,
                      HUM_PAGE_SAMPLE_REPORT=arguments.sample_report, HUM_PAGE_TINY_SPLEETER=arguments.tiny_spleeter)
    found = unittest.defaultTestLoader.loadTestsFromNames(arguments.tests)
    return 0 if unittest.TextTestRunner(verbosity=2).run(found).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
