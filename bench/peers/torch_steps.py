"""What the PyTorch peers share: their options, and the timed training steps."""

import argparse
import time

import torch


def read_options():
    """Sets the number of threads, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("--dtype", choices=("f32", "bf16"), required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    return options


def autocast(options):
    return torch.autocast("cpu", torch.bfloat16, enabled=options.dtype == "bf16")


def adamw(model, learning_rate, betas):
    """Decays matrices alone."""
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                             lr=learning_rate, betas=betas, eps=1e-8, fused=True)


def run_steps(model, optimizer, loss_of, batch_of, options, learning_rates=None):
    """loss_of(*batch_of(step)) is the loss and the other terms of the step, by name.

    Gives losses and milliseconds of all steps and the last step's terms.
    """
    if options.compile:
        loss_of = torch.compile(loss_of)
    losses, milliseconds, terms = [], [], {}
    for step in range(options.steps):
        start = time.perf_counter()
        if learning_rates is not None:
            for group in optimizer.param_groups:
                group["lr"] = learning_rates[step].item()
        optimizer.zero_grad(set_to_none=True)
        loss, terms = loss_of(*batch_of(step))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        milliseconds.append(1e3 * (time.perf_counter() - start))
    return {"losses": losses, "milliseconds": milliseconds, "version": torch.__version__}, terms
