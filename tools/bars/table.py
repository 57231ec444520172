"""Writes bench/results/README.md: every stored figure, its age, and whether its inputs have changed since."""

import collections
import json

from bars import inputs, provenance
from bars.definitions import RESULTS, ROOT

HEAD = """# Bars, as last measured
`make bench` measures all bars, `make bench ONLY=name` measures one. It stores a figure only if the machine was quiet
and all files were committed. `tools/bench --table` updates this page.

- *Age*: when and at which commit the figure was measured, and the number of commits since then, as of commit `{head}`.
- *Inputs changed*: the number of files, by folder, that the figure depends on and that differ from that commit: sources
  and headers of the programs that measure it, weights, the peer's script. Such a figure may be different today.

| name | value | unit | bar | ok | age | inputs changed |
|---|---|---|---|---|---|---|"""


def read_results(bars, folder=RESULTS):
    return {name: json.loads((folder / f"{name}.json").read_text())
            for name in bars if (folder / f"{name}.json").exists()}


def shown(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return "" if value is None else str(value).replace("|", "\\|")


def outcome(result):
    return {True: "yes", False: "**no**: " + shown(result.get("missed")),
            None: "not measured: " + shown(result.get("reason"))}[result["ok"]]


def age(result, root=ROOT):
    text = f"{result['date'][:10]}, `{result['commit'][:7]}`"
    since = inputs.commits_since(root, result["commit"])
    return text + (", a commit that is not here" if since is None else f", {since} commits since")


def changed_inputs(bar, result, build, root=ROOT):
    """In words; empty if nothing changed."""
    files = inputs.differs_since(root, result["commit"])
    if files is None:
        return "unknown"
    is_input = inputs.inputs_of(bar, build, root)
    folders = collections.Counter(folder_of(path) for path in files if is_input(path))
    return "**changed**: " + ", ".join(f"{f} {n}" for f, n in sorted(folders.items())) if folders else ""


def folder_of(path):
    """The part of the repository: src/graph, bench, weights."""
    parts = path.split("/")
    return "/".join(parts[:2] if parts[0] == "src" and len(parts) > 2 else parts[:1])


def rows_of(prefix, figures, rows):
    """Nested dictionaries become separate rows; the other values are the cells of a row."""
    plain = {key: value for key, value in figures.items() if not isinstance(value, dict)}
    if plain:
        rows.append((prefix, plain))
    for key, value in figures.items():
        if isinstance(value, dict):
            rows_of(f"{prefix}, {key}", value, rows)


def origin(result):
    """The known origin of a figure, in one line."""
    text = provenance.machine_text(result)
    if "provenance" in result:
        return f"{text}; {result['provenance']}"
    plugin, load = result["plugin"], result["load"]
    return (f"{text}; {result['compiler']}; {plugin['name']} {plugin['version']}; other processes took "
            f"{load['before']:.1%} of the cores before it and at most {load['during']:.1%} during it")


def section(name, result):
    """Every figure of a bar: rows with the same cells share a table."""
    rows = []
    rows_of("ours", result["ours"], rows)
    rows_of("peer", result["peer"], rows)
    text, columns = ["", f"## {name}", origin(result)], None
    for label, cells in rows:
        if list(cells) != columns:
            columns = list(cells)
            text += ["", "| | " + " | ".join(map(shown, columns)) + " |", "|---" * (len(columns) + 1) + "|"]
        text.append(f"| {label} | " + " | ".join(shown(cells[column]) for column in columns) + " |")
    return text


def page(bars, build):
    head, sections = [HEAD.format(head=provenance.head(ROOT)[:7])], []
    for name, result in read_results(bars).items():
        cells = [shown(result[field]) for field in ("value", "unit", "bar")]
        cells += [outcome(result), age(result), changed_inputs(bars[name], result, build)]
        head.append(f"| `{name}` | " + " | ".join(cells) + " |")
        sections += section(name, result)
    return "\n".join(head + sections) + "\n"
