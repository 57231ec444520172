"""What every golden JSON file says first: which tool made it, with which seed and versions."""

import importlib.metadata
import platform


def made_by(tool, seed, *packages):
    versions = {package: importlib.metadata.version(package) for package in packages}
    return {"tool": f"tools/golden/{tool}", "seed": seed, "python": platform.python_version()} | versions
