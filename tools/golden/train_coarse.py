"""200 training steps of the coarse LM, in a second implementation in PyTorch: tests/data/training/coarse.safetensors.

Weights and batches are generated from names and seed (hum_random.py). training.py describes the stored values.
Conditions are never dropped here, because PyTorch would draw others.
Made with torch 2.15.0, numpy 2.4.6; seed 22; 2 cores of a Xeon.
  pip install torch safetensors && python tools/golden/train_coarse.py
"""
import json
import math

import numpy as np
import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm, linear, silu

import hum_random
import training

SEED, BATCH, FRAMES, REFERENCE, ALPHABET = 22, 2, 60, 50, 256
TRANSFORMER = {"layers": 6, "width": 256, "heads": 4, "kv_heads": 4, "feed_forward": 768}
COMMON = {"latent": 64, "books": 8, "entries": 1024, "melody_features": 9}
CONFIG = {"common": COMMON, "transformer": TRANSFORMER, "coarse_books": 1, "vocabulary": 1025, "prefix_group": 5,
          "melody_blocks": 3, "melody_width": 256, "reconstruction_weight": 0.5, "condition_dropout": 0.0}
WIDTH, MELODY, LATENT, GROUP = 256, 256, 64, 5


def shapes():
    made = {"embed.0.weight": (1025, WIDTH)}
    for i in range(TRANSFORMER["layers"]):
        at, hidden = f"layers.{i}.", TRANSFORMER["feed_forward"]
        for name in ("q", "k", "v", "o"):
            made[f"{at}attn.{name}_proj.weight"] = (WIDTH, WIDTH)
        made.update({at + "attn_norm.weight": (WIDTH,), at + "mlp_norm.weight": (WIDTH,),
                     at + "mlp.gate_proj.weight": (hidden, WIDTH), at + "mlp.up_proj.weight": (hidden, WIDTH),
                     at + "mlp.down_proj.weight": (WIDTH, hidden)})
    made.update({"norm.weight": (WIDTH,), "heads.0.weight": (1025, WIDTH), "conditions.no_melody": (WIDTH,)})

    def dense(name, inputs, outputs):
        made.update({f"conditions.{name}.weight": (outputs, inputs), f"conditions.{name}.bias": (outputs,)})

    dense("melody_in", COMMON["melody_features"] + LATENT, MELODY)
    for i in range(CONFIG["melody_blocks"]):
        at = f"melody.blocks.{i}."
        made.update({f"conditions.{at}conv.weight": (7, MELODY), f"conditions.{at}conv.bias": (MELODY,),
                     f"conditions.{at}norm.weight": (MELODY,), f"conditions.{at}norm.bias": (MELODY,),
                     f"conditions.{at}residual_scale": (MELODY,)})
        dense(at + "up", MELODY, 3 * MELODY)
        dense(at + "down", 3 * MELODY, MELODY)
        dense(at + "film", MELODY, 2 * MELODY)
    dense("melody_out", MELODY, WIDTH)
    dense("timbre", 2 * LATENT, MELODY)
    dense("prefix_in", LATENT, WIDTH)
    return made


def initial(name, shape):
    if len(shape) == 1:
        is_scale = name.endswith("norm.weight") or name.endswith("residual_scale")
        return hum_random.tensor(SEED, name, shape, 0.1, 1.0 if is_scale else 0.0)
    fan_in = shape[0] if name.endswith("conv.weight") else shape[1]
    return hum_random.tensor(SEED, name, shape, math.sqrt(3 / fan_in) if name.startswith("conditions.") else 0.035)


def batch(step, dtype):
    choice = hum_random.integers(SEED, "choice", (BATCH, FRAMES), 4, step)
    codes = np.empty((BATCH, FRAMES), np.int64)
    codes[:, 0] = hum_random.integers(SEED, "start", (BATCH,), ALPHABET, step)
    for t in range(1, FRAMES):
        codes[:, t] = (3 * codes[:, t - 1] + choice[:, t]) % ALPHABET
    arrays = [codes]
    for name, length, size in (("melody", FRAMES, COMMON["melody_features"]), ("draft", FRAMES, LATENT),
                               ("reference", REFERENCE, LATENT)):
        arrays.append(hum_random.tensor(SEED, name, (BATCH, length, size), 1.0, 0.0, step))
    arrays.append(20 + hum_random.integers(SEED, "frames", (BATCH,), 31, step))
    tensors = [torch.from_numpy(a) for a in arrays]
    return [t.to(dtype) if t.is_floating_point() else t for t in tensors]


class Coarse:
    """src/models/humming/coarse.cpp; B batch, T frames, P prefix positions, X = P + T, d head size."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.p = {name: torch.from_numpy(initial(name, shape)).to(dtype).requires_grad_()
                  for name, shape in shapes().items()}
        self.codebook = torch.from_numpy(hum_random.tensor(SEED, "codebooks", (8, 1024, LATENT), 1.0))[0].to(dtype)

    def dense(self, name, x):
        return linear(x, self.p[f"conditions.{name}.weight"], self.p[f"conditions.{name}.bias"])

    def rms(self, name, x):
        y = training.wide(x)
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5) * self.p[name]).to(x.dtype)

    def convnext(self, at, x, condition):
        p, count = self.p, CONFIG["melody_blocks"]
        kernel = p[f"conditions.{at}conv.weight"].T[:, None]
        y = torch.nn.functional.conv1d(x.transpose(1, 2), kernel, p[f"conditions.{at}conv.bias"], padding=3, groups=MELODY)
        y = layer_norm(y.transpose(1, 2), (MELODY,), p[f"conditions.{at}norm.weight"], p[f"conditions.{at}norm.bias"], 1e-5)
        scale, shift = self.dense(at + "film", condition)[:, None].chunk(2, -1)
        y = self.dense(at + "down", gelu(self.dense(at + "up", y * (1 + scale) + shift), approximate="tanh"))
        return x + y * p[f"conditions.{at}residual_scale"] / count

    def pooled(self, reference, frames):
        mask = (torch.arange(REFERENCE)[None] < frames[:, None]).to(self.dtype)[..., None]
        count = mask.sum(1).clamp(min=1)
        mean = (reference * mask).sum(1) / count
        squares = (reference * reference * mask).sum(1) / count
        return torch.cat([mean, torch.sqrt((squares - mean * mean).clamp(min=0) + 1e-5)], 1)

    def attention(self, at, x, allowed):
        d, heads = WIDTH // TRANSFORMER["heads"], TRANSFORMER["heads"]
        q, k, v = (linear(x, self.p[f"{at}{n}_proj.weight"]).unflatten(-1, (heads, d)).transpose(1, 2) for n in "qkv")
        rates = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        angles = torch.arange(x.shape[1])[:, None].float() * rates.float()
        cos, sin = angles.cos().to(q.dtype), angles.sin().to(q.dtype)

        def rotated(z):
            a, b = z.chunk(2, -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

        scores = training.wide(rotated(q) @ rotated(k).transpose(2, 3)) / math.sqrt(d)
        weights = torch.softmax(scores.masked_fill(~allowed, -1e9), -1)
        mixed = (weights.to(v.dtype) @ v).transpose(1, 2).flatten(2)
        return linear(mixed, self.p[f"{at}o_proj.weight"])

    def loss(self, step):
        codes, melody, draft, reference, frames = batch(step, self.dtype)
        condition = self.dense("timbre", self.pooled(reference, frames))
        x = self.dense("melody_in", torch.cat([melody, draft], 2))
        for i in range(CONFIG["melody_blocks"]):
            x = self.convnext(f"melody.blocks.{i}.", x, condition)
        steps = self.dense("melody_out", x) + 0 * self.p["conditions.no_melody"]
        prefix = self.dense("prefix_in", reference.unflatten(1, (REFERENCE // GROUP, GROUP)).mean(2))
        present = torch.arange(REFERENCE // GROUP)[None] * GROUP + GROUP - 1 < frames[:, None]
        keys = torch.cat([present, torch.ones(BATCH, FRAMES, dtype=torch.bool)], 1)
        length = keys.shape[1]
        allowed = keys[:, None, None] & torch.ones(length, length, dtype=torch.bool).tril()

        before = torch.cat([torch.full((BATCH, 1), 1024), codes[:, :-1]], 1)
        x = torch.cat([prefix, self.p["embed.0.weight"][before] + steps], 1)
        for i in range(TRANSFORMER["layers"]):
            at = f"layers.{i}."
            x = x + self.attention(at + "attn.", self.rms(at + "attn_norm.weight", x), allowed)
            y = self.rms(at + "mlp_norm.weight", x)
            hidden = silu(linear(y, self.p[at + "mlp.gate_proj.weight"])) * linear(y, self.p[at + "mlp.up_proj.weight"])
            x = x + linear(hidden, self.p[at + "mlp.down_proj.weight"])
        logits = linear(self.rms("norm.weight", x)[:, -FRAMES:], self.p["heads.0.weight"])
        with torch.autocast("cpu", enabled=False):
            logits = training.wide(logits)
            expected = torch.softmax(logits[..., :1024], -1) @ self.codebook
            distance = (expected - self.codebook[codes]).abs().mean()
            return cross_entropy(logits.flatten(0, 1), codes.flatten()) + CONFIG["reconstruction_weight"] * distance


def make(dtype):
    model = Coarse(dtype)
    return model.p, model.loss


if __name__ == "__main__":
    training.record("coarse", make, {"made_by": "tools/golden/train_coarse.py", "seed": str(SEED),
                                     "config": json.dumps(CONFIG), "batch": str(BATCH), "length": str(FRAMES),
                                     "reference": str(REFERENCE), "alphabet": str(ALPHABET)})
