"""hum's counter-based random numbers (src/base/rng.h) in numpy, so that golden models need no stored weights.

The other tools in this folder use it. It also writes tests/data/random.json, with which src/runtime/weights_test.cpp
checks that both sides agree. Made with numpy 2.4; the caller chooses the seed.
  pip install numpy && python tools/golden/hum_random.py
"""
import json
import pathlib

import numpy as np

MASK = 0xFFFFFFFF


def threefry2x32(key, counter):
    """key: two ints; counter: two uint32 arrays -> two uint32 arrays."""
    keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(key[0] ^ key[1] ^ 0x1BD11BDA)]
    x0 = np.asarray(counter[0], np.uint32) + keys[0]
    x1 = np.asarray(counter[1], np.uint32) + keys[1]
    for group in range(5):
        for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(rotation) | x1 >> np.uint32(32 - rotation)) ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def stream_key(seed, name, index):
    hash64 = 0xCBF29CE484222325
    for byte in name.encode():
        hash64 = (hash64 ^ byte) * 0x100000001B3 % 2**64
    key = (seed & MASK, seed >> 32)
    for value in (hash64, index):
        a, b = threefry2x32(key, (np.array([value & MASK], np.uint32), np.array([value >> 32], np.uint32)))
        key = (int(a[0]), int(b[0]))
    return key


def bits(seed, name, count, index=0):
    with np.errstate(over="ignore"):
        blocks = np.arange((count + 1) // 2, dtype=np.uint32)
        pair = threefry2x32(stream_key(seed, name, index), (blocks, np.zeros_like(blocks)))
    return np.stack(pair, 1).reshape(-1)[:count]


def uniform(seed, name, count, index=0):
    """float64 in [0, 1), as Rng::uniform."""
    return (bits(seed, name, count, index) >> np.uint32(8)) / 2.0**24


def tensor(seed, name, dims, half_width, centre=0.0, index=0):
    """float32, uniform in centre +- half_width: runtime::golden_tensor."""
    values = centre + half_width * (2 * uniform(seed, name, int(np.prod(dims)), index) - 1)
    return values.astype(np.float32).reshape(dims)


def integers(seed, name, dims, size, index=0):
    """int32 in 0..size-1: runtime::golden_integers."""
    return (bits(seed, name, int(np.prod(dims)), index) % size).astype(np.int32).reshape(dims)


if __name__ == "__main__":
    out = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "random.json"
    made = {"made_by": "tools/golden/hum_random.py, numpy " + np.__version__, "seed": 5,
            "tensor": tensor(5, "layers.0.weight", (7,), 0.5, 1.0, index=3).tolist(),
            "integers": integers(5, "tokens", (7,), 1000).tolist()}
    out.write_text(json.dumps(made) + "\n")
