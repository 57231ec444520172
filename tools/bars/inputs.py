"""The inputs of a bar's figure, and which of them changed since the figure was measured."""

import functools
import pathlib
import re
import subprocess


def ninja(build, *arguments):
    return subprocess.run(["ninja", "-C", build, *arguments], check=True, text=True, capture_output=True).stdout


def in_repository(paths, build, root):
    """Which of the paths (absolute, or relative to the build folder) are sources, relative to the root."""
    found = set()
    for path in paths:
        full = (build / path).resolve()
        if full.is_relative_to(root) and not full.is_relative_to(build):
            found.add(str(full.relative_to(root)))
    return found


@functools.cache
def target_inputs(build, root, targets):
    """Sources of the targets (a tuple), and the headers that they include."""
    if not targets:
        return set()
    inputs = ninja(build, "-t", "inputs", *targets).splitlines()
    objects = [path for path in inputs if path.endswith(".o")]
    headers = set()
    for start in range(0, len(objects), 200):  # the length of a command line is limited
        lines = ninja(build, "-t", "deps", *objects[start:start + 200]).splitlines()
        headers.update(line.strip() for line in lines if line.startswith("    "))
    return in_repository(headers.union(inputs), build, root)


def is_input(path, files, places):
    """places: files and folders of bars.txt."""
    return path in files or any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)


def inputs_of(bar, build, root):
    """Returns a function that tells whether a path of the repository is an input of the bar."""
    files = target_inputs(build, root, tuple(bar.targets))
    scripts = re.findall(r"(?:bench|tools)/[\w./]+", bar.command)
    places = [*bar.inputs, *scripts]
    return lambda path: is_input(path, files, places)


def differs_since(root, commit):
    """Tracked files that differ between the commit and the working tree; None if this clone lacks the commit."""
    run = subprocess.run(["git", "-C", root, "diff", "--name-only", "--no-renames", commit], text=True,
                         capture_output=True, check=False)
    return run.stdout.splitlines() if run.returncode == 0 else None


def commits_since(root, commit):
    run = subprocess.run(["git", "-C", root, "rev-list", "--count", f"{commit}..HEAD"], text=True,
                         capture_output=True, check=False)
    return int(run.stdout) if run.returncode == 0 else None
