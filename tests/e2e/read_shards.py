"""Prints what the webdataset package reads from shards: one JSON object per sample.

Usage: read_shards.py URL     e.g. runs/data/items-{000000..000002}.tar
"""

import hashlib
import io
import json
import sys
import wave

import webdataset


def described(name, value):
    if name.endswith(".npy"):
        return {"dtype": str(value.dtype), "shape": value.shape, "sha256": hashlib.sha256(value.tobytes()).hexdigest()}
    if name.endswith(".wav"):
        with wave.open(io.BytesIO(value)) as sound:
            frames = sound.readframes(sound.getnframes())
            return {"rate": sound.getframerate(), "channels": sound.getnchannels(), "bytes": sound.getsampwidth(),
                    "sha256": hashlib.sha256(frames).hexdigest()}
    return value  # .json


for sample in webdataset.WebDataset(sys.argv[1], shardshuffle=False).decode():
    files = {name: described(name, value) for name, value in sample.items() if not name.startswith("__")}
    print(json.dumps({"key": sample["__key__"], "files": files}))
