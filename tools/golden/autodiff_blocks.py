"""The cases of autodiff.py that are blocks of models, written separately in JAX from the formulas.

The parameters of a block are generated from [dims, low, high]. For the gradient of a parameter, the files hold its
norm and its projection on a generated direction. For the gradient of an input, they hold all values.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autodiff import array, differentiate, f, given, ruled, stored
from autodiff_basic_pitch import basic_pitch
from autodiff_ops import conv, fold_in, uniform
from rule import digits


def linear(p, name, x):
    y = x @ p[f"{name}.weight"].T
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def layer_norm(p, name, x):
    y = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return y * p[f"{name}.weight"] + p[f"{name}.bias"]


def rms_norm(p, name, x):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[f"{name}.weight"]


def rotated(x, size):
    """Rotary positions on the first `size` elements of each head, element i with element i + size / 2."""
    angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-2 * jnp.arange(size // 2) / size)
    turn = jnp.exp(1j * angle)[:, None]
    z = (x[..., : size // 2] + 1j * x[..., size // 2 : size]) * turn
    return jnp.concatenate([z.real, z.imag, x[..., size:]], -1)


def transformer(heads, kv_heads, rotary, norm, swiglu):
    def run(p, x, mask):
        batch, length, width = x.shape
        size = width // heads
        y = norm(p, "layers.0.attn_norm", x)
        q, k, v = (linear(p, f"layers.0.attn.{part}_proj", y).reshape(batch, length, -1, size) for part in "qkv")
        q, k = rotated(q, rotary), rotated(k, rotary)
        k, v = (jnp.repeat(t, heads // kv_heads, 2) for t in (k, v))
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(size)
        allowed = np.tril(np.ones((length, length), bool)) & (mask > 0)[:, None, None, :]
        attention = jax.nn.softmax(jnp.where(allowed, scores, -jnp.inf), -1)
        mixed = jnp.einsum("bhts,bshd->bthd", attention, v).reshape(batch, length, width)
        x = x + linear(p, "layers.0.attn.o_proj", mixed)
        y = norm(p, "layers.0.mlp_norm", x)
        up = linear(p, "layers.0.mlp.up_proj", y)
        if swiglu:
            hidden = jax.nn.silu(linear(p, "layers.0.mlp.gate_proj", y)) * up
        else:
            hidden = jax.nn.gelu(up, approximate=True)
        return norm(p, "norm", x + linear(p, "layers.0.mlp.down_proj", hidden))

    return run


def transformer_parameters(width, kv_width, hidden, gated, bias, norm_bias):
    sizes = {"attn.q_proj": (width, width), "attn.k_proj": (kv_width, width), "attn.v_proj": (kv_width, width),
             "attn.o_proj": (width, width), "mlp.up_proj": (hidden, width), "mlp.down_proj": (width, hidden)}
    if gated:
        sizes["mlp.gate_proj"] = (hidden, width)
    result = {}
    for name, size in sizes.items():
        result[f"layers.0.{name}.weight"] = [list(size), -0.4, 0.4]
        if bias:
            result[f"layers.0.{name}.bias"] = [[size[0]], -0.2, 0.2]
    for name in ("layers.0.attn_norm", "layers.0.mlp_norm", "norm"):
        result[f"{name}.weight"] = [[width], 0.5, 1.5]
        if norm_bias:
            result[f"{name}.bias"] = [[width], -0.2, 0.2]
    return result


def convnext(p, x, condition):
    y = conv(padding=(3, 3), groups=6)(x, p["conv.weight"][:, None]) + p["conv.bias"]
    y = layer_norm(p, "norm", y)
    scale, shift = jnp.split(linear(p, "film", condition)[:, None], 2, -1)
    y = y * (1 + scale) + shift
    y = linear(p, "down", jax.nn.gelu(linear(p, "up", y), approximate=True))
    return x + 0.2 * p["residual_scale"] * y


CONVNEXT = {"conv.weight": [[7, 6], -0.4, 0.4], "conv.bias": [[6], -0.2, 0.2], "norm.weight": [[6], 0.5, 1.5],
            "norm.bias": [[6], -0.2, 0.2], "film.weight": [[12, 3], -0.4, 0.4], "film.bias": [[12], -0.2, 0.2],
            "up.weight": [[10, 6], -0.4, 0.4], "up.bias": [[10], -0.2, 0.2], "down.weight": [[6, 10], -0.4, 0.4],
            "down.bias": [[6], -0.2, 0.2], "residual_scale": [[6], 0.5, 1.5]}

BOOKS, FRAMES = 3, 5
QUANTIZER = {}
for _k in range(BOOKS):
    QUANTIZER |= {f"books.{_k}.codebook": [[16, 4], -1, 1], f"books.{_k}.in_proj.weight": [[4, 6], -0.5, 0.5],
                  f"books.{_k}.in_proj.bias": [[4], -0.1, 0.1], f"books.{_k}.out_proj.weight": [[6, 4], -0.5, 0.5],
                  f"books.{_k}.out_proj.bias": [[6], -0.1, 0.1]}


def kept_books(key, items):
    """1 with p = 1/4, 2..BOOKS with p = 1/4, else all."""
    u = uniform(fold_in(key, 1000), items)
    some = jnp.floor((u - 0.25) * 4 * (BOOKS - 1)) + 2
    return jnp.where(u < 0.25, 1, jnp.where(u < 0.5, some, BOOKS))


def unit(x):
    return x / jnp.sqrt((x * x).sum(-1, keepdims=True) + 1e-8)


def quantizer(p, latents, key):
    """Straight through: the latents' gradient is that of the sum of the chosen vectors."""
    kept = jnp.repeat(kept_books(key, latents.shape[0]), FRAMES)
    z = latents.reshape(-1, 6)
    residual, total, loss = z, 0, 0
    for k in range(BOOKS):
        codebook, projected = p[f"books.{k}.codebook"], linear(p, f"books.{k}.in_proj", residual)
        rows = codebook[lax.stop_gradient(unit(projected) @ unit(codebook).T).argmax(1)]
        loss += 0.25 * ((projected - lax.stop_gradient(rows)) ** 2).mean()
        loss += ((rows - lax.stop_gradient(projected)) ** 2).mean()
        chosen = linear(p, f"books.{k}.out_proj", rows)
        total += chosen * (kept > k)[:, None]
        residual = residual - lax.stop_gradient(chosen)
    return (z - lax.stop_gradient(z) + total).reshape(latents.shape), loss / BOOKS


def dac_residual_unit(p, x):
    def wide(name, y, dilation, reach):
        v = p[f"{name}.weight_v"]
        kernel = (p[f"{name}.weight_g"] * v / jnp.sqrt((v * v).sum((1, 2), keepdims=True))).transpose(2, 1, 0)
        return conv(padding=(reach, reach), dilation=dilation)(y, kernel) + p[f"{name}.bias"]

    def snake(name, y):
        alpha = p[name].reshape(-1)
        return y + jnp.sin(alpha * y) ** 2 / (alpha + 1e-9)

    y = wide("block.1", snake("block.0.alpha", x), 3, 9)
    return x + wide("block.3", snake("block.2.alpha", y), 1, 0)


DAC_UNIT = {"block.0.alpha": [[1, 4, 1], 0.3, 2], "block.1.weight_g": [[4, 1, 1], 0.5, 1.5],
            "block.1.weight_v": [[4, 4, 7], -1, 1], "block.1.bias": [[4], -0.2, 0.2],
            "block.2.alpha": [[1, 4, 1], 0.3, 2], "block.3.weight_g": [[4, 1, 1], 0.5, 1.5],
            "block.3.weight_v": [[4, 4, 1], -1, 1], "block.3.bias": [[4], -0.2, 0.2]}

MASK = given("f32", [[1.0, 1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]])
# name: (function of parameters and inputs, parameters, inputs)
BLOCKS = {
    "transformer, swiglu": (transformer(4, 2, 4, rms_norm, True),
                            transformer_parameters(16, 8, 24, True, False, False), f(2, 5, 16), MASK),
    "transformer, gelu": (transformer(2, 2, 2, layer_norm, False),
                          transformer_parameters(8, 8, 12, False, True, True), f(2, 5, 8), MASK),
    "convnext": (convnext, CONVNEXT, f(2, 9, 6), f(2, 3)),
    "codec quantizer": (quantizer, QUANTIZER, f(8, FRAMES, 6), given("u32", [5, 6])),
    "dac residual unit": (dac_residual_unit, DAC_UNIT, f(2, 24, 4)),
}


def projected(name, key, gradient):
    direction = ruled(f"{name}/direction/{key}", gradient.shape).astype(np.float64)
    return digits([np.linalg.norm(gradient), (np.asarray(gradient) * direction).sum()], 9)


def golden_block(name, function, parameters, *specs):
    keys = list(parameters)
    inputs = [array(spec, f"{name}/{i}") for i, spec in enumerate(specs)]
    weights = [array(["f32", *parameters[key]], f"{name}/{key}") for key in keys]
    outputs, gradients = differentiate(
        name, lambda *a: function(dict(zip(keys, a[len(inputs):])), *a[: len(inputs)]), inputs + weights)
    return {"inputs": list(specs), "parameters": parameters, "outputs": [stored(y) for y in outputs],
            "gradients": [None if g is None else stored(g) for g in gradients[: len(inputs)]],
            "parameter_gradients": {k: projected(name, k, g) for k, g in zip(keys, gradients[len(inputs):])}}


def blocks():
    result = {name: golden_block(name, *case) for name, case in BLOCKS.items()}
    result["basic pitch"] = basic_pitch(projected)
    return result
