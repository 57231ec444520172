"""10 steps of torch.optim.Muon on three matrices, for src/train/muon_test.cpp: tests/data/training/muon.safetensors.

A wide, a tall and a square matrix take the same steps with each of Muon's three factors on the learning rate. Weights
and gradients are generated from names and seed (hum_random.py). There are two runs of each. One is torch.optim.Muon as
it is, which orthogonalises in bf16. The other is the same code in f64: the name torch.bfloat16 in its module stands for
torch.float64. How far the first is from the second shows the effect of bf16.
Made with torch 2.15.0, numpy 2.4.6; seed 31; 2 cores of a Xeon.
  pip install torch safetensors && python tools/golden/muon.py
"""
import importlib
import json
import pathlib

import numpy as np
import safetensors.numpy
import torch

import hum_random

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "training" / "muon.safetensors"
SEED, STEPS = 31, 10
SHAPES = {"wide": (24, 40), "tall": (56, 16), "square": (32, 32)}
SCALES = ("original", "match_rms_adamw", "spectral_unclamped")
OPTIONS = {"lr": 0.02, "weight_decay": 0.1, "momentum": 0.95}


class ExactTorch:
    """torch, but what is done in bf16 is done in f64."""

    bfloat16 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def gradient(name, step):
    # Of full rank, but with singular values that differ: a common part makes one of them large.
    shape = SHAPES[name]
    noise = hum_random.tensor(SEED, "gradient." + name, shape, 1.0, 0.0, step)
    common = hum_random.tensor(SEED, "common." + name, shape, 1.0, 1.0)
    return noise + common


def train(scale, dtype):
    weights = {name: torch.from_numpy(hum_random.tensor(SEED, name, shape, 0.5)).to(dtype).requires_grad_()
               for name, shape in SHAPES.items()}
    optimizer = torch.optim.Muon(weights.values(), adjust_lr_fn=scale, **OPTIONS)
    for step in range(STEPS):
        for name, weight in weights.items():
            weight.grad = torch.from_numpy(gradient(name, step)).to(dtype)
        optimizer.step()
    arrays = {}
    for name, weight in weights.items():
        arrays[name] = weight.detach().numpy().astype(np.float32)
        arrays["momentum." + name] = optimizer.state[weight]["momentum_buffer"].numpy().astype(np.float32)
    return arrays


def main():
    module = importlib.import_module("torch.optim._muon")
    arrays = {}
    for scale in SCALES:
        for run, dtype in (("bf16", torch.float32), ("exact", torch.float64)):
            module.torch = torch if run == "bf16" else ExactTorch()
            made = train(scale, dtype)
            arrays.update({f"{run}.{scale}.{name}": array for name, array in made.items()})
        apart = [np.abs(arrays[f"bf16.{scale}.{name}"] - arrays[f"exact.{scale}.{name}"]).max() for name in SHAPES]
        print(scale, "bf16 apart from f64 at most", apart)
    metadata = {"made_by": "tools/golden/muon.py", "seed": str(SEED), "steps": str(STEPS),
                "options": json.dumps(OPTIONS), "torch": torch.__version__, "numpy": np.__version__}
    safetensors.numpy.save_file(arrays, OUT, metadata=metadata)


if __name__ == "__main__":
    main()
