"""Compares a program's logits with those of transformers on the same tokens.

Usage: logits_transformers.py FOLDER FILE --threads N
FILE (safetensors): tokens [T], bf16 and f32 logits [T, V] of the program. Prints one JSON line: the largest difference
in f32; the largest in bf16, as a share of the range of the logits; and how far the tokens that the program chose after
the first PROMPT tokens are below the best token of transformers, also as a share of the range.
"""

import argparse
import json

import safetensors.torch
import torch
import transformers

PROMPT = 64


def logits(folder, tokens, dtype):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()
    with torch.inference_mode():
        return model(tokens[None]).logits[0].float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    theirs = safetensors.torch.load_file(args.file)
    tokens = theirs["tokens"].long()
    wide = logits(args.folder, tokens, torch.float32)
    low = logits(args.folder, tokens, torch.bfloat16)
    scale = float(wide.max() - wide.min())
    before, chosen = low[PROMPT - 1:-1], tokens[PROMPT:, None]
    below = before.max(1).values - before.gather(1, chosen)[:, 0]
    print(json.dumps({
        "f32": float((theirs["f32"] - wide).abs().max()),
        "bf16_of_range": float((theirs["bf16"] - low).abs().max()) / scale,
        "peer_bf16_from_f32_of_range": float((low - wide).abs().max()) / scale,
        "chosen_below_best_of_range": float(below.max()) / scale,
        "chosen_as_peer": int((below == 0).sum()),
        "range": scale,
    }))


if __name__ == "__main__":
    main()
