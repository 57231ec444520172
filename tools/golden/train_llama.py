"""200 training steps of a Llama of 10M parameters by PyTorch and transformers: tests/data/training/llama.safetensors.

Weights and batches follow from names and seed (hum_random.py); what is stored, training.py tells.
Made with torch 2.15.0, transformers 5.23.0, numpy 2.4.6; seed 21; 2 cores of a Xeon.
  pip install torch transformers safetensors && python tools/golden/train_llama.py
"""
import json

import numpy as np
import torch
import transformers

import hum_random
import training

SEED, BATCH, LENGTH = 21, 4, 64
CONFIG = dict(vocab_size=8192, hidden_size=256, intermediate_size=832, num_hidden_layers=7, num_attention_heads=8,
              num_key_value_heads=4, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
              bos_token_id=None, eos_token_id=None, pad_token_id=None)


def tokens(step):
    """Small tokens far oftener than large ones: the fourth power of even draws, in whole numbers."""
    r = hum_random.integers(SEED, "draw", (BATCH, LENGTH + 1), 65536, step).astype(np.int64)
    square = r * r >> 16
    return torch.from_numpy((square * square >> 16) * CONFIG["vocab_size"] >> 16)


def make():
    config = transformers.LlamaConfig(**CONFIG)
    config._attn_implementation = "eager"
    model = transformers.LlamaForCausalLM(config)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, p in parameters.items():
            is_norm = p.dim() == 1
            p.copy_(torch.from_numpy(hum_random.tensor(SEED, name, tuple(p.shape), 0.1 if is_norm else 0.035,
                                                       1.0 if is_norm else 0.0)))

    def loss_of(step):
        x = tokens(step)
        logits = model(x[:, :-1]).logits
        return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), x[:, 1:].flatten())

    return parameters, loss_of


if __name__ == "__main__":
    config = {**CONFIG, "model_type": "llama", "architectures": ["LlamaForCausalLM"]}
    training.record("llama", make, {"made_by": "tools/golden/train_llama.py", "seed": str(SEED),
                                    "transformers": transformers.__version__, "config": json.dumps(config),
                                    "batch": str(BATCH), "length": str(LENGTH)})
