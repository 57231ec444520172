"""What the training goldens share: 200 steps of AdamW in PyTorch, recorded for tests/parity/.

Each run is made three times: f32 on one thread, f32 on two (how far PyTorch is from itself), bf16 by autocast. Stored are
the losses and gradient norms of every step; of the first step's gradients and of the parameters and both AdamW moments at
the end, samples of every tensor (SAMPLES elements at equal distances), the maximum, and how far the two f32 runs are apart.
Used by train_llama.py and train_coarse.py, which name versions and seed.
"""
import json
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


def train(parameters, loss_of, threads, bf16):
    """parameters: name -> tensor with requires_grad, changed in place. loss_of(step) -> scalar tensor."""
    torch.set_num_threads(threads)
    o = OPTIMIZER
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
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(parameters.values()), o["clip_norm"])))
        optimizer.step()
        losses.append(float(loss.detach()))
    states = {}
    for name, p in parameters.items():
        states["p." + name] = p.detach().numpy().copy()
        states["m." + name] = optimizer.state[p]["exp_avg"].numpy().copy()
        states["v." + name] = optimizer.state[p]["exp_avg_sq"].numpy().copy()
    return np.array(losses, np.float64), np.array(norms, np.float64), gradients, states


def record(name, make, metadata):
    """make() -> (parameters, loss_of), fresh each time."""
    one = train(*make(), threads=1, bf16=False)
    two = train(*make(), threads=2, bf16=False)
    low = train(*make(), threads=2, bf16=True)
    arrays = {"loss": one[0].astype(np.float32), "loss_two_threads": two[0].astype(np.float32),
              "loss_bf16": low[0].astype(np.float32), "gradient_norm": one[1].astype(np.float32)}
    for key, gradient in one[2].items():
        arrays["g." + key] = samples(gradient)
        arrays["max.g." + key] = np.array([np.abs(gradient).max()], np.float32)
    worst = {}
    for key, state in one[3].items():
        arrays[key] = samples(state)
        apart = np.abs(state - two[3][key]).max()
        arrays["max." + key] = np.array([np.abs(state).max()], np.float32)
        arrays["spread." + key] = np.array([apart], np.float32)
        worst[key[0]] = max(worst.get(key[0], 0), apart / max(np.abs(state).max(), 1e-30))
    OUT.mkdir(parents=True, exist_ok=True)
    metadata = {**metadata, "torch": torch.__version__, "numpy": np.__version__, "steps": str(STEPS),
                "optimizer": json.dumps(OPTIMIZER)}
    safetensors.numpy.save_file(arrays, OUT / f"{name}.safetensors", metadata=metadata)
    print(name, "loss", one[0][0], "->", one[0][-1], "bf16", low[0][-1],
          "| spread of threads", np.abs(two[0] / one[0] - 1).max(), "of bf16", np.abs(low[0] / one[0] - 1).max(),
          "| states", worst, "| first norms", one[1][:3])
