"""Reads bench/bars.txt: the bars and the inputs of each."""

import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
FORM = "name | quiet or any | ninja targets | peers | other inputs | command"
LOADS = ("quiet", "any")


@dataclasses.dataclass(frozen=True)
class Bar:
    name: str
    load: str      # quiet: measures time, so the machine must be idle; any: its figures do not depend on other work
    targets: list  # of ninja
    peers: list    # folders of bench/peers/install.sh
    inputs: list   # files and folders of the repository that the targets do not name
    command: str


def read_bars(path):
    bars = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 5)]
        if len(parts) != 6 or not parts[0] or parts[1] not in LOADS or not parts[5] or parts[0] in bars:
            sys.exit(f"{path}:{number}: expected `{FORM}`, each name once")
        name, needs, targets, peers, inputs, command = parts
        bars[name] = Bar(name, needs, targets.split(), peers.split(), inputs.split(), command)
    return bars
