"""The training step of bench/train_step.cpp, in JAX as its users would write it.

Usage: train_jax.py PROBLEM.safetensors --dtype f32|bf16 --threads N [--steps N]
Prints one JSON line in the same form as train_torch.py.
"""

import argparse
import functools
import json
import os
import time

import jax
import jax.numpy as jnp
import optax
from safetensors.numpy import load_file

from memory import peak_resident_bytes, resident_bytes


def layer_norm(x, tensors, name):
    wide = x.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    normal = (wide - mean) * jax.lax.rsqrt(((wide - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return (normal * tensors[name + ".weight"] + tensors[name + ".bias"]).astype(x.dtype)


def logits_of(tensors, tokens, size, dtype):
    def linear(x, name):
        return x @ tensors[name + ".weight"].astype(dtype).T

    x = tensors["embed.weight"][tokens].astype(dtype)
    for i in range(size["layers"]):
        layer = f"layers.{i}."
        y = layer_norm(x, tensors, layer + "attn_norm")
        q, k, v = (linear(y, f"{layer}attn.{part}_proj").reshape(*y.shape[:2], size["heads"], -1) for part in "qkv")
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(y.shape)
        x = x + linear(mixed, layer + "attn.o_proj")
        y = layer_norm(x, tensors, layer + "mlp_norm")
        x = x + linear(jax.nn.gelu(linear(y, layer + "mlp.up_proj"), approximate=True), layer + "mlp.down_proj")
    return linear(layer_norm(x, tensors, "norm"), "embed").astype(jnp.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("--dtype", choices=("f32", "bf16"), required=True)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    # XLA creates its threads with the first array, one per core that the process may use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])

    tensors = load_file(args.problem)
    batches = tensors.pop("batches")
    size = {key: int(tensors.pop("size." + key)) for key in ("vocabulary", "width", "heads", "feed_forward", "layers")}
    parameters = {name: jnp.asarray(value) for name, value in tensors.items()}
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(3e-4, b1=0.9, b2=0.95, eps=1e-8, weight_decay=0.01,
                    mask=lambda tree: jax.tree.map(lambda p: p.ndim >= 2, tree)))
    state = optimizer.init(parameters)
    dtype = jnp.bfloat16 if args.dtype == "bf16" else jnp.float32

    def loss_of(parameters, tokens):
        logits = logits_of(parameters, tokens[:, :-1], size, dtype)
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters, state, tokens):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, tokens)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    before = resident_bytes()
    losses, milliseconds = [], []
    for batch in batches[:args.steps]:
        start = time.perf_counter()
        parameters, state, loss = step(parameters, state, jnp.asarray(batch))
        losses.append(float(loss))
        milliseconds.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"losses": losses, "milliseconds": milliseconds, "resident_before": before,
                      "resident_peak": peak_resident_bytes(), "version": jax.__version__}))


if __name__ == "__main__":
    main()
