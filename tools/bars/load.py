"""Measures how busy other processes keep the cores that a bar may use. Linux only.

A share of 1 is all of these cores. Time that the host takes from a virtual machine (steal) counts as other processes'
work. The kernel's threads do not count: they write to disk what the bar itself has stored.
"""

import ctypes
import os
import pathlib
import threading
import time

LOADED = 0.05    # above this share of the cores, a figure is not stored
WINDOW_S = 10    # length of the windows
WAIT_S = 300     # longest wait for a quiet machine
PERIOD_S = 1
ATTEMPTS = 100   # to read the times of all processes while none ends
PROC = pathlib.Path("/proc")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
KTHREADD = 2     # the parent of the kernel's threads; in a container it is not visible
IDLE, IOWAIT, STEAL = 3, 4, 7  # columns of /proc/stat; user and nice already include those after steal


def busy_seconds(stat, cores):
    """Time that these cores were not idle, from the text of /proc/stat."""
    seconds = 0
    for line in stat.splitlines():
        name, *ticks = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            seconds += sum(int(t) for i, t in enumerate(ticks[:STEAL + 1]) if i not in (IDLE, IOWAIT)) * TICK_S
    return seconds


def read_stat(text):
    """A process's number, its parent's, and its CPU time with that of the children that it has waited for.

    text: of /proc/PID/stat.
    """
    fields = text.rsplit(")", 1)[1].split()  # the name in brackets may contain anything
    return int(text.split(" ", 1)[0]), int(fields[1]), sum(map(int, fields[11:15])) * TICK_S


def tree_seconds(stats, root):
    """CPU time of process `root`, its descendants and those that they have waited for.

    stats: the texts of /proc/PID/stat.
    """
    spent, children = {}, {}
    for pid, parent, seconds in map(read_stat, stats):
        children.setdefault(parent, []).append(pid)
        spent[pid] = seconds
    seconds, open_pids = 0, [root]
    while open_pids:
        pid = open_pids.pop()
        seconds += spent.get(pid, 0)
        open_pids += children.get(pid, [])
    return seconds


class KernelThreads:
    """Adds up the CPU time of the kernel's threads from one reading to the next.

    No process waits for these threads. The sum over those alive would therefore drop when one of them ends.
    """

    def __init__(self):
        self.total, self.last = 0, {}

    def seconds(self, stats):
        """Up to now. 0 in a container, where process 2 is an ordinary one. stats: the texts of /proc/PID/stat."""
        if any(text.startswith(f"{KTHREADD} (kthreadd) ") for text in stats):
            now = {pid: seconds for pid, parent, seconds in map(read_stat, stats) if KTHREADD in (pid, parent)}
            self.total += sum(max(0, seconds - self.last.get(pid, 0)) for pid, seconds in now.items())
            self.last = now
        return self.total


KERNEL_THREADS = KernelThreads()


def process_stats():
    """The texts of /proc/PID/stat of all processes.

    Reads again if one of them ended meanwhile: its time then went to its parent and would count twice, or not at all.
    """
    for _ in range(ATTEMPTS):
        folders = [folder for folder in PROC.iterdir() if folder.name.isdigit()]
        try:
            stats = [(folder / "stat").read_text() for folder in folders]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if all(folder.exists() for folder in folders):
            return stats
    raise RuntimeError(f"processes end so fast that their times could not be read in {ATTEMPTS} attempts")


def sample():
    """Now, busy time of this process's cores, and the part of it that this process's tree and the kernel spent."""
    stat = (PROC / "stat").read_text()
    stats = process_stats()
    own = tree_seconds(stats, os.getpid()) + KERNEL_THREADS.seconds(stats)
    return time.monotonic(), busy_seconds(stat, os.sched_getaffinity(0)), own


def share_of_others(first, last, cores):
    """Between two samples."""
    wall, busy, own = (b - a for a, b in zip(first, last))
    return max(0.0, busy - own) / (wall * cores) if wall > 0 else 0.0


def largest_share(samples, cores):
    """In any window of WINDOW_S seconds, or in the whole time if it is shorter."""
    shares, start = [], 0
    for end, now in enumerate(samples):
        while start + 1 < end and now[0] - samples[start + 1][0] >= WINDOW_S:
            start += 1
        if now[0] - samples[start][0] >= WINDOW_S:
            shares.append(share_of_others(samples[start], now, cores))
    return max(shares) if shares else share_of_others(samples[0], samples[-1], cores)


def keep_orphans():
    """Makes this process the parent of its descendants whose parents are killed, so that their time stays in its tree."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


class Watch:
    """Samples while the `with` block runs; then `share` is the largest of others'."""

    def __enter__(self):
        keep_orphans()
        self.samples, self.stop = [sample()], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def run(self):
        while not self.stop.wait(PERIOD_S):
            self.samples.append(sample())

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.samples.append(sample())
        self.share = largest_share(self.samples, len(os.sched_getaffinity(0)))


def share_now():
    """What others take of the cores in the next WINDOW_S seconds."""
    first = sample()
    time.sleep(WINDOW_S)
    return share_of_others(first, sample(), len(os.sched_getaffinity(0)))


def wait_for_quiet(say):
    """Waits until others took at most LOADED in WINDOW_S seconds, or WAIT_S have passed. Returns the last share."""
    deadline = time.monotonic() + WAIT_S
    while True:
        share = share_now()
        if share <= LOADED or time.monotonic() >= deadline:
            return share
        say(f"other processes take {share:.0%} of the cores; waiting for a quiet machine")
