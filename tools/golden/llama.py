"""Logits and greedy continuations of small Llamas, by Hugging Face transformers, into tests/data/llama/.

<name>.safetensors: prompt, logits in f32 and bf16, 64 greedy tokens; the text of config.json in the metadata. Weights
are generated from names and seed (hum_random.py). checkpoint/: a folder written by save_pretrained. rope.json: rotary
rates.
Made with transformers 5.23.0, torch 2.15.0, tokenizers 0.23.3, safetensors 0.8.0, numpy 2.4; seed 11.
  pip install transformers torch safetensors && python tools/golden/llama.py
  python tools/golden/llama.py --check FOLDER OUT   # the same for a folder, e.g. one that hum wrote
"""
import argparse
import json
import math
import pathlib
import shutil

import numpy as np
import safetensors.numpy
import tokenizers
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

import hum_random

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "llama"
SEED = 11
PROMPT, CONTINUED = 24, 64
MADE_BY = {"made_by": f"tools/golden/llama.py, transformers {transformers.__version__}, torch {torch.__version__}",
           "transformers": transformers.__version__, "torch": torch.__version__,
           "seed": str(SEED)}

BASE = dict(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=4, max_position_embeddings=128, rms_norm_eps=1e-5, tie_word_embeddings=False,
            bos_token_id=None, eos_token_id=None, pad_token_id=None)
ROPES = {
    "linear": dict(rope_type="linear", factor=4.0, rope_theta=10000.0),
    "dynamic": dict(rope_type="dynamic", factor=2.0, rope_theta=10000.0),
    "llama3": dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=32, rope_theta=500000.0),
    "yarn": dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32, rope_theta=10000.0),
    "yarn_mscale": dict(rope_type="yarn", factor=8.0, original_max_position_embeddings=16, rope_theta=5000.0, mscale=1.0,
                        mscale_all_dim=0.5, beta_fast=16.0, beta_slow=2.0, truncate=False),
    "yarn_attention": dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=64, rope_theta=10000.0,
                           attention_factor=0.9),
}
MODELS = {
    "mha": ("llama", {}),
    "gqa_tied": ("llama", dict(num_key_value_heads=2, head_dim=16, tie_word_embeddings=True)),
    "biases": ("llama", dict(num_key_value_heads=1, attention_bias=True, mlp_bias=True)),
    "mistral": ("mistral", dict(num_key_value_heads=2, head_dim=8, sliding_window=None)),
    "qwen2": ("qwen2", dict(num_key_value_heads=2, use_sliding_window=False)),
    **{name: ("llama", dict(num_key_value_heads=2, head_dim=16, rope_parameters=rope)) for name, rope in ROPES.items()},
}


def weights(shapes):
    """Norms around one, biases around zero, matrices that keep the size of what they multiply."""
    made = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            half = 1.0 if "embed" in name else math.sqrt(3 / shape[1])
            made[name] = hum_random.tensor(SEED, name, shape, half)
        else:
            made[name] = hum_random.tensor(SEED, name, shape, 0.25, 0.0 if name.endswith("bias") else 1.0)
    return made


def golden_model(model_type, changes, **kwargs):
    config = transformers.AutoConfig.for_model(model_type, **{**BASE, **changes, **kwargs})
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    state = model.state_dict()
    made = weights({name: tuple(t.shape) for name, t in state.items() if not (config.tie_word_embeddings and "lm_head" in name)})
    model.load_state_dict({name: torch.from_numpy(a) for name, a in made.items()}, strict=False)
    model.tie_weights()
    return model


def cast(model, dtype):
    """Parameters alone: model.to() would round the rotary rates too, which from_pretrained leaves in f32."""
    for p in model.parameters():
        p.data = p.data.to(dtype)
    return model


def run(model, prompt=None):
    if prompt is None:
        prompt = hum_random.integers(SEED, "prompt", (PROMPT,), model.config.vocab_size)
    tokens = torch.from_numpy(prompt.astype(np.int64))[None]
    with torch.no_grad():
        cast(model, torch.float32)
        logits = model(tokens).logits[0].numpy()
        for _ in range(CONTINUED):
            scores = model(tokens).logits[0, -1]
            best = torch.topk(scores, 2)
            if float(best.values[0] - best.values[1]) < 1e-3:
                print("  a near tie:", best.values.tolist())
            tokens = torch.cat([tokens, best.indices[None, :1]], 1)
        low = cast(model, torch.bfloat16)(torch.from_numpy(prompt.astype(np.int64))[None]).logits[0].float().numpy()
    return {"prompt": prompt.astype(np.int32), "logits_f32": logits, "logits_bf16": low,
            "greedy": tokens[0, len(prompt):].numpy().astype(np.int32)}


def config_text(model):
    config = model.config.to_dict()
    config["architectures"] = [type(model).__name__]
    return json.dumps(config)


def save(path, model, prompt=None):
    text = config_text(model)
    arrays = {name: np.ascontiguousarray(a) for name, a in run(model, prompt).items()}
    safetensors.numpy.save_file(arrays, path, metadata={**MADE_BY, "config": text})
    logits = arrays["logits_f32"]
    print(path.name, "logits", logits.min(), "to", logits.max(), "bf16 off by",
          np.abs(logits - arrays["logits_bf16"]).max())


def checkpoint():
    """A folder in shards and bf16, with a tokenizer, and what the model says."""
    model = golden_model("llama", dict(num_key_value_heads=2, rope_parameters=ROPES["llama3"], eos_token_id=7))
    cast(model, torch.bfloat16)
    folder = OUT / "checkpoint"
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size="40KB")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(96)}, unk_token="w0"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)
    save(OUT / "checkpoint.safetensors", model)
    print(sorted(p.name for p in folder.iterdir()))


def rope():
    rows = []
    for name, parameters in {"default": dict(rope_type="default", rope_theta=10000.0), **ROPES}.items():
        config = transformers.LlamaConfig(**{**BASE, "head_dim": 16, "rope_parameters": dict(parameters)})
        kind = parameters["rope_type"]
        make = LlamaRotaryEmbedding.compute_default_rope_parameters if kind == "default" else ROPE_INIT_FUNCTIONS[kind]
        rates, magnitude = make(config)
        rows.append({"name": name, "parameters": parameters, "rates": rates.tolist(), "magnitude": magnitude})
    (OUT / "rope.json").write_text(json.dumps({**MADE_BY, "head_dim": 16, "positions": 128, "rows": rows}, indent=1) + "\n")


def check(folder, out):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    print("loaded", type(model).__name__, sum(p.numel() for p in model.parameters()), "parameters")
    save(pathlib.Path(out), model.eval())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", nargs=2, metavar=("FOLDER", "OUT"))
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    if arguments.check:
        return check(*arguments.check)
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (model_type, changes) in MODELS.items():
        save(OUT / f"{name}.safetensors", golden_model(model_type, changes))
    checkpoint()
    rope()


if __name__ == "__main__":
    main()
