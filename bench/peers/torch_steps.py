"""Shared by the PyTorch peers: their options, and the timed training steps."""

import argparse
import time

import torch
from torch import library


@library.custom_op("peers::one_dnn_product", mutates_args=())
def one_dnn_product(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """x @ weight.T + bias by oneDNN in f32; PyTorch itself would call MKL."""
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


@one_dnn_product.register_fake
def _(x, weight, bias):
    return x.new_empty(*x.shape[:-1], weight.shape[0])


class OneDnnLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return one_dnn_product(x, weight, bias)

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        rows = gradient.flatten(0, -2)
        return (one_dnn_product(gradient.contiguous(), weight.T.contiguous(), None),
                one_dnn_product(rows.T.contiguous(), x.flatten(0, -2).T.contiguous(), None),
                rows.sum(0) if ctx.needs_input_grad[2] else None)


def one_dnn_linear(x, weight, bias=None):
    return OneDnnLinear.apply(x, weight, bias)


def read_options():
    """Also sets the number of threads and the library for linear layers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("--dtype", choices=("f32", "bf16"), required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--onednn", action="store_true", help="linear layers by oneDNN; f32 only")
    parser.add_argument("--recompute", choices=("none", "selective"), default="none")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    options = parser.parse_args()
    if options.onednn and options.dtype != "f32":
        parser.error("--onednn is for f32 only: PyTorch always uses oneDNN for bf16")
    torch.set_num_threads(options.threads)
    if options.onednn:
        torch.nn.functional.linear = one_dnn_linear
    return options


def autocast(options):
    return torch.autocast(options.device, torch.bfloat16, enabled=options.dtype == "bf16")


def adamw(model, learning_rate, betas):
    """Applies weight decay to matrices only."""
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    plain = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                             lr=learning_rate, betas=betas, eps=1e-8, fused=True)


def run_steps(model, optimizer, loss_of, batch_of, options, learning_rates=None, after_step=lambda step: None):
    """loss_of(*batch_of(step)) is the loss and the other terms of the step, by name.

    Returns losses and milliseconds of all steps, and the last step's terms.
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
        after_step(step)
    return {"losses": losses, "milliseconds": milliseconds, "version": torch.__version__}, terms
