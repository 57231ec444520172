"""The origin of a figure: commit, date, compiler, plugin, processor, memory."""

import datetime
import json
import os
import pathlib
import re
import subprocess

# Files that the tool itself writes are not inputs of a measurement.
WRITTEN = ("bench/results/", "README.md")
# Folders in which a new file changes what is built or measured.
READ = ("src", "bench", "cmake", "configs", "weights", "hardware", "examples")
FEATURES = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8")


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], check=True, text=True, capture_output=True).stdout


def head(root):
    return git(root, "rev-parse", "HEAD").strip()


def changed_files(root):
    """Tracked files that differ from the last commit, except those that the tool writes, and new files in the folders
    that the build and the bars read."""
    tracked = git(root, "status", "--porcelain", "--untracked-files=no", "--no-renames").splitlines()
    new = git(root, "ls-files", "--others", "--exclude-standard", "--", *READ).splitlines()
    return [file for file in [line[3:] for line in tracked] + new if not file.startswith(WRITTEN)]


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def processor(cpuinfo):
    """From the text of /proc/cpuinfo. Virtual machines shorten the name, so the numbers identify the generation."""
    def value(key):
        found = re.search(rf"^{key}\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
        return found.group(1).strip() if found else "unknown"
    flags = value("flags").split()
    return {"model": re.sub(r"\s+", " ", re.sub(r"\((R|TM)\)|CPU|@.*", "", value("model name"))).strip(),
            "family": value("cpu family"), "number": value("model"), "stepping": value("stepping"),
            "features": [name for name in FEATURES if name in flags]}


def wheel_of(plugin):
    """Name and version of the wheel that a plugin was unpacked from; None if it has another origin."""
    for folder in plugin.parents:
        for info in folder.glob("*.dist-info/METADATA"):
            record = info.parent / "RECORD"
            if record.exists() and str(plugin.relative_to(folder)) in record.read_text():
                header = info.read_text().split("\n\n", 1)[0]
                fields = dict(line.split(": ", 1) for line in header.splitlines() if ": " in line)
                return fields["Name"], fields["Version"]
    return None


def build(program):
    """Compiler and plugin, as reported by the program that measures."""
    out = subprocess.run([program, "--about"], check=True, text=True, stdout=subprocess.PIPE).stdout
    about = json.loads(out)
    path = pathlib.Path(about["plugin"])
    name, version = wheel_of(path) or (path.name, about["platform"])
    return {"compiler": about["compiler"],
            "plugin": {"name": name, "version": version, "platform": about["platform"], "pjrt": about["pjrt"]}}


def machine():
    kib = int(re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1))
    return {"processor": processor(pathlib.Path("/proc/cpuinfo").read_text()),
            "cores": len(os.sched_getaffinity(0)), "memory_gib": round(kib / 2**20, 1)}


def machine_text(result):
    """One line about the machine of a stored result."""
    if "processor" not in result:
        return result["machine"]
    p = result["processor"]
    return (f"{p['model']} (family {p['family']}, model {p['number']}; {', '.join(p['features'])}), "
            f"{result['cores']} cores, {result['memory_gib']:.0f} GiB")
