#!/usr/bin/env python3
"""Tests that bench/bars.txt, bench/results and README agree."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from bars import readme, table  # noqa: E402
from bars.definitions import RESULTS, read_bars  # noqa: E402

BARS = read_bars(ROOT / "bench" / "bars.txt")
MEASURED = ("compiler", "plugin", "processor", "cores", "memory_gib", "load")


class Figures(unittest.TestCase):
    def setUp(self):
        self.results = table.read_results(BARS)
        self.readme = readme.README.read_text()

    def test_every_stored_result_is_of_a_bar(self):
        for path in RESULTS.glob("*.json"):
            self.assertIn(path.stem, BARS)
            self.assertEqual(self.results[path.stem]["name"], path.stem)

    def test_every_stored_result_says_where_it_comes_from(self):
        for name, result in self.results.items():
            with self.subTest(name):
                self.assertRegex(result["commit"], "^[0-9a-f]{40}$")
                self.assertRegex(result["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                if "provenance" in result:  # measured before these were recorded
                    self.assertIn("recovered from the history", result["provenance"])
                    self.assertTrue(result["machine"])
                else:
                    self.assertEqual([key for key in MEASURED if key not in result], [])

    def test_readme_states_what_is_stored(self):
        self.assertTrue(self.readme == readme.current(self.results),
                        "README's figures are not those of bench/results: run tools/bench --table")

    def test_readme_names_every_bar_that_is_missed(self):
        for name, result in self.results.items():
            if result["ok"] is False:
                self.assertRegex(self.readme, rf"\| `{re.escape(name)}` \| .* \| .+ \|")

    def test_inputs_of_bars_exist(self):
        for bar in BARS.values():
            for place in bar.inputs:
                self.assertTrue((ROOT / place).exists(), f"{bar.name}: {place}")


if __name__ == "__main__":
    unittest.main()
