#!/usr/bin/env python3
"""Tests tools/convert_spleeter.py on small checkpoints, written without numpy as numpy's pickles are."""

import array
import hashlib
import io
import json
import math
import os
import pathlib
import pickle
import sys
import tempfile
import types
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import convert_spleeter as tool  # noqa: E402


def pretend_numpy():
    """Modules with the names that numpy's pickles refer to."""
    numpy, core = types.ModuleType("numpy"), types.ModuleType("numpy.core")
    multiarray = types.ModuleType("numpy.core.multiarray")
    numpy.ndarray, numpy.dtype = (type(name, (), {"__module__": "numpy"}) for name in ("ndarray", "dtype"))
    for name in ("_reconstruct", "scalar"):
        def function(*_):
            pass
        function.__module__, function.__qualname__ = "numpy.core.multiarray", name
        setattr(multiarray, name, function)
    return {"numpy": numpy, "numpy.core": core, "numpy.core.multiarray": multiarray}


NUMPY = pretend_numpy()


class Call:
    """Pickles as a call of a function, and optionally a state."""

    def __init__(self, function, arguments, state=None):
        self.reduced = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.reduced


def stored(shape, values, kind="f4", order="<"):
    dtype = Call(NUMPY["numpy"].dtype, (kind, False, True), (3, order, None, None, None, -1, -1, 0))
    return Call(NUMPY["numpy.core.multiarray"]._reconstruct, (NUMPY["numpy"].ndarray, (0,), b"b"),
                (1, shape, dtype, False, array.array("f", values).tobytes()))


def pickled(content):
    sys.modules.update(NUMPY)
    try:
        return pickle.dumps(content, protocol=2)
    finally:
        for name in NUMPY:
            del sys.modules[name]


def checkpoint(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as container:
        container.writestr("small/data.pkl", pickled(content))
        container.writestr("small/version", "3\n")
    return packed.getvalue()


def small_network():
    """A U-Net of the right names, its sizes as small as can be."""
    weights = {}

    def add(name, shape):
        count = math.prod(shape)
        weights[name] = stored(shape, [(len(weights) * 31 + i * 7) % 19 - 9 for i in range(count)])

    def add_norm(name):
        for part in ("weight", "bias", "running_mean"):
            add(f"{name}.{part}", (2,))
        weights[f"{name}.running_var"] = stored((2,), [0.5, 4])

    for level in range(1, 7):
        add(f"down{level}_conv.1.weight", (2, 3, 2, 2))
        add(f"down{level}_conv.1.bias", (2,))
        add_norm(f"down{level}_act.0")
        add(f"up{level}.0.weight", (3, 2, 2, 2))
        add(f"up{level}.0.bias", (2,))
        add_norm(f"up{level}.3")
    add("up7.0.weight", (2, 3, 2, 2))
    add("up7.0.bias", (2,))
    return weights


class Refusals(unittest.TestCase):
    def refuses(self, content, text):
        with self.assertRaisesRegex(tool.Refused, text):
            tool.read_checkpoint(checkpoint(content))

    def test_nothing_in_a_pickle_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "mark"
            self.refuses({"w": Call(os.system, (f"touch {mark}",))}, r"names (posix|os)\.system")
            self.refuses({"w": Call(eval, (f"open({str(mark)!r}, 'w')",))}, r"names (__builtin__|builtins)\.eval")
            self.assertFalse(mark.exists())

    def test_of_numpy_only_what_arrays_need(self):
        self.refuses({"w": Call(NUMPY["numpy.core.multiarray"].scalar, (1,))}, r"names numpy\.core\.multiarray\.scalar")

    def test_of_codecs_only_bytes(self):
        import _codecs
        self.refuses({"w": Call(_codecs.encode, ("a", "rot13"))}, "encodes bytes in rot13")
        self.refuses({"w": Call(_codecs.decode, (b"a", "latin1"))}, r"names _codecs\.decode")

    def test_what_is_not_a_table_of_arrays(self):
        self.refuses([1, 2], "not a table of arrays")
        self.refuses({"w": "text"}, "not a table of arrays")
        self.refuses({"w": Call(NUMPY["numpy.core.multiarray"]._reconstruct, (NUMPY["numpy"].dtype, (0,), b"b"))},
                     "not an array")
        with self.assertRaises(tool.Refused):
            tool.read_checkpoint(b"not a zip file")

    def test_other_arrays(self):
        for fault, text in ((stored((2,), [1, 2], "f8"), "not a little-endian f32"),
                            (stored((2,), [1, 2], order=">"), "not a little-endian f32"),
                            (stored((2, 1), [1, 2]), "of 1 dims"), (stored((3,), [1, 2]), "has 2 elements")):
            with self.assertRaisesRegex(tool.Refused, text):
                tool.network(tool.read_checkpoint(checkpoint({**small_network(), "up7.0.bias": fault})))

    def test_missing_and_unknown_names(self):
        with self.assertRaisesRegex(tool.Refused, "has more.weight"):
            tool.network(tool.read_checkpoint(checkpoint({**small_network(), "more.weight": stored((1,), [1])})))
        less = small_network()
        del less["up3.0.bias"]
        with self.assertRaisesRegex(tool.Refused, "has no up3.0.bias"):
            tool.network(tool.read_checkpoint(checkpoint(less)))


class Conversion(unittest.TestCase):
    def setUp(self):
        self.source = tool.read_checkpoint(checkpoint(small_network()))
        self.tensors = tool.network(dict(self.source))

    def floats(self, name):
        return list(array.array("f", self.source[name].data))

    def test_kernels_have_taps_first_and_outputs_last(self):
        values, shape = self.tensors["encoder.1.weight"]  # [2 out, 3 in, 2, 2] there
        self.assertEqual(shape, [2, 2, 3, 2])
        given = self.floats("down2_conv.1.weight")
        for tap in range(4):
            for i in range(3):
                for o in range(2):
                    self.assertEqual(values[(tap * 3 + i) * 2 + o], given[(o * 3 + i) * 4 + tap])

    def test_transposed_kernels_are_stored_the_other_way(self):
        values, shape = self.tensors["decoder.1.weight"]  # [3 in, 2 out, 2, 2] there
        self.assertEqual(shape, [2, 2, 3, 2])
        given = self.floats("up2.0.weight")
        for tap in range(4):
            for i in range(3):
                for o in range(2):
                    self.assertEqual(values[(tap * 3 + i) * 2 + o], given[(i * 2 + o) * 4 + tap])

    def test_norms_become_scale_and_offset(self):
        gain, shift, mean, variance = (self.floats(f"up4.3.{part}")
                                       for part in ("weight", "bias", "running_mean", "running_var"))
        for c, x in ((0, 1.75), (1, -3.0)):
            expected = (x - mean[c]) / math.sqrt(variance[c] + 1e-3) * gain[c] + shift[c]
            scale, offset = (self.tensors[f"decoder.3.{part}"][0][c] for part in ("scale", "offset"))
            self.assertAlmostEqual(x * scale + offset, expected, delta=1e-4)

    def test_the_lowest_level_has_no_norm(self):
        self.assertIn("encoder.4.scale", self.tensors)
        self.assertNotIn("encoder.5.scale", self.tensors)

    def test_the_folder_holds_what_the_checkpoints_hold(self):
        data = checkpoint(small_network())
        with tempfile.TemporaryDirectory() as place:
            source, folder = pathlib.Path(place), pathlib.Path(place) / "spleeter"
            (source / "a.ckpt").write_bytes(data)
            known = (("vocals", "a.ckpt", hashlib.sha256(data).hexdigest()),)
            for _ in range(2):  # the second replaces the first
                count = tool.convert(source, folder, known)
            written = (folder / "model.safetensors").read_bytes()
            sums = (folder / "SHA256SUMS").read_text()
            config = json.loads((folder / "config.json").read_text())
            self.assertEqual(sorted(path.name for path in source.iterdir()), ["a.ckpt", "spleeter"])
        self.assertEqual(config, {"model_type": "spleeter", "model": {"stems": ["vocals"]}})
        self.assertEqual(sums, f"{hashlib.sha256(written).hexdigest()}  model.safetensors\n")
        size = int.from_bytes(written[:8], "little")
        self.assertEqual(size % 8, 0)
        header = json.loads(written[8:8 + size])
        del header["__metadata__"]
        self.assertEqual(list(header), [f"vocals.{name}" for name in self.tensors])
        self.assertEqual(len(written), 8 + size + 4 * count)
        for name, (values, shape) in self.tensors.items():
            row = header[f"vocals.{name}"]
            first, end = row["data_offsets"]
            self.assertEqual((row["dtype"], row["shape"]), ("F32", list(shape)))
            self.assertEqual(written[8 + size + first:8 + size + end], values.tobytes())

    def test_a_file_of_another_hash_is_not_opened(self):
        with tempfile.TemporaryDirectory() as place:
            source = pathlib.Path(place)
            for _, file, _ in tool.CHECKPOINTS:
                (source / file).write_bytes(checkpoint(small_network()))
            with self.assertRaisesRegex(tool.Refused, "its hash differs"):
                tool.convert(source, source / "spleeter")
            self.assertFalse((source / "spleeter").exists())


if __name__ == "__main__":
    unittest.main()
