"""Writes a Llama in a Hugging Face folder as a GGUF file in BF16 for llama.cpp.

Usage: write_gguf.py FOLDER FILE
The model has no tokenizer. llama.cpp rotates adjacent pairs of a head, Hugging Face rotates its halves; so this
script reorders the rows of the query and key matrices.
"""

import json
import pathlib
import sys

import gguf
import safetensors.torch
import torch

BLOCK_NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
               "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
               "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
         "lm_head.weight": "output.weight"}


def gguf_name(name):
    if name in NAMES:
        return NAMES[name]
    layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    return f"blk.{layer}.{BLOCK_NAMES[part]}.weight"


def pairs_from_halves(matrix, heads):
    return matrix.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def write_config(writer, config):
    heads = config["num_attention_heads"]
    head = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if rope.get("rope_type", "default") != "default":
        sys.exit(f"write_gguf: rope_type {rope['rope_type']}: only default rotary positions are supported")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(rope.get("rope_theta") or config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    writer.add_tokenizer_model("none")


def write_tensor(writer, name, tensor, config):
    if name.endswith("q_proj.weight"):
        tensor = pairs_from_halves(tensor, config["num_attention_heads"])
    if name.endswith("k_proj.weight"):
        tensor = pairs_from_halves(tensor, config["num_key_value_heads"])
    if tensor.dim() == 1:  # norms: llama.cpp keeps them in f32
        writer.add_tensor(gguf_name(name), tensor.float().numpy())
    else:
        raw = tensor.bfloat16().contiguous().view(torch.uint8).numpy()
        writer.add_tensor(gguf_name(name), raw, raw_dtype=gguf.GGMLQuantizationType.BF16)


def main(folder, file):
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(file, "llama")
    write_config(writer, config)
    for shard in sorted(folder.glob("*.safetensors")):
        for name, tensor in safetensors.torch.load_file(shard).items():
            write_tensor(writer, name, tensor, config)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: write_gguf.py FOLDER FILE")
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
