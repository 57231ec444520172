"""Greedy decoding of a Hugging Face folder with transformers, as its users would write it.

Usage: decode_transformers.py FOLDER --threads N
Prints one JSON line: seconds of one generation after a warm-up, and its tokens.
"""

import argparse
import json
import time

import torch
import transformers

PROMPT, NEW = 64, 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(args.folder, dtype=torch.bfloat16)
    model.eval()
    prompt = torch.tensor([[(7 * i + 3) % model.config.vocab_size for i in range(PROMPT)]])
    options = dict(do_sample=False, min_new_tokens=NEW, max_new_tokens=NEW, pad_token_id=0)
    with torch.inference_mode():
        model.generate(prompt, attention_mask=torch.ones_like(prompt), **{**options, "min_new_tokens": 8, "max_new_tokens": 8})
        start = time.perf_counter()
        tokens = model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "tokens": tokens[0, PROMPT:].tolist(), "version": transformers.__version__}))


if __name__ == "__main__":
    main()
