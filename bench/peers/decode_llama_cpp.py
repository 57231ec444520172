"""Greedy decoding of a GGUF file (write_gguf.py) with llama.cpp, as its users would write it.

Usage: decode_llama_cpp.py FILE --threads N [--flash-attention]
Prints one JSON line: milliseconds of one generation after a warm-up, and its tokens.
"""

import argparse
import itertools
import json
import time

import llama_cpp

PROMPT, NEW = 64, 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--flash-attention", action="store_true")
    args = parser.parse_args()
    model = llama_cpp.Llama(args.file, n_ctx=PROMPT + NEW, n_threads=args.threads, n_threads_batch=args.threads,
                            flash_attn=args.flash_attention, verbose=False)
    prompt = [(7 * i + 3) % model.n_vocab() for i in range(PROMPT)]

    def generate():
        model.reset()  # else it would reuse the cached prompt
        return list(itertools.islice(model.generate(prompt, temp=0), NEW))

    generate()
    start = time.perf_counter()
    tokens = generate()
    seconds = time.perf_counter() - start
    print(json.dumps({"milliseconds": [1e3 * seconds], "tokens": tokens, "version": llama_cpp.__version__}))


if __name__ == "__main__":
    main()
