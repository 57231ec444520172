"""Makes tests/data/dac/: output of Descript's own codec with generated weights, and the layout of its files.

small.json: codes, latents, audio and gradients of two small models (all structures; even and odd rates) for a whole
sound; for the second model also for a chunk without padding. published.json: names and shapes of the parameters of the
published models, computed from shapes only. Versions: Python 3.11, descript-audio-codec 1.0.0, torch 2.15.0, numpy
2.4.6. rule.py generates the values; there is no seed.

    pip install torch numpy einops tqdm && pip install --no-deps descript-audio-codec==1.0.0
    python tools/golden/dac_codec.py tests/data/dac
"""

import json
import pathlib
import sys
import types

import numpy as np
import torch

from made_by import made_by
from rule import digits, ruled


class _Absent(types.ModuleType):
    """Stands for a package that the codec imports but that its network does not use."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def import_dac():
    for name in ("audiotools", "audiotools.ml", "argbind"):
        sys.modules[name] = _Absent(name)
    base = type("BaseModel", (torch.nn.Module,), {"INTERN": [], "EXTERN": []})
    sys.modules["audiotools.ml"].BaseModel = base
    sys.modules["audiotools"].ml = sys.modules["audiotools.ml"]
    sys.modules["dac.utils"] = _Absent("dac.utils")
    from dac.model.dac import DAC

    return DAC


SMALL = {
    "even": dict(encoder_dim=8, encoder_rates=[2, 4, 8], decoder_dim=48, decoder_rates=[8, 4, 2], n_codebooks=4,
                 codebook_size=32, codebook_dim=8, sample_rate=8000),
    "odd": dict(encoder_dim=4, encoder_rates=[3, 5], latent_dim=12, decoder_dim=20, decoder_rates=[5, 3],
                n_codebooks=3, codebook_size=20, codebook_dim=5, sample_rate=8000),
}
SAMPLES = {"even": 16 * 64, "odd": 24 * 15}
CHUNK_SAMPLES = 1200
RANGES = {"weight_g": (0.5, 1.0), "weight_v": (-1, 1), "bias": (-0.1, 0.1), "alpha": (0.3, 2), "weight": (-1, 1)}
PUBLISHED = {
    "44khz": dict(),
    "24khz": dict(encoder_rates=[2, 4, 5, 8], decoder_rates=[8, 5, 4, 2], n_codebooks=32, sample_rate=24000),
    "16khz": dict(encoder_rates=[2, 4, 5, 8], decoder_rates=[8, 5, 4, 2], n_codebooks=12, sample_rate=16000),
}


def fill(model, name):
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            low, high = RANGES[key.rsplit(".", 1)[-1]]
            scale = 0.3 if key.startswith(f"decoder.model.{len(model.decoder_rates) + 2}.weight_g") else 1
            parameter.copy_(torch.from_numpy(ruled(f"{name}/{key}", tuple(parameter.shape), low, high) * scale))


def smallest_margin(model, latents, codes):
    """How much nearer the chosen entries are than the second nearest: codes of another order of sums are equal."""
    margin, place = np.inf, 0
    for quantizer in model.quantizer.quantizers:
        size = quantizer.codebook.weight.shape[1]
        e = torch.nn.functional.normalize(latents[:, place : place + size].transpose(1, 2), dim=2)
        c = torch.nn.functional.normalize(quantizer.codebook.weight)
        best = (e @ c.t()).topk(2, dim=2).values
        margin, place = min(margin, float((best[..., 0] - best[..., 1]).min())), place + size
    return margin


def coded(model, audio):
    with torch.no_grad():
        z, codes, latents, commitment, codebook = model.encode(audio)
        heard = model.decode(model.quantizer.from_codes(codes)[0])
        assert float((heard - model.decode(z)).abs().max()) < 1e-5
    margin = smallest_margin(model, latents, codes)
    assert margin > 2e-5, f"a near tie of {margin}: choose other weights"
    print("codes", tuple(codes.shape), "margin", margin, "audio rms", float(heard.pow(2).mean().sqrt()))
    return {"codes": codes.transpose(1, 2).flatten().tolist(), "projected": digits(latents.transpose(1, 2), 6),
            "audio": digits(heard, 6), "commitment_loss": float(commitment), "codebook_loss": float(codebook)}


def gradients(model, name, audio):
    """Of a weighted sum of the audio and both losses, in double: for each parameter its norm and one projection."""
    model = model.double().train()
    z, _, _, commitment, codebook = model.encode(audio.double())
    heard = model.decode(z)
    weights = torch.from_numpy(ruled(f"{name}/cotangent", tuple(heard.shape)).astype(np.float64))
    ((heard * weights).sum() + 0.25 * commitment + codebook).backward()
    result = {}
    for key, parameter in model.named_parameters():
        direction = ruled(f"{name}/direction/{key}", tuple(parameter.shape)).astype(np.float64)
        result[key] = digits([parameter.grad.norm(), (parameter.grad.numpy() * direction).sum()])
    return result


def small_model(DAC, name):
    model = DAC(**SMALL[name]).eval()
    fill(model, name)
    result = {"model": SMALL[name], "shapes": {k: list(v.shape) for k, v in model.state_dict().items()}}
    audio = torch.from_numpy(ruled(f"{name}/padded", (2, 1, SAMPLES[name]), -0.8, 0.8))
    result["padded"] = {"samples": SAMPLES[name], **coded(model, audio)}
    if name == "odd":
        model.padding = False
        chunk = torch.from_numpy(ruled(f"{name}/unpadded", (1, 1, CHUNK_SAMPLES), -0.8, 0.8))
        result["unpadded"] = {"samples": CHUNK_SAMPLES, **coded(model, chunk)}
        model.padding = True
    if name == "odd":
        result["gradients"] = gradients(model, name, audio)
    return result


def published_model(DAC, name):
    with torch.device("meta"):
        model = DAC(**PUBLISHED[name])
    shapes = {k: list(v.shape) for k, v in model.state_dict().items()}
    result = {"model": PUBLISHED[name], "parameters": sum(int(np.prod(s)) for s in shapes.values()),
              "tensors": len(shapes), "delay": model.delay, "hop": int(model.hop_length),
              "unpadded_samples_of_100000": model.get_output_length(100000)}
    if name == "44khz":
        result["shapes"] = shapes
    return result


def write(path, content):
    maker = made_by("dac_codec.py", "none: values by tools/golden/rule.py", "descript-audio-codec", "torch", "numpy")
    rows = ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in content.items())
    path.write_text(f'{{"made_by": {json.dumps(maker)},\n{rows}}}\n')
    print(path.name, path.stat().st_size, "bytes")


def main(folder):
    torch.set_num_threads(1)
    DAC = import_dac()
    write(pathlib.Path(folder) / "small.json", {name: small_model(DAC, name) for name in SMALL})
    write(pathlib.Path(folder) / "published.json", {name: published_model(DAC, name) for name in PUBLISHED})


if __name__ == "__main__":
    main(sys.argv[1])
