"""Shared by the training goldens: 200 steps of AdamW in PyTorch, recorded for tests/parity/.

There are four runs. The reference is in f64. How far f32 may differ from it depends on the problem, so there are two
runs in f32: one with the same weights, one with weights that are off by one unit in the last place. (Runs on one and
two threads are no substitute: the Llama's bits are equal.) The fourth run is in bf16 by autocast. The clipping norm is
summed in f64, because the running sum of clip_grad_norm_ is 5e-5 to 6e-4 off in f32.

The file holds the loss of every run and the gradient norm of the reference at every step. For the gradients of the
first step, and for the parameters and both AdamW moments at the end, it holds samples of every tensor (SAMPLES
elements at equal distances), the maximum, and the largest distance of the f32 runs from f64.
Used by train_llama.py and train_coarse.py, which name versions and seed.
"""
import json
import math
import pathlib

import numpy as np
import safetensors.numpy
import torch

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "training"
STEPS, SAMPLES = 200, 64
OPTIMIZER = {"learning_rate": 3e-4, "final_learning_rate": 3e-4, "warm_up_steps": 20, "beta1": 0.9, "beta2": 0.95,
             "epsilon": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0}


def samples(array):
    flat = np.asarray(array, np.float32).reshape(-1)
    count = min(SAMPLES, flat.size)
    return flat[np.arange(count) * flat.size // count].copy()


def wide(x):
    """bf16 to f32; f32 and f64 as they are."""
    return x.float() if x.dtype == torch.bfloat16 else x


def nudge(parameters):
    """Every element one representable number up or down."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in parameters.values():
            towards = torch.randint(0, 2, p.shape, generator=generator) * 4.0 - 2.0
            p.copy_(torch.nextafter(p, towards.to(p.dtype)))


def clip(parameters, limit):
    """clip_grad_norm_ with its squares summed in f64. Returns the norm before."""
    norm = math.sqrt(sum(float(p.grad.double().square().sum()) for p in parameters))
    for p in parameters:
        p.grad.mul_(min(1.0, limit / (norm + 1e-6)))
    return norm


def train(make, o, dtype=torch.float32, bf16=False, nudged=False):
    """make(dtype) -> (parameters by name, loss_of(step) -> scalar tensor), fresh each time."""
    parameters, loss_of = make(dtype)
    if nudged:
        nudge(parameters)
    matrices = [p for p in parameters.values() if p.dim() >= 2]
    vectors = [p for p in parameters.values() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": o["weight_decay"]},
                                   {"params": vectors, "weight_decay": 0.0}], lr=o["learning_rate"],
                                  betas=(o["beta1"], o["beta2"]), eps=o["epsilon"], foreach=False)
    losses, norms, gradients = [], [], {}
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = o["learning_rate"] * min(1.0, (step + 1) / o["warm_up_steps"])
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = loss_of(step)
        loss.backward()
        if step == 0:
            gradients = {name: p.grad.numpy().copy() for name, p in parameters.items()}
        norms.append(clip(list(parameters.values()), o["clip_norm"]))
        optimizer.step()
        losses.append(float(loss.detach()))
    states = {}
    for name, p in parameters.items():
        states["p." + name] = p.detach().numpy().copy()
        states["m." + name] = optimizer.state[p]["exp_avg"].numpy().copy()
        states["v." + name] = optimizer.state[p]["exp_avg_sq"].numpy().copy()
    return np.array(losses, np.float64), np.array(norms, np.float64), gradients, states


def record(name, make, metadata, optimizer=OPTIMIZER):
    """make(dtype) as train takes it."""
    torch.set_num_threads(2)
    exact = train(make, optimizer, dtype=torch.float64)
    plain, nudged = train(make, optimizer), train(make, optimizer, nudged=True)
    low = train(make, optimizer, bf16=True)
    arrays = {"loss": exact[0], "loss_f32": plain[0], "loss_f32_nudged": nudged[0], "loss_bf16": low[0],
              "gradient_norm": exact[1]}
    arrays = {key: values.astype(np.float32) for key, values in arrays.items()}
    for key, gradient in exact[2].items():
        arrays["g." + key] = samples(gradient)
        arrays["max.g." + key] = np.array([np.abs(gradient).max()], np.float32)
    worst = {}
    for key, state in exact[3].items():
        arrays[key] = samples(state)
        apart = max(np.abs(run[3][key] - state).max() for run in (plain, nudged))
        arrays["max." + key] = np.array([np.abs(state).max()], np.float32)
        arrays["spread." + key] = np.array([apart], np.float32)
        worst[key[0]] = max(worst.get(key[0], 0), apart / max(np.abs(state).max(), 1e-30))
    OUT.mkdir(parents=True, exist_ok=True)
    metadata = {**metadata, "torch": torch.__version__, "numpy": np.__version__, "steps": str(STEPS),
                "optimizer": json.dumps(optimizer)}
    safetensors.numpy.save_file(arrays, OUT / f"{name}.safetensors", metadata=metadata)
    print(name, "loss", exact[0][0], "->", exact[0][-1])
    for label, run in (("f32", plain), ("nudged", nudged), ("bf16", low)):
        print(label, "apart from f64 at most", np.abs(run[0] / exact[0] - 1).max(), "first norm",
              abs(run[1][0] / exact[1][0] - 1))
    print("states apart in f32, of each tensor's maximum", worst)
