"""Greedy decoding of a Hugging Face folder with transformers, as its users would write it.

Usage: decode_transformers.py FOLDER --dtype f32|bf16 --threads N [--compile [--freeze]]
Prints one JSON line: milliseconds of one generation after a warm-up, and its tokens. --compile uses a static cache and
compiles each step after the prompt. --freeze also turns the weights into constants in a layout for the processor
and picks the fastest matrix products by autotuning.
"""

import argparse
import json
import time

import torch
import transformers

PROMPT, NEW = 64, 256


def compiled_options(freeze):
    # torch.compile takes a mode or options.
    config = transformers.CompileConfig(mode=None, options={"freezing": True, "max_autotune": True} if freeze else None)
    config._compile_all_devices = True  # by default transformers compiles for accelerators only
    return dict(cache_implementation="static", compile_config=config)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--dtype", choices=("f32", "bf16"), required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(args.folder, dtype=getattr(torch, {"f32": "float32", "bf16": "bfloat16"}[args.dtype]))
    model.eval()
    prompt = torch.tensor([[(7 * i + 3) % model.config.vocab_size for i in range(PROMPT)]])
    options = dict(do_sample=False, pad_token_id=0, **(compiled_options(args.freeze) if args.compile else {}))

    def generate(count):
        return model.generate(prompt, attention_mask=torch.ones_like(prompt), min_new_tokens=count, max_new_tokens=count,
                              **options)

    with torch.no_grad():  # freezing does not support inference_mode
        generate(NEW if args.compile else 8)  # another size of the static cache would recompile
        start = time.perf_counter()
        tokens = generate(NEW)
        seconds = time.perf_counter() - start
    print(json.dumps({"milliseconds": [1e3 * seconds], "tokens": tokens[0, PROMPT:].tolist(),
                      "version": transformers.__version__}))


if __name__ == "__main__":
    main()
