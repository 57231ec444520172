"""Tracks the pitch of recordings with swift-f0, PESTO and torchcrepe (its tiny model).

Usage: pitch_tracks.py RECORDING... --threads N
Prints one JSON line: "tracks", for each program a list with {"time" in s, "hz", "confidence"} of each recording, and
"versions". All run at their defaults, but torchcrepe without its Viterbi decoder: that prefers the lowest and the
highest pitch, because their transitions have fewer targets, and stays there in a voice with rests. Its confidence is the
median of three frames' periodicity, as its documentation advises. The tracks of a recording are kept below this Python's
folder and not computed again.
"""

import argparse
import hashlib
import importlib.metadata
import json
import pathlib
import sys
import types

KEPT = pathlib.Path(sys.prefix) / "tracks"
PROGRAMS = ("swift-f0", "pesto-pitch", "torchcrepe")
VERSIONS = {name: importlib.metadata.version(name) for name in (*PROGRAMS, "torch")}
STEP_MS = 10
# Rates at which the step is a whole number of samples: the programs round it, and their times drift.
PESTO_HZ, CREPE_HZ = 44100, 16000


class Trackers:
    def __init__(self, threads):
        # Both packages import torchaudio, only to read files. No version of it fits this PyTorch.
        sys.modules["torchaudio"] = types.ModuleType("torchaudio")
        import pesto
        import soxr
        import torch
        import torchcrepe
        from swift_f0 import SwiftF0
        torch.set_num_threads(threads)
        self.soxr, self.torch, self.pesto, self.torchcrepe = soxr, torch, pesto, torchcrepe
        self.detector = SwiftF0(threads=threads)

    def swift_f0(self, sound, rate_hz):
        result = self.detector.detect(sound, rate_hz)
        return result.timestamps, result.pitch_hz, result.confidence

    def pesto_pitch(self, sound, rate_hz):
        sound = self.torch.from_numpy(self.soxr.resample(sound, rate_hz, PESTO_HZ))
        time_ms, hz, confidence, _ = self.pesto.predict(sound, PESTO_HZ, step_size=STEP_MS)
        return time_ms.numpy() / 1000, hz.numpy(), confidence.numpy()

    def crepe(self, sound, rate_hz):
        crepe, hop = self.torchcrepe, CREPE_HZ * STEP_MS // 1000
        sound = self.torch.from_numpy(self.soxr.resample(sound, rate_hz, CREPE_HZ))[None]
        hz, periodicity = crepe.predict(sound, CREPE_HZ, hop, model="tiny", decoder=crepe.decode.weighted_argmax,
                                        return_periodicity=True, batch_size=512)
        periodicity = crepe.filter.median(periodicity, 3)
        time = self.torch.arange(hz.shape[1]) * (hop / CREPE_HZ)
        return time.numpy(), hz[0].numpy(), periodicity[0].numpy()

    def track(self, recording):
        import soundfile
        sound, rate_hz = soundfile.read(recording, dtype="float32")
        tracks = {}
        for name, track in zip(PROGRAMS, (self.swift_f0, self.pesto_pitch, self.crepe)):
            time, hz, confidence = track(sound, rate_hz)
            tracks[name] = {"time": [round(float(t), 6) for t in time], "hz": [round(float(f), 3) for f in hz],
                            "confidence": [round(float(c), 4) for c in confidence]}
        return tracks


def kept_path(recording):
    """A file that depends on the sound, on this script and on the versions."""
    key = hashlib.sha256(pathlib.Path(recording).read_bytes())
    key.update(pathlib.Path(__file__).read_bytes() + json.dumps(VERSIONS).encode())
    return KEPT / f"{key.hexdigest()}.json"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()

    KEPT.mkdir(exist_ok=True)
    trackers, tracks = None, {name: [] for name in PROGRAMS}
    for number, recording in enumerate(args.recordings, 1):
        path = kept_path(recording)
        if not path.exists():
            print(f"pitch_tracks: recording {number} of {len(args.recordings)}", file=sys.stderr, flush=True)
            trackers = trackers or Trackers(args.threads)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(trackers.track(recording)))
            part.rename(path)
        for name, track in json.loads(path.read_text()).items():
            tracks[name].append(track)
    print(json.dumps({"tracks": tracks, "versions": VERSIONS}))


if __name__ == "__main__":
    main()
