"""Greedy decoding of a Hugging Face folder with transformers, as its users would write it.

Usage: decode_transformers.py FOLDER --threads N [--compile [--freeze]]
Prints one JSON line: milliseconds of one generation after a warm-up, and its tokens. --compile: a static cache, and each
step after the prompt compiled; --freeze: with weights laid out for oneDNN once.
"""

import argparse
import json
import time

import torch
import transformers

PROMPT, NEW = 64, 256


def compiled_options(freeze):
    config = transformers.CompileConfig(mode="default", options={"freezing": True} if freeze else None)
    if freeze:
        config.mode = None  # torch.compile takes either
    config._compile_all_devices = True  # else transformers compiles for accelerators alone
    return dict(cache_implementation="static", compile_config=config)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(args.folder, dtype=torch.bfloat16)
    model.eval()
    prompt = torch.tensor([[(7 * i + 3) % model.config.vocab_size for i in range(PROMPT)]])
    options = dict(do_sample=False, min_new_tokens=NEW, max_new_tokens=NEW, pad_token_id=0)
    if args.compile:
        options |= compiled_options(args.freeze)

    def generate():
        return model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)

    with torch.no_grad():  # what freezing asks for
        generate()
        start = time.perf_counter()
        tokens = generate()
        seconds = time.perf_counter() - start
    print(json.dumps({"milliseconds": [1e3 * seconds], "tokens": tokens[0, PROMPT:].tolist(),
                      "version": transformers.__version__}))


if __name__ == "__main__":
    main()
