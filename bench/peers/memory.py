"""Resident memory of this process, as Linux reports it."""


def status_bytes(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))


def resident_bytes():
    return status_bytes("VmRSS")


def peak_resident_bytes():
    return status_bytes("VmHWM")


def forget_peak():
    """Resets the peak to the current value."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
