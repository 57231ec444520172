"""The training step of bench/train_step.cpp, in PyTorch as its users would write it.

Usage: train_torch.py PROBLEM.safetensors --dtype f32|bf16 --threads N [--compile] [--onednn] [--steps N]
           [--recompute none|selective] [--device cpu|cuda]
Prints one JSON line: the loss and milliseconds of every step, the resident memory before the first step, and its peak
after the first step, which compiles. --recompute selective keeps the results of products with weights and of attention
in each block, as hum does.
"""

import functools
import json

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

from memory import forget_peak, peak_resident_bytes, resident_bytes
from torch_steps import adamw, autocast, read_options, run_steps

KEPT = [torch.ops.aten.mm.default, torch.ops.aten.addmm.default,
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default]


class Attention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        self.out = torch.nn.Linear(width, width, bias=False)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))


class Block(torch.nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention_norm = torch.nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp_norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, hidden, bias=False)
        self.down = torch.nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


class Model(torch.nn.Module):
    def __init__(self, size, recompute):
        super().__init__()
        self.recompute = recompute
        self.embed = torch.nn.Embedding(size["vocabulary"], size["width"])
        self.blocks = torch.nn.ModuleList(
            Block(size["width"], size["heads"], size["feed_forward"]) for _ in range(size["layers"]))
        self.norm = torch.nn.LayerNorm(size["width"])

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            if self.recompute == "selective":
                x = checkpoint(block, x, use_reentrant=False,
                               context_fn=functools.partial(create_selective_checkpoint_contexts, KEPT))
            else:
                x = block(x)
        return F.linear(self.norm(x), self.embed.weight)


def load(model, tensors):
    """hum's tensors: separate q, k and v."""
    state = {"embed.weight": tensors["embed.weight"],
             "norm.weight": tensors["norm.weight"], "norm.bias": tensors["norm.bias"]}
    for i in range(len(model.blocks)):
        theirs, ours = f"layers.{i}.", f"blocks.{i}."
        state[ours + "attention.qkv.weight"] = torch.cat(
            [tensors[f"{theirs}attn.{p}_proj.weight"] for p in "qkv"])
        state[ours + "attention.out.weight"] = tensors[theirs + "attn.o_proj.weight"]
        state[ours + "up.weight"] = tensors[theirs + "mlp.up_proj.weight"]
        state[ours + "down.weight"] = tensors[theirs + "mlp.down_proj.weight"]
        for norm, name in (("attention_norm", "attn_norm"), ("mlp_norm", "mlp_norm")):
            for part in ("weight", "bias"):
                state[f"{ours}{norm}.{part}"] = tensors[f"{theirs}{name}.{part}"]
    model.load_state_dict(state)


def main():
    options = read_options()
    tensors = load_file(options.problem)
    batches = tensors.pop("batches").long().to(options.device)  # [steps, batch, length + 1]
    size = {key: int(tensors.pop("size." + key)) for key in ("vocabulary", "width", "heads", "feed_forward", "layers")}
    model = Model(size, options.recompute)
    load(model, tensors)
    model.to(options.device)
    del tensors
    optimizer = adamw(model, 3e-4, (0.9, 0.95))

    def loss_of(tokens):
        with autocast(options):
            logits = model(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten()), {}

    if options.compile:
        torch.compile(lambda x: x + 1)(torch.zeros(1))  # loads the compiler before memory is counted
    before = resident_bytes()
    result, _ = run_steps(model, optimizer, loss_of, lambda step: (batches[step],), options,
                          after_step=lambda step: forget_peak() if step == 0 else None)
    print(json.dumps({**result, "resident_before": before, "resident_peak": peak_resident_bytes()}))


if __name__ == "__main__":
    main()
