#!/usr/bin/env python3
"""Tests of tools/bench and its parts: when it stores a figure, what it stores with it, and its messages on old ones."""

import contextlib
import dataclasses
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from bars import inputs, load, provenance, readme, table  # noqa: E402
from bars.definitions import Bar, read_bars  # noqa: E402


def tool():
    loader = importlib.machinery.SourceFileLoader("bench", str(ROOT / "tools" / "bench"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    loader.exec_module(module)
    return module


bench = tool()


class Repository(unittest.TestCase):
    """A folder with one commit."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.git("init", "--quiet")
        (self.root / "bench" / "results").mkdir(parents=True)
        self.commit({"source.cpp": "1", "README.md": "1", "bench/results/a.json": "{}", "weights/a": "1"})

    def git(self, *arguments):
        return provenance.git(self.root, "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false",
                              *arguments)

    def write(self, files):
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def commit(self, files):
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "m")
        return provenance.head(self.root)


class Load(unittest.TestCase):
    STAT = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 10 20 500 30 1 2 7 100 10\ncpu1 1 0 0 9 0 0 0 0 0 0\nintr 1\n"

    def test_busy_time_is_of_the_cores_that_are_asked_for(self):
        self.assertAlmostEqual(load.busy_seconds(self.STAT, {0}), 140 * load.TICK_S)
        self.assertAlmostEqual(load.busy_seconds(self.STAT, {0, 1}), 141 * load.TICK_S)

    def test_a_tree_is_a_process_with_its_descendants_whatever_their_names(self):
        def stat(pid, parent, *ticks):
            return f"{pid} (a ) b) S {parent} 0 0 0 0 0 0 0 0 0 {' '.join(map(str, ticks))} 20 0"
        stats = [stat(10, 1, 1, 2, 3, 4), stat(11, 10, 10, 0, 0, 0), stat(12, 11, 100, 0, 0, 0), stat(13, 1, 1000, 0, 0, 0)]
        self.assertAlmostEqual(load.tree_seconds(stats, 10), 120 * load.TICK_S)

    def test_the_kernels_threads_are_no_load_but_process_2_of_a_container_is(self):
        def stats(name):
            return [f"2 ({name}) S 0 0 0 0 0 0 0 0 0 0 1 2 0 0 20 0", "30 (kworker/0:1) S 2 0 0 0 0 0 0 0 0 0 0 40 0 0 20 0",
                    "31 (x) S 1 0 0 0 0 0 0 0 0 0 500 0 0 0 20 0"]
        self.assertAlmostEqual(load.KernelThreads().seconds(stats("kthreadd")), 43 * load.TICK_S)
        self.assertEqual(load.KernelThreads().seconds(stats("bash")), 0)

    def test_a_thread_of_the_kernel_that_ends_leaves_its_time_in_the_sum(self):
        def stats(**ticks):
            return ["2 (kthreadd) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0"] + [
                f"{pid[1:]} (kworker/u8:1) S 2 0 0 0 0 0 0 0 0 0 0 {spent} 0 0 20 0" for pid, spent in ticks.items()]
        threads = load.KernelThreads()
        readings = [stats(p30=140), stats(p30=150, p31=5), stats(p31=8), stats(p30=2, p31=8)]  # 30 ends, and starts anew
        ticks = [round(threads.seconds(reading) / load.TICK_S) for reading in readings]
        self.assertEqual(ticks, [140, 155, 158, 160])

    def test_killed_children_leave_theirs_in_the_tree(self):
        load.keep_orphans()
        spin = "import os, time\nwhile time.process_time() < 0.3: pass\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
        before = load.tree_seconds(load.process_stats(), os.getpid())
        parent = subprocess.Popen([sys.executable, "-c", f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {spin!r}])"],
                                  stdout=subprocess.PIPE, text=True)
        grandchild = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        parent.stdout.close()
        os.kill(grandchild, signal.SIGKILL)
        self.assertGreaterEqual(load.tree_seconds(load.process_stats(), os.getpid()), before + 0.3)
        self.assertEqual(os.waitpid(grandchild, 0)[0], grandchild)

    def test_own_children_are_no_load_alive_or_ended(self):
        command = [sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass\ninput()"]
        before = load.tree_seconds(load.process_stats(), os.getpid())
        with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
            deadline = time.monotonic() + 60
            while load.tree_seconds(load.process_stats(), os.getpid()) < before + 0.4:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            child.communicate(b"\n")
        self.assertGreaterEqual(load.tree_seconds(load.process_stats(), os.getpid()), before + 0.4)

    def test_a_process_that_ends_while_times_are_read_counts_once(self):
        def stat(pid, parent, *ticks):
            return f"{pid} (a) S {parent} 0 0 0 0 0 0 0 0 0 {' '.join(map(str, ticks))} 20 0"
        read_text = pathlib.Path.read_text
        for ended_first in (True, False):  # before or after its parent was read
            with tempfile.TemporaryDirectory() as folder:
                proc = pathlib.Path(folder)
                for name, text in (("10", stat(10, 1, 5, 0, 0, 0)), ("11", stat(11, 10, 100, 0, 0, 0))):
                    (proc / name).mkdir()
                    (proc / name / "stat").write_text(text)

                def read(path):
                    text = read_text(path)
                    if (path.parent.name == "11") == ended_first and (proc / "11").exists():
                        (proc / "11" / "stat").unlink()
                        (proc / "11").rmdir()
                        (proc / "10" / "stat").write_text(stat(10, 1, 5, 0, 100, 0))
                    return text
                with mock.patch.object(load, "PROC", proc), mock.patch.object(pathlib.Path, "read_text", read):
                    self.assertAlmostEqual(load.tree_seconds(load.process_stats(), 10), 105 * load.TICK_S)

    def test_the_busiest_ten_seconds_count(self):
        def at(second, others):
            return second, 0.5 * second + others, 0.5 * second
        quiet = [at(s, 0) for s in range(0, 41)]
        self.assertEqual(load.largest_share(quiet, 2), 0)
        burst = [at(s, min(max(s - 20, 0), 2)) for s in range(0, 41)]  # one core for two seconds
        self.assertAlmostEqual(load.largest_share(burst, 2), 2 / (10 * 2))
        self.assertAlmostEqual(load.largest_share([at(0, 0), at(4, 2)], 2), 2 / (4 * 2))

    def test_a_watch_measures_something(self):
        with load.Watch() as watch:
            time.sleep(0.2)
        self.assertTrue(0 <= watch.share <= 1.1)
        self.assertGreater(watch.samples[-1][1], 0)

    def test_waits_for_a_quiet_machine_and_then_no_longer(self):
        clock, others = [0.0], [0.0]
        def sleep(seconds):
            clock[0] += seconds
            others[0] += seconds if clock[0] <= 60 else 0
        with mock.patch.object(load, "sample", lambda: (clock[0], others[0], 0.0)), \
                mock.patch.object(load.time, "sleep", sleep), \
                mock.patch.object(load.time, "monotonic", lambda: clock[0]):
            self.assertEqual(load.wait_for_quiet(lambda text: None), 0)
            self.assertEqual(clock[0], 70)
            clock[0], others[0] = -1000.0, 0.0  # never quiet
            self.assertGreater(load.wait_for_quiet(lambda text: None), load.LOADED)
            self.assertEqual(clock[0], -1000 + load.WAIT_S)


class Provenance(Repository):
    def test_names_the_processor_and_what_it_can(self):
        cpuinfo = ("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC(TM)  CPU @ 2 GHz\n"
                   "stepping\t: 1\nflags\t\t: fpu avx2 avx512f avx512_bf16\n")
        self.assertEqual(provenance.processor(cpuinfo),
                         {"model": "AMD EPYC", "family": "25", "number": "17", "stepping": "1",
                          "features": ["avx2", "avx512f", "avx512_bf16"]})

    def test_names_the_wheel_of_a_plugin(self):
        self.write({"w/p/plugin.so": "", "w/p-1.2.dist-info/RECORD": "p/plugin.so,sha256=0,1\n",
                    "w/p-1.2.dist-info/METADATA": "Name: p\nVersion: 1.2\n\nName: of another\n"})
        self.assertEqual(provenance.wheel_of(self.root / "w/p/plugin.so"), ("p", "1.2"))
        self.assertIsNone(provenance.wheel_of(self.root / "source.cpp"))

    def test_changed_files_leave_out_what_the_tool_writes(self):
        self.write({"README.md": "2", "bench/results/a.json": "2", "untracked": "1"})
        self.assertEqual(provenance.changed_files(self.root), [])
        self.write({"source.cpp": "2"})
        self.assertEqual(provenance.changed_files(self.root), ["source.cpp"])

    def test_changed_files_include_new_ones_that_the_build_reads(self):
        self.write({"src/base/new.cpp": "1", "notes.txt": "1"})
        self.assertEqual(provenance.changed_files(self.root), ["src/base/new.cpp"])


class Measuring(Repository):
    BAR = Bar("a", "quiet", [], [], [], "unused")
    RESULT = {"name": "a", "value": 1.0, "unit": "s", "bar": "<= 2 s", "ok": True, "ours": {"s": 1.0}, "peer": {}}

    def measure(self, before=0.0, during=0.0, line=None, edit=lambda: None, bar=BAR):
        """What is stored then, and what is said."""
        path = self.root / "bench" / "results" / "a.json"
        path.unlink()
        watch = mock.MagicMock()
        watch.__enter__.return_value.share = during
        def run(command, build):
            edit()
            return 0, json.dumps(self.RESULT) if line is None else line
        said = io.StringIO()
        with mock.patch.multiple(bench, ROOT=self.root, RESULTS=path.parent, run=run), \
                mock.patch.object(bench, "prepare"), \
                mock.patch.object(bench.provenance, "build", lambda program: {"compiler": "c", "plugin": {"name": "p"}}), \
                mock.patch.object(bench.load, "wait_for_quiet", lambda say: before), \
                mock.patch.object(bench.load, "share_now", lambda: before), \
                mock.patch.object(bench.load, "Watch", lambda: watch), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            bench.measure(bar)
        stored = json.loads(path.read_text()) if path.exists() else None
        self.write({"bench/results/a.json": "{}"})
        return stored, said.getvalue()

    def test_stores_the_figure_with_where_it_comes_from(self):
        stored, _ = self.measure(before=0.01, during=0.02)
        self.assertEqual(stored["value"], 1.0)
        self.assertEqual(stored["commit"], self.git("rev-parse", "HEAD").strip())
        self.assertRegex(stored["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(stored["load"], {"before": 0.01, "during": 0.02})
        for key in ("compiler", "plugin", "processor", "cores", "memory_gib"):
            self.assertTrue(stored[key], key)

    def test_a_loaded_machine_stores_nothing_and_prints(self):
        for loads in ({"before": 0.06}, {"during": 0.06}):
            stored, said = self.measure(**loads)
            self.assertIsNone(stored)
            self.assertIn("6.0%", said)
            self.assertIn('"value": 1.0', said)

    def test_a_bar_without_times_is_stored_from_a_loaded_machine(self):
        stored, _ = self.measure(before=0.9, during=0.9, bar=dataclasses.replace(self.BAR, load="any"))
        self.assertEqual(stored["load"], {"before": 0.9, "during": 0.9})

    def test_changed_sources_store_nothing(self):
        self.write({"source.cpp": "2"})
        stored, said = self.measure()
        self.assertIsNone(stored)
        self.assertIn("source.cpp", said)

    def test_a_commit_meanwhile_stores_nothing(self):
        stored, said = self.measure(edit=lambda: self.commit({"source.cpp": "3"}))
        self.assertIsNone(stored)
        self.assertIn("the last commit changed", said)

    def test_what_is_no_result_is_refused(self):
        for line, fault in (("words", "not a JSON object"), ('{"name": "a"}', "lacks value"),
                            (json.dumps(self.RESULT | {"name": "b"}), "is of b"),
                            (json.dumps(self.RESULT | {"ok": "maybe"}), "neither true"),
                            (json.dumps(self.RESULT | {"ok": None}), "without a"),
                            (json.dumps(self.RESULT | {"ours": {}}), "is empty")):
            stored, said = self.measure(line=line)
            self.assertIsNone(stored)
            self.assertIn(fault, said)


class Tables(unittest.TestCase):
    def main(self, *names, fault=None):
        """Measures bars, of which b has a fault. Returns the exit status, how often tables are written, what is said."""
        def measure(bar):
            if bar.name == "b" and fault:
                raise fault
            return Measuring.RESULT
        bars = {name: dataclasses.replace(Measuring.BAR, name=name) for name in "abc"}
        said = io.StringIO()
        with mock.patch.multiple(bench, read_bars=lambda path: bars, measure=measure, write_tables=mock.DEFAULT) as mocks, \
                mock.patch.object(sys, "argv", ["bench", *names]), contextlib.redirect_stderr(said):
            try:
                status = bench.main()
            except RuntimeError as error:
                status = str(error)
        return status, mocks["write_tables"].call_count, said.getvalue()

    def test_are_written_once_after_all_bars(self):
        self.assertEqual(self.main("a", "b", "c"), (0, 1, ""))
        self.assertEqual(self.main("--table"), (0, 1, ""))

    def test_are_written_after_an_interrupt_or_an_error(self):
        self.assertEqual(self.main("a", "b", "c", fault=KeyboardInterrupt()),
                         (130, 1, "bench: interrupted: b, c not measured\n"))
        self.assertEqual(self.main("a", "b", "c", fault=RuntimeError("broken")), ("broken", 1, ""))


class Smoke(unittest.TestCase):
    def smoke(self, command):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return bench.smoke(Bar("a", "quiet", [], [], [], command), ROOT)

    def test_runs_the_command_and_looks_at_its_result(self):
        line = json.dumps(Measuring.RESULT | {"ok": False})
        self.assertEqual(self.smoke(f"f() {{ test \"$1\" = --smoke; echo '{line}'; }}; f"), 0)
        self.assertEqual(self.smoke("false"), 1)
        self.assertEqual(self.smoke("echo words"), 1)
        self.assertEqual(self.smoke(f"f() {{ echo '{line}'; exit 3; }}; f"), 1)
        self.assertEqual(self.smoke(f"f() {{ echo '{line.replace('1.0', 'NaN')}'; }}; f"), 1)


class Ages(Repository):
    def test_changed_inputs_are_counted_by_folder(self):
        old = provenance.head(self.root)
        bar = Bar("a", "quiet", [], [], ["weights", "bench/peers/p.py"], "bench/run.py")
        result = {"commit": old, "date": "2026-01-01T00:00:00Z"}
        self.assertEqual(table.changed_inputs(bar, result, None, self.root), "")
        self.commit({"source.cpp": "2", "weights2": "1", "README.md": "2"})
        self.assertEqual(table.changed_inputs(bar, result, None, self.root), "")
        self.commit({"weights/a": "2", "weights/b": "2", "bench/peers/p.py": "2", "bench/run.py": "2"})
        self.assertEqual(table.changed_inputs(bar, result, None, self.root), "**changed**: bench 2, weights 2")
        self.assertEqual(table.age(result, self.root), f"2026-01-01, `{old[:7]}`, 2 commits since")
        result["commit"] = "0" * 40
        self.assertEqual(table.changed_inputs(bar, result, None, self.root), "unknown")
        self.assertIn("not here", table.age(result, self.root))

    def test_sources_and_headers_of_targets_are_inputs(self):
        self.write({"h.h": "", "build/build.ninja": "rule cc\n command = gcc -MMD -MF $out.d -c $in -o $out\n"
                    " depfile = $out.d\n deps = gcc\nrule link\n command = gcc $in -o $out\n"
                    "build a.o: cc ../a.c\nbuild a: link a.o\n"})
        self.commit({"a.c": '#include "h.h"\nint main() { return 0; }\n'})
        subprocess.run(["ninja", "-C", self.root / "build"], check=True, capture_output=True)
        self.assertEqual(inputs.target_inputs(self.root / "build", self.root, ("a",)), {"a.c", "h.h"})


class Readme(unittest.TestCase):
    RESULTS = {"a": {"ok": False, "value": 0.126, "bar": ">= 1", "missed": ["speed", "holds"],
                     "ours": {"speed": 0.126, "holds": False, "x, y": {"n": 3}}, "peer": {"version": "2.1"}}}

    def test_placeholders_become_figures(self):
        text = readme.fill("{{a}} {{/value:.2f}} {{/value:.0%}} {{/ours/x, y/n:d}} {{/peer/version}}", self.RESULTS)
        self.assertEqual(text, "`a`, **missed** 0.13 13 % 3 2.1")

    def test_what_was_not_measured_is_a_dash_where_that_is_allowed(self):
        self.assertEqual(readme.fill("{{a}} {{/ours/z:.2f?}} ({{/ours/z:.2f?}})", self.RESULTS), "`a`, **missed** -")
        for text in ("{{a}} {{/ours/z:.2f}}", "{{b}}", "{{/value:.2f}}"):
            with self.assertRaises(KeyError):
                readme.fill(text, self.RESULTS)

    def test_missed_bars_are_listed_with_their_figures(self):
        self.assertEqual(readme.fill("{{missed}}", self.RESULTS | {"b": {"ok": True}}),
                         "| `a` | >= 1 | speed 0.126, holds |")

    def test_another_number_is_noticed(self):
        page = readme.with_figures(f"x\n{readme.BEGIN}\nold\n{readme.END}\ny\n", "new 0.13")
        self.assertEqual(page, f"x\n{readme.BEGIN}\nnew 0.13\n{readme.END}\ny\n")
        with self.assertRaises(ValueError):
            readme.with_figures("no markers", "new")


class Definitions(unittest.TestCase):
    def test_a_bar_has_six_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bars.txt"
            path.write_text("# words\n\na | any | t u | | weights | echo '|'\n")
            self.assertEqual(read_bars(path), {"a": Bar("a", "any", ["t", "u"], [], ["weights"], "echo '|'")})
            for text in ("a | any | t | | c\n", "a | any | | | | c\na | any | | | | c\n", " | any | | | | c\n",
                         "a | loud | | | | c\n"):
                path.write_text(text)
                with self.assertRaises(SystemExit):
                    read_bars(path)


if __name__ == "__main__":
    unittest.main()
