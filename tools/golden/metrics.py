"""Golden values for src/eval/metrics and audio/pitch, written to tests/data/eval/metrics.json.

Made with mir_eval 0.8.2, librosa 0.11.0, pyloudnorm 0.2.0, numpy 2.4.6, scipy 1.17.1; seed 11.
  pip install mir_eval librosa pyloudnorm && python tools/golden/metrics.py
"""
import json
import pathlib

import librosa
import mir_eval
import numpy as np
import pyloudnorm

from audio import rounded, test_signal
from made_by import made_by

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "eval" / "metrics.json"
RATE = 22050


def note_list(rng, count):
    """Onsets on a grid of 50 ms now and then, so that distances of exactly the tolerance occur."""
    start = np.sort(rng.uniform(0, 4, count))
    if rng.random() < 0.5:
        start = np.round(start / 0.05) * 0.05
    return [[float(f"{s:.6g}"), float(f"{s + d:.6g}"), int(p)]
            for s, d, p in zip(start, rng.uniform(0.05, 0.8, count), rng.integers(60, 66, count))]


def perturbed(rng, notes):
    result = []
    for start, end, pitch in notes:
        if rng.random() < 0.15:
            continue
        shift = rng.choice([0.0, 0.05, -0.05, 0.1, rng.normal(0, 0.04)])
        start = max(0.0, start + shift)
        result.append([float(f"{start:.6g}"), float(f"{max(end + rng.normal(0, 0.06), start + 0.02):.6g}"),
                       int(pitch + rng.choice([0, 0, 0, 0, 1, 12]))])
    return result + note_list(rng, int(rng.integers(0, 4)))


def score(reference, estimate, onset, offset):
    if not reference or not estimate:
        return [0.0, 0.0, 0.0]
    r, e = np.array(reference), np.array(estimate)
    return [float(v) for v in mir_eval.transcription.precision_recall_f1_overlap(
        r[:, :2], mir_eval.util.midi_to_hz(r[:, 2]), e[:, :2], mir_eval.util.midi_to_hz(e[:, 2]),
        onset_tolerance=onset, offset_ratio=offset)[:3]]


def note_cases(rng):
    cases = []
    for _ in range(40):
        reference = note_list(rng, int(rng.integers(1, 22)))
        estimate = perturbed(rng, reference)
        by_octave = [score(reference, [[s, e, p + k] for s, e, p in estimate], 0.05, None)[2]
                     for k in (-24, -12, 0, 12, 24)]
        cases.append({"reference": reference, "estimate": estimate, "onset50": score(reference, estimate, 0.05, None),
                      "onset100": score(reference, estimate, 0.1, None),
                      "offset": score(reference, estimate, 0.05, 0.2), "best_octave_f1": max(by_octave)})
    return cases


def yin():
    y = test_signal(2 * RATE, RATE)[: RATE // 2]
    return rounded(librosa.yin(y, fmin=55, fmax=2093, sr=RATE, frame_length=2048, hop_length=256))


def two_sounds():
    """A sweep with a tremolo; and the same one muffled, louder, with the tremolo a little later."""
    t = np.arange(RATE) / RATE
    sweep = test_signal(RATE, RATE).astype(np.float64)
    a = sweep * (0.8 + 0.4 * np.sin(2 * np.pi * 5 * t))
    b = np.convolve(sweep, [0.5, 0.3, 0.2])[:RATE] * (1.6 + 0.8 * np.sin(2 * np.pi * 5 * t - 0.7))
    return a.astype(np.float32), b.astype(np.float32)


def timbre(y):
    y = y * (0.1 / np.sqrt(np.mean(y.astype(np.float64) ** 2)))
    c = librosa.feature.mfcc(y=y.astype(np.float32), sr=RATE, n_mfcc=13)
    rms = librosa.feature.rms(y=y, frame_length=2048, hop_length=512)[0]
    return c[1:, rms >= 0.01 * rms.max()].mean(axis=1)


def mel_distance(a, b):
    meter = pyloudnorm.Meter(RATE, "DeMan")
    a, b = (y * 10 ** ((-16 - meter.integrated_loudness(y)) / 20) for y in (a, b))
    total = 0
    for window, bands in zip((32, 64, 128, 256, 512, 1024, 2048), (5, 10, 20, 40, 80, 160, 320)):
        m = librosa.filters.mel(sr=RATE, n_fft=window, n_mels=bands)
        ma, mb = (m @ np.abs(librosa.stft(y, n_fft=window, hop_length=window // 4, pad_mode="reflect")) for y in (a, b))
        floor = ma.max() * 1e-3
        total += np.mean(np.abs(np.log10(np.maximum(ma, floor)) - np.log10(np.maximum(mb, floor))))
    return float(total / 7)


def octave_differences(a, b):
    """By one FFT of the whole sound."""
    result = []
    hz = np.fft.rfftfreq(len(a), 1 / RATE)
    pa, pb = (np.abs(np.fft.rfft(y.astype(np.float64))) ** 2 for y in (a, b))
    for center in 31.25 * 2.0 ** np.arange(9):
        inside = (hz >= center / np.sqrt(2)) & (hz < center * np.sqrt(2))
        result.append(10 * np.log10(pb[inside].sum() / pa[inside].sum()))
    return rounded(result)


def envelope_correlation(a, b):
    hop, envelopes = int(0.02 * RATE), []
    for y in (a, b):
        p = np.array([np.mean(y[i:i + 2 * hop].astype(np.float64) ** 2) for i in range(0, len(y) - 2 * hop + 1, hop)])
        envelopes.append(10 * np.log10(np.maximum(p, p.max() * 1e-6)))
    return float(np.corrcoef(*envelopes)[0, 1])


def main():
    a, b = two_sounds()
    value = {"made_by": made_by("metrics.py", 11, "mir_eval", "librosa", "pyloudnorm", "numpy", "scipy"), "notes": note_cases(np.random.default_rng(11)), "yin": yin(),
             "timbre_distance": float(np.linalg.norm(timbre(a) - timbre(b))), "timbre": rounded(timbre(a)),
             "mel_distance": mel_distance(a, b), "octave_differences": octave_differences(a, b),
             "envelope_correlation": envelope_correlation(a, b)}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
