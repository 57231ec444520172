#!/usr/bin/env python3
"""Converts a published weights file of Descript's codec (.pth) into the folder that hum reads.

The file is a pickle of {"state_dict": tensors, "metadata": {"kwargs": arguments}}. PyTorch opens it with weights_only,
so that nothing in it can run. Names and shapes stay the same. Does not read torch.package files.

    pip install torch safetensors numpy
    python tools/convert_dac.py weights.pth weights/dac-44khz
"""

import argparse
import json
import pathlib
import sys

import torch
from safetensors.torch import save_file

# The arguments that define the network. Others (quantizer_dropout) matter only in training.
FIELDS = ("encoder_dim", "encoder_rates", "latent_dim", "decoder_dim", "decoder_rates", "n_codebooks",
          "codebook_size", "codebook_dim", "sample_rate")


def arguments(kwargs):
    known = {name: kwargs[name] for name in FIELDS if kwargs.get(name) is not None}
    sizes = known.get("codebook_dim")
    if isinstance(sizes, (list, tuple)):  # one per book; hum has one for all
        if len(set(sizes)) != 1:
            sys.exit(f"codebook_dim {sizes}: hum does not support books of different sizes")
        known["codebook_dim"] = sizes[0]
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="weights.pth")
    parser.add_argument("folder", type=pathlib.Path, help="folder to write")
    options = parser.parse_args()
    checkpoint = torch.load(options.source, map_location="cpu", weights_only=True)
    if not isinstance(checkpoint, dict) or not {"state_dict", "metadata"} <= checkpoint.keys():
        sys.exit(f"{options.source}: not weights of the codec: no state_dict with metadata")
    tensors = {name: tensor.float().contiguous() for name, tensor in checkpoint["state_dict"].items()}
    config = {"model_type": "dac", "model": arguments(checkpoint["metadata"]["kwargs"])}
    options.folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, options.folder / "model.safetensors", metadata={"format": "pt"})
    (options.folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    count = sum(tensor.numel() for tensor in tensors.values())
    print(f"{options.folder}: {len(tensors)} tensors, {count:,} values")


if __name__ == "__main__":
    main()
