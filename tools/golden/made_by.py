"""The first entry of every golden JSON file: the tool that made it, the seed and the versions."""

import importlib.metadata
import platform


def made_by(tool, seed, *packages):
    versions = {package: importlib.metadata.version(package) for package in packages}
    return {"tool": f"tools/golden/{tool}", "seed": seed, "python": platform.python_version()} | versions
