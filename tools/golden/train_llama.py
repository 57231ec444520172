"""200 training steps of a 10M Llama by PyTorch and transformers: tests/data/training/llama*.safetensors.

Weights and batches are generated from names and seed (hum_random.py). training.py describes the stored values. There
are two learning rates. At 3e-4 (llama) the gradients of q and k jump from step 110 on, and PyTorch in f32 diverges
from PyTorch in f64 (losses by 7e-3, moments by more than their size), so the last half proves little. At 1e-4
(llama_calm) every step and state counts.
Made with torch 2.15.0, transformers 5.23.0, numpy 2.4.6; seed 21.
  pip install torch transformers safetensors && python tools/golden/train_llama.py
"""
import functools
import json

import numpy as np
import torch
import transformers
from transformers.models.llama import modeling_llama

import hum_random
import training

SEED, BATCH, LENGTH = 21, 4, 64
RATES = {"llama": 3e-4, "llama_calm": 1e-4}
CONFIG = dict(vocab_size=8192, hidden_size=256, intermediate_size=832, num_hidden_layers=7, num_attention_heads=8,
              num_key_value_heads=4, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
              bos_token_id=None, eos_token_id=None, pad_token_id=None)


def tokens(step):
    """Small tokens far oftener than large ones: the fourth power of even draws, in whole numbers."""
    r = hum_random.integers(SEED, "draw", (BATCH, LENGTH + 1), 65536, step).astype(np.int64)
    square = r * r >> 16
    return torch.from_numpy((square * square >> 16) * CONFIG["vocab_size"] >> 16)


def norm_in_f64(self, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon) * self.weight


def make(dtype):
    """In f64 transformers' norm and eager softmax would round to f32: the one is replaced, the other is SDPA's."""
    config = transformers.LlamaConfig(**CONFIG)
    config._attn_implementation = "sdpa" if dtype == torch.float64 else "eager"
    model = transformers.LlamaForCausalLM(config).to(dtype)
    if dtype == torch.float64:
        for module in model.modules():
            if isinstance(module, modeling_llama.LlamaRMSNorm):
                module.forward = functools.partial(norm_in_f64, module)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, p in parameters.items():
            is_norm = p.dim() == 1
            p.copy_(torch.from_numpy(hum_random.tensor(SEED, name, tuple(p.shape), 0.1 if is_norm else 0.035,
                                                       1.0 if is_norm else 0.0)))

    def loss_of(step):
        x = tokens(step)
        logits = model(x[:, :-1]).logits
        return torch.nn.functional.cross_entropy(training.wide(logits).flatten(0, 1), x[:, 1:].flatten())

    return parameters, loss_of


if __name__ == "__main__":
    config = {**CONFIG, "model_type": "llama", "architectures": ["LlamaForCausalLM"]}
    for name, rate in RATES.items():
        training.record(name, make, {"made_by": "tools/golden/train_llama.py", "seed": str(SEED),
                                     "transformers": transformers.__version__, "config": json.dumps(config),
                                     "batch": str(BATCH), "length": str(LENGTH)},
                        {**training.OPTIMIZER, "learning_rate": rate, "final_learning_rate": rate})
