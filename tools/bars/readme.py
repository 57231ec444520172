"""Writes the figures in README, between two markers: bench/figures.md, with placeholders filled in from bench/results.

    {{NAME}}           the name of the bar, and whether it is missed
    {{/a/b:FORMAT}}    figure a.b of the bar named last, in Python's format; may be missing if `?` follows
    {{/a/b}}           the same as text
    {{missed}}         a row for each bar that is missed
"""

import re

from bars.definitions import ROOT

TEMPLATE, README = ROOT / "bench" / "figures.md", ROOT / "README.md"
BEGIN = "<!-- Figures: `tools/bench --table` writes them from bench/figures.md and bench/results. -->"
END = "<!-- End of the figures. -->"
NOT_MEASURED = "-"


def figure(result, path):
    """The figure at "/a/b", or None."""
    for key in path.split("/")[1:]:
        if not isinstance(result, dict) or key not in result:
            return None
        result = result[key]
    return result


def formatted(value, spec):
    return re.sub(r"%$", " %", format(value, spec))


def missed_rows(results):
    """Rows of: | bar | what it requires | what was measured |"""
    rows = []
    for name, result in results.items():
        if result["ok"] is not False:
            continue
        measured = []
        for what in result["missed"]:
            value = result["ours"].get(what)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            measured.append(f"{what} {value:.4g}" if is_number else what)
        rows.append(f"| `{name}` | {result['bar']} | {', '.join(measured)} |")
    return "\n".join(rows)


class Filler:
    """Fills in placeholders one after another. Throws: KeyError with the figure that no stored result has."""

    def __init__(self, results):
        self.results, self.name = results, None

    def __call__(self, match):
        text = match.group(1)
        if text == "missed":
            return missed_rows(self.results)
        return self.figure(text) if text.startswith("/") else self.bar(text)

    def bar(self, name):
        if name not in self.results:
            raise KeyError(f"bench/figures.md: no stored result of '{name}'")
        self.name = name
        return f"`{name}`" + (", **missed**" if self.results[name]["ok"] is False else "")

    def figure(self, text):
        path, spec = re.fullmatch(r"(.*?)(?::([+.\d]*[a-z%]\??))?", text).groups()
        value = figure(self.results.get(self.name), path)
        if value is None and not (spec or "").endswith("?"):
            raise KeyError(f"bench/figures.md: {self.name} has no figure '{path}'")
        return NOT_MEASURED if value is None else formatted(value, (spec or "").rstrip("?"))


def fill(template, results):
    text = re.sub(r"\{\{(.+?)\}\}", Filler(results), template)
    return text.replace(f"{NOT_MEASURED} ({NOT_MEASURED})", NOT_MEASURED)


def with_figures(readme, figures):
    """README with the text between its markers replaced. Throws: ValueError if a marker is missing."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md lacks the markers {BEGIN} and {END}")
    return f"{head}{begin}\n{figures.strip()}\n{end}{tail}"


def current(results):
    return with_figures(README.read_text(), fill(TEMPLATE.read_text(), results))
