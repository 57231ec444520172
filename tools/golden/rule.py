"""Generates numbers from names. src/base/testing/rule.h makes the same ones, bit for bit, so only names are stored."""

import numpy as np


def _mix(x):
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def ruled(name, shape, low=-1.0, high=1.0):
    """float32 in [low, high): element i depends on the name and on i alone."""
    seed = 0x811C9DC5  # FNV-1a
    for byte in name.encode():
        seed = (seed ^ byte) * 0x01000193 & 0xFFFFFFFF
    index = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint32)
    bits = _mix(np.uint32(seed) + index * np.uint32(0x9E3779B9))
    unit = (bits >> np.uint32(8)).astype(np.float64) * 2.0**-24
    return (low + (high - low) * unit).astype(np.float32).reshape(shape)


def digits(values, count=8):
    """Numbers of an array, row-major, rounded for a JSON file."""
    return [float(f"{v:.{count}g}") for v in np.asarray(values, dtype=np.float64).ravel()]
