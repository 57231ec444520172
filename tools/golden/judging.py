"""Golden values for the metrics that evaluate a system: tests/data/eval/judging.json. rule.py generates lists and
arrays, so only results are stored. The sounds are those of metrics.py.

Made with mir_eval 0.8.2, librosa 0.11.0, scipy 1.17.1, scikit-learn 1.9.1, numpy 2.4.6, pyloudnorm 0.2.0; no seed
besides the names.
  pip install mir_eval librosa scikit-learn pyloudnorm && python tools/golden/judging.py
DAC's losses and MusicGen's chroma are computed as defined in dac/nn/loss.py, audiotools and
audiocraft/modules/chroma.py, with librosa's filters, which those also call.
"""
import json
import pathlib
from unittest import mock

import librosa
import mir_eval
import numpy as np
import pyloudnorm
import scipy.linalg
import scipy.special
import scipy.stats
import sklearn.metrics

from audio import test_signal
from made_by import made_by
from metrics import RATE, two_sounds
from rule import digits, ruled

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "eval" / "judging.json"
NOTE_LISTS = 240


def drawn(name, count, low, high):
    return ruled(name, (count,), low, high).astype(np.float64)


def whole(name, count, low, high):
    """Integers in [low, high)."""
    return np.floor(drawn(name, count, low, high)).astype(int)


def note_list(name, count):
    """Rows of start, end, pitch; every other list on a grid of 50 ms: distances of exactly the tolerance occur."""
    start = np.sort(drawn(name + " start", count, 0, 4))
    if whole(name + " grid", 1, 0, 2)[0] == 1:
        start = np.round(start / 0.05) * 0.05
    return np.stack([start, start + drawn(name + " length", count, 0.05, 0.8), whole(name + " pitch", count, 60, 66)], 1)


def perturbed(name, notes):
    count = len(notes)
    shifts = np.stack([drawn(name + " jitter", count, -0.1, 0.1)] + [np.full(count, s) for s in (0.0, 0.05, -0.05, 0.1)], 1)
    start = np.maximum(0, notes[:, 0] + shifts[np.arange(count), whole(name + " shift", count, 0, 5)])
    end = np.maximum(notes[:, 1] + drawn(name + " end", count, -0.1, 0.1), start + 0.02)
    pitch = notes[:, 2] + np.array([0, 0, 0, 0, 1, 12])[whole(name + " move", count, 0, 6)]
    kept = np.stack([start, end, pitch], 1)[drawn(name + " keep", count, 0, 1) >= 0.15]
    return np.concatenate([kept, note_list(name + " extra", whole(name + " extras", 1, 0, 4)[0])])


def note_score(reference, estimate, offset_ratio):
    if len(reference) == 0 or len(estimate) == 0:
        return [0.0, 0.0, 0.0]
    return [float(v) for v in mir_eval.transcription.precision_recall_f1_overlap(
        reference[:, :2], mir_eval.util.midi_to_hz(reference[:, 2]), estimate[:, :2],
        mir_eval.util.midi_to_hz(estimate[:, 2]), offset_ratio=offset_ratio)[:3]]


def note_scores():
    rows = []
    for i in range(NOTE_LISTS):
        reference = note_list(f"notes {i}", whole(f"notes {i} count", 1, 1, 23)[0])
        estimate = perturbed(f"heard {i}", reference)
        rows.append(note_score(reference, estimate, None) + note_score(reference, estimate, 0.2))
    return rows


def pitch_accuracies():
    """Tracks with rests on both sides, octave errors, and errors around the tolerance."""
    rows = []
    for i in range(20):
        reference = np.where(drawn(f"voiced {i}", 200, 0, 1) < 0.8, drawn(f"track {i}", 200, 80, 900), 0)
        cents = drawn(f"error {i}", 200, -60, 60) + 1200 * whole(f"octave {i}", 200, -1, 2) * (drawn(f"jump {i}", 200, 0, 1) < 0.2)
        estimate = np.where(drawn(f"heard {i}", 200, 0, 1) < 0.9, reference * 2 ** (cents / 1200), 0)
        tracks = [mir_eval.melody.hz2cents(t) for t in (reference, estimate)]
        voicing = [t > 0 for t in (reference, estimate)]
        arguments = voicing[0].astype(float), tracks[0], voicing[1].astype(float), tracks[1]
        rows.append([float(mir_eval.melody.raw_pitch_accuracy(*arguments)), float(mir_eval.melody.raw_chroma_accuracy(*arguments))])
    return rows


def melody_track(name, count, hop, start):
    """Times, Hz below 0 where it is unvoiced, 0 without a pitch: about 200 Hz rising, stretches of ten frames."""
    time = start + hop * np.arange(count)
    kind = np.repeat(whole(name + " kind", count // 10, 0, 5), 10)  # 0: no pitch, 1: unvoiced, above: voiced
    hz = 200 + 50 * time + drawn(name + " error", count, -8, 8)
    return time, hz * np.choose(np.minimum(kind, 2), [0, -1, 1])


def melodies():
    """Tracks on other frames than the reference's, beginning later, ending before or after it; the last on the same."""
    rows = []
    for i in range(13):
        hop = 256 / 44100 if i == 12 else (0.01, 0.016)[i % 2]
        start = 0.0 if i == 12 else (0.0, 0.005, 0.1)[i % 3]
        reference = melody_track(f"melody {i}", 400, 256 / 44100, 0.005 if i == 5 else 0.0)
        estimate = melody_track(f"follower {i}", 400 if i == 12 else 10 * whole(f"follower {i} tens", 1, 5, 30)[0], hop, start)
        scores = mir_eval.melody.evaluate(*reference, *estimate)
        rows.append([float(scores[key]) for key in ("Raw Pitch Accuracy", "Voicing Recall", "Voicing False Alarm")])
    return rows


def magnitude(y, window):
    return np.abs(librosa.stft(y.astype(np.float64), n_fft=window, hop_length=window // 4, pad_mode="reflect"))


def dac_scale(a, b, power, linear):
    logs = [power * np.log10(np.maximum(x, 1e-5)) for x in (a, b)]
    return np.mean(np.abs(logs[0] - logs[1])) + linear * np.mean(np.abs(a - b))


def dac(a, b):
    def mel(windows, bands, power, linear):
        total = 0
        for window, count in zip(windows, bands):
            m = librosa.filters.mel(sr=RATE, n_fft=window, n_mels=count)
            total += dac_scale(m @ magnitude(a, window), m @ magnitude(b, window), power, linear)
        return float(total)
    training = mel((32, 64, 128, 256, 512, 1024, 2048), (5, 10, 20, 40, 80, 160, 320), 1, 0)
    stft = sum(dac_scale(magnitude(a, w), magnitude(b, w), 2, 1) for w in (2048, 512))
    return {"training_mel": training, "mel": mel((2048, 512), (150, 80), 2, 1), "stft": float(stft)}


def stft_distance(a, b):
    meter = pyloudnorm.Meter(RATE, "DeMan")
    a, b = (y * 10 ** ((-16 - meter.integrated_loudness(y)) / 20) for y in (a, b))
    total = 0
    for window in (2048, 512):
        ma, mb = magnitude(a, window), magnitude(b, window)
        floor = ma.max() * 1e-3
        total += np.mean(np.abs(np.log10(np.maximum(ma, floor)) - np.log10(np.maximum(mb, floor))))
    return float(total / 2)


def log_spectral_distance(a, b):
    def spec(y):
        y = librosa.resample(y, orig_sr=RATE, target_sr=16000)
        y = y / (np.sqrt(np.mean(y**2)) + np.finfo(y.dtype).eps)
        return librosa.power_to_db(librosa.feature.melspectrogram(y=y, sr=16000))
    return float(np.mean(np.sqrt(np.mean((spec(b) - spec(a)) ** 2, axis=1))))


def chroma_classes(y):
    y = librosa.resample(y, orig_sr=RATE, target_sr=32000)
    power = np.abs(librosa.stft(y, n_fft=16384, hop_length=4096, pad_mode="reflect")) ** 2
    bank = librosa.filters.chroma(sr=32000, n_fft=16384, tuning=0, n_chroma=12)
    return (bank @ power).argmax(0)[: -(-len(y) // 4096)].tolist()


def chroma():
    sweep = test_signal(4 * RATE, RATE)
    late = np.concatenate([np.zeros(RATE // 4, np.float32), sweep[: -(RATE // 4)]])
    a, b = chroma_classes(sweep), chroma_classes(late)
    return {"sweep": a, "late": b, "cosine": float(np.mean(np.array(a) == np.array(b)))}


def frechet():
    a = ruled("frechet a", (40, 6)).astype(np.float64)
    b = ruled("frechet b", (30, 6), -0.5, 1.5).astype(np.float64) @ ruled("frechet mix", (6, 6)).astype(np.float64)
    b = b.astype(np.float32).astype(np.float64)
    ca, cb = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    root = scipy.linalg.sqrtm(ca @ cb).real
    value = np.sum((a.mean(0) - b.mean(0)) ** 2) + np.trace(ca + cb - 2 * root)
    return {"b": digits(b, 9), "distance": float(value)}


def top_k():
    logits, targets = ruled("logits", (50, 12)), whole("targets", 50, 0, 12)
    return [float(sklearn.metrics.top_k_accuracy_score(targets, logits, k=k, labels=range(12))) for k in (1, 3, 10)]


def cross_entropy():
    logits, targets = ruled("logits", (50, 12)), whole("targets", 50, 0, 12)
    return float(sklearn.metrics.log_loss(targets, scipy.special.softmax(logits.astype(np.float64), axis=1), labels=range(12)))


def bootstrap():
    values = drawn("clips", 25, 0, 2) ** 3
    indices = whole("resamples", 500 * 25, 0, 25).reshape(500, 25)
    result = {}
    for method in ("percentile", "BCa"):
        with mock.patch("scipy.stats._resampling.rng_integers", lambda *_: indices):
            interval = scipy.stats.bootstrap((values,), np.mean, n_resamples=500, method=method, batch=500).confidence_interval
        result[method] = [float(interval.low), float(interval.high)]
    return result | {"mean": float(values.mean())}


def main():
    a, b = two_sounds()
    value = {"made_by": made_by("judging.py", "none: numbers by rule", "mir_eval", "librosa", "scipy", "scikit-learn", "numpy", "pyloudnorm"),
             "notes": note_scores(), "pitch_accuracy": pitch_accuracies(), "melody": melodies(), "dac": dac(a, b), "stft_distance": stft_distance(a, b),
             "log_spectral_distance_db": log_spectral_distance(a, b), "chroma": chroma(), "frechet": frechet(), "top_k": top_k(), "cross_entropy": cross_entropy(),
             "bootstrap": bootstrap()}
    OUT.write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
