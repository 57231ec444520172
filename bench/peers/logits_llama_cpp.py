"""Compares a program's bf16 logits with those of llama.cpp on the same tokens.

Usage: logits_llama_cpp.py GGUF FILE --threads N
FILE (safetensors): tokens [T], bf16 and f32 logits [T, V] of the program. Prints one JSON line: the largest difference
between bf16 logits, as a share of the range of the program's f32 logits.
"""

import argparse
import json

import llama_cpp
import safetensors.torch
import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gguf")
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    theirs = safetensors.torch.load_file(args.file)
    tokens = theirs["tokens"].tolist()
    model = llama_cpp.Llama(args.gguf, n_ctx=len(tokens), logits_all=True, n_threads=args.threads,
                            n_threads_batch=args.threads, verbose=False)
    model.eval(tokens)
    logits = torch.tensor(model.scores[:len(tokens)])
    scale = float(theirs["f32"].max() - theirs["f32"].min())
    print(json.dumps({"bf16_of_range": float((theirs["bf16"] - logits).abs().max()) / scale}))


if __name__ == "__main__":
    main()
