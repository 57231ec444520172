#!/usr/bin/env python3
"""The bar `threads`: XLA's own work and our kernels share the cores that hum may use.

Runs a bf16 step of the language model on one thread and on two. Measures the speedup, the number of threads that are
runnable at once, and the CPU time spent per second. A third run has two threads but only one core. They take turns,
which must cost almost nothing.
Usage: threads.py HUM_LM [--smoke]      prints one JSON object as its last line; --smoke: few steps of a small problem.
Standard library only. Linux only.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

STEPS, WARM_UP = 5, 1
SMOKE_STEPS, SMOKE_SIZE = 3, ["1", "64"]  # batch, length
PERIOD_S = 0.01
# A thread that wakes the next one is briefly counted with it. Two busy pools would exceed the limit in half of the
# samples.
LEAST_GAIN, MOST_OVER, MOST_CPU, MOST_CROWDED = 1.6, 0.05, 1.02, 1.1


def sample(pid):
    """The time, the number of runnable threads and the total CPU time in seconds; None if the process has ended."""
    runnable = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                text = pathlib.Path(f"/proc/{pid}/task/{task}/stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue  # a thread that has ended
            runnable += text.rsplit(") ", 1)[1][0] == "R"
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return time.monotonic(), runnable, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watched_run(command, threads, cores, cache):
    environment = dict(os.environ, HUM_THREADS=str(threads), HUM_CACHE=str(cache))
    samples = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)) as process:
        while process.poll() is None:
            if now := sample(process.pid):
                samples.append(now)
            time.sleep(PERIOD_S)
        ended, out = time.monotonic(), process.stdout.read()
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    milliseconds = json.loads(out.splitlines()[-1])["milliseconds"]
    return milliseconds[WARM_UP:], samples, ended


def measure(command, threads, cores, cache):
    """The process ends with the steps: they own the samples of its last seconds, except at its very end."""
    watched_run(command[:-1] + ["1"], threads, cores, cache)  # fills the compile cache
    milliseconds, samples, ended = watched_run(command, threads, cores, cache)
    end = ended - 0.5 * milliseconds[-1] / 1000
    inside = [s for s in samples if ended - sum(milliseconds) / 1000 < s[0] < end]
    allowed = min(threads, len(cores))
    wall, cpu = inside[-1][0] - inside[0][0], inside[-1][2] - inside[0][2]
    return {"step_ms": round(statistics.median(milliseconds), 1),
            "runnable_max": max(s[1] for s in inside),
            "runnable_over": round(sum(s[1] > threads for s in inside) / len(inside), 4),
            "cpu_of_allowed": round(cpu / wall / allowed, 3), "samples": len(inside)}


def main(hum_lm, smoke):
    steps, size = (SMOKE_STEPS, SMOKE_SIZE) if smoke else (STEPS, [])
    cores = sorted(os.sched_getaffinity(0))
    result = {"name": "threads", "value": None, "unit": "x the speed of one thread, with two",
              "bar": f">= {LEAST_GAIN} x on 2 cores; more threads runnable than allowed in <= {MOST_OVER:.0%} of samples; "
                     f"two threads on one core take <= {MOST_CROWDED} x the time of one",
              "ok": None, "ours": {}, "peer": {}}
    if len(cores) < 2:
        return result | {"reason": "one core"}
    with tempfile.TemporaryDirectory() as folder:
        problem, cache = f"{folder}/problem.safetensors", f"{folder}/cache"
        subprocess.run([hum_lm, "problem", problem, str(steps), *size], check=True)
        command = [hum_lm, "train", problem, "bf16", str(steps)]
        one = measure(command, 1, cores[:2], cache)
        two = measure(command, 2, cores[:2], cache)
        pinned = measure(command, 2, cores[:1], cache)
    result["value"] = round(one["step_ms"] / two["step_ms"], 3)
    runs = {"one": one, "two": two, "two, one core": pinned}
    misses = [f"{name}: runnable" for name in ("one", "two") if runs[name]["runnable_over"] > MOST_OVER]
    misses += [f"{name}: cpu" for name, run in runs.items() if run["cpu_of_allowed"] > MOST_CPU]
    misses += ["two, one core: time"] if pinned["step_ms"] > MOST_CROWDED * one["step_ms"] else []
    misses += ["gain"] if result["value"] < LEAST_GAIN else []
    result |= {"ours": runs} | ({"missed": misses} if misses else {})
    return result | {"ok": not misses}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2:] == ["--smoke"])))
