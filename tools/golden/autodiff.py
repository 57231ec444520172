"""Makes tests/data/autodiff/: values and gradients of every family of ops and of one block of each model, by JAX.

JAX computes in float64 from float32 inputs. rule.py generates the inputs (no seed), so only results are stored. An
input is written as [type, dims, low, high] (generated) or [type, dims, values]. Versions: Python 3.11, jax 0.10.2,
numpy 2.4.6; each file repeats them.

    pip install "jax[cpu]" && python tools/golden/autodiff.py tests/data/autodiff
"""

import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
import numpy as np

from made_by import made_by
from rule import digits, ruled

NUMPY = {"f32": np.float64, "i32": np.int32, "u32": np.uint32, "i1": np.bool_}


def f(*dims, low=-2.0, high=2.0):
    return ["f32", list(dims), low, high]


def given(dtype, values):
    values = np.asarray(values)
    return [dtype, list(values.shape), values.ravel().tolist()]


def array(spec, name):
    if len(spec) == 4:
        return jnp.asarray(ruled(name, tuple(spec[1]), spec[2], spec[3]).astype(np.float64))
    return jnp.asarray(np.asarray(spec[2], NUMPY[spec[0]]).reshape(spec[1]))


def stored(x):
    x = np.asarray(x)
    return digits(x, 9) if x.dtype.kind == "f" else x.astype(np.int64).ravel().tolist()


def differentiate(name, function, arrays):
    """Outputs, and gradients of their sum, weighted by rule, to every float input (None to the others)."""
    outputs = function(*arrays)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    floats = [i for i, x in enumerate(arrays) if x.dtype == jnp.float64]
    weights = [jnp.asarray(ruled(f"{name}/cotangent/{i}", y.shape).astype(np.float64)) for i, y in enumerate(outputs)]

    def total(*chosen):
        full = list(arrays)
        for i, x in zip(floats, chosen):
            full[i] = x
        results = function(*full)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        return sum((jnp.sum(y * w) for y, w in zip(results, weights) if y.dtype == jnp.float64), jnp.zeros(()))

    found = jax.grad(total, argnums=tuple(range(len(floats))))(*(arrays[i] for i in floats)) if floats else ()
    gradients = [None] * len(arrays)
    for i, gradient in zip(floats, found):
        gradients[i] = gradient
    return outputs, gradients


def golden(name, function, specs):
    arrays = [array(spec, f"{name}/{i}") for i, spec in enumerate(specs)]
    outputs, gradients = differentiate(name, function, arrays)
    return {"inputs": specs, "outputs": [stored(y) for y in outputs],
            "gradients": [None if g is None else stored(g) for g in gradients]}


def write(path, content):
    maker = made_by("autodiff.py", "none: inputs by tools/golden/rule.py", "jax", "jaxlib", "numpy")
    rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in content.items())
    path.write_text(f'{{"made_by": {json.dumps(maker)},\n"cases": {{\n{rows}}}}}\n')
    print(path.name, len(content), "cases,", path.stat().st_size, "bytes")


def main(folder):
    from autodiff_blocks import blocks
    from autodiff_ops import FAMILIES

    folder = pathlib.Path(folder)
    write(folder / "ops.json", {name: golden(name, function, specs) for family in FAMILIES
                                for name, (function, *specs) in family.items()})
    write(folder / "blocks.json", blocks())


if __name__ == "__main__":
    # The other files import this one by its name.
    sys.modules["autodiff"] = sys.modules["__main__"]
    main(sys.argv[1])
