"""Features of recordings as `hum data extract` makes them: notes by basic-pitch with its ONNX model, tokens by hum's codec
in PyTorch.

Usage: extract_python.py CODEC.safetensors OUT RECORDING... --torch FOLDER --threads N
Writes OUT/<first 16 hex digits of a recording's SHA-256>.npy: u16 [windows, 3, 300, 8], the tokens of left, right and
their mean; 65535 in windows that are silent or without notes. Encodes the sines of the notes, too, but does not write
their tokens: hum renders them with bends and fades. FOLDER: where PyTorch is installed.
Loads both networks and runs them once before it starts the clock. Prints one JSON line: milliseconds of all recordings.
"""

import argparse
import hashlib
import json
import logging
import pathlib
import sys
import time
from importlib.metadata import version

logging.disable(logging.WARNING)  # basic-pitch warns about model formats that are not installed

RATE_HZ, WINDOW, FRAME, FRAMES, BOOKS = 22050, 132300, 441, 300, 8
SILENT, TARGET_RMS, PEAK_LIMIT = 1e-4, 0.1, 0.97
TOGETHER = 8  # windows that the codec encodes at once
MISSING = 65535


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("codec")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("recordings", nargs="+", type=pathlib.Path)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


OPTIONS = read_options()
sys.path.append(OPTIONS.torch)

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import soundfile  # noqa: E402
import soxr  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from basic_pitch import FilenameSuffix, build_icassp_2022_model_path  # noqa: E402
from basic_pitch.constants import AUDIO_N_SAMPLES, FFT_HOP  # noqa: E402
from basic_pitch.inference import Model, unwrap_output, window_audio_file  # noqa: E402
from basic_pitch.note_creation import model_output_to_notes  # noqa: E402
from codec_torch import Encoder, Quantizer  # noqa: E402
from safetensors.torch import load_file  # noqa: E402


class Transcriber:
    OVERLAP_FRAMES = 30

    def __init__(self, threads):
        path = build_icassp_2022_model_path(FilenameSuffix.onnx)
        self.model = Model(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.model.model = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def notes(self, mono):
        """As basic_pitch.inference.predict, of samples that are decoded already: (start, end, pitch, amplitude)."""
        overlap = self.OVERLAP_FRAMES * FFT_HOP
        padded = np.concatenate([np.zeros(overlap // 2, np.float32), mono])
        outputs = [self.model.predict(window[None]) for window, _ in window_audio_file(padded, AUDIO_N_SAMPLES - overlap)]
        joined = {name: unwrap_output(np.concatenate([output[name] for output in outputs]), len(mono),
                                      self.OVERLAP_FRAMES) for name in outputs[0]}
        _, events = model_output_to_notes(joined, onset_thresh=0.5, frame_thresh=0.3)
        return [event[:4] for event in events]


class Codec:
    def __init__(self, path):
        tensors = {name: value.float() for name, value in load_file(path).items()}
        self.encoder, self.quantizer = Encoder(), Quantizer()
        for part, module in (("encoder.", self.encoder), ("quantizer.", self.quantizer)):
            own = {name[len(part):]: value for name, value in tensors.items() if name.startswith(part)}
            # hum's depthwise kernels are [taps, width].
            module.load_state_dict({name: value.T[:, None].contiguous() if name.endswith("conv.weight") else value
                                    for name, value in own.items()})
            module.eval()

    @torch.inference_mode()
    def encode(self, windows):
        """[n, 132300] -> [n, 300, 8]"""
        residual = self.encoder(torch.from_numpy(windows)).flatten(0, 1)
        codes = []
        for book in self.quantizer.books:
            codes.append(book.nearest(residual))
            residual = residual - F.embedding(codes[-1], book.codebook)
        return torch.stack(codes, 1).view(len(windows), FRAMES, BOOKS).numpy().astype(np.uint16)


def levelled(channels):
    """All channels at the level of training."""
    power = np.square(channels.astype(np.float64)).reshape(len(channels), FRAMES, FRAME).mean((0, 2))
    rms = np.sqrt(power[power >= 1e-3 * power.max()].mean())
    if rms < 1e-7:
        return channels
    return channels * np.float32(min(TARGET_RMS / rms, PEAK_LIMIT / np.abs(channels).max()))


def sines(notes, samples):
    out = np.zeros(samples, np.float32)
    for start, end, pitch, amplitude in notes:
        first, last = round(start * RATE_HZ), min(round(end * RATE_HZ), samples)
        phase = 2 * np.pi * 440 * 2 ** ((pitch - 69) / 12) / RATE_HZ * np.arange(last - first)
        out[first:last] += 0.3 * amplitude * np.sin(phase, dtype=np.float32)
    return out


def windows_of(sound):
    """[channels, samples] -> [windows, channels, 132300]"""
    count = -(-sound.shape[1] // WINDOW)
    padded = np.pad(sound, ((0, 0), (0, count * WINDOW - sound.shape[1])))
    return padded.reshape(len(sound), count, WINDOW).swapaxes(0, 1)


def features(recording, transcriber, codec):
    """[windows, 3, 300, 8]"""
    sound, rate_hz = soundfile.read(recording, dtype="float32", always_2d=True)
    sound = soxr.resample(sound, rate_hz, RATE_HZ, "HQ").T
    mono = sound.mean(0)
    notes = transcriber.notes(mono)
    windows, melody = windows_of(sound), windows_of(sines(notes, len(mono))[None])
    codes = np.full((len(windows), 3, FRAMES, BOOKS), MISSING, np.uint16)
    signals, places = [], []
    for i, window in enumerate(windows):
        sounds = any(start < 6 * (i + 1) and end > 6 * i for start, end, *_ in notes)
        if np.abs(window).max() < SILENT or not sounds:
            continue
        window = levelled(window)
        own = [window[0]] if len(window) == 1 else [window[0], window[1], window.mean(0)]
        signals += own + [levelled(melody[i])[0]]
        places += ([(i, slice(0, 3))] if len(own) == 1 else [(i, signal) for signal in range(3)]) + [None]
    for first in range(0, len(signals), TOGETHER):
        encoded = codec.encode(np.stack(signals[first:first + TOGETHER]))
        for place, own in zip(places[first:], encoded):
            if place is not None:
                codes[place] = own
    return codes


def main():
    torch.set_num_threads(OPTIONS.threads)
    transcriber, codec = Transcriber(OPTIONS.threads), Codec(OPTIONS.codec)
    codec.encode(np.zeros((TOGETHER, WINDOW), np.float32))
    transcriber.notes(np.zeros(RATE_HZ, np.float32))
    OPTIONS.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    for recording in OPTIONS.recordings:
        key = hashlib.sha256(recording.read_bytes()).hexdigest()[:16]
        np.save(OPTIONS.out / f"{key}.npy", features(recording, transcriber, codec))
    print(json.dumps({"milliseconds": 1e3 * (time.perf_counter() - start),
                      "versions": {name: version(name) for name in ("basic-pitch", "onnxruntime", "torch")}}))


if __name__ == "__main__":
    main()
