"""Golden values for the metrics of separated stems: tests/data/eval/separation.json. Sources and estimates are made by
the rule of signals(), which src/eval/metrics/testing_separation.h makes too, so only the rule's settings and the
results are stored.

Made with museval 0.4.1, mir_eval 0.8.2, numpy 2.4.6, scipy 1.17.1; no seed besides the names.
  pip install --no-deps museval==0.4.1 mir_eval==0.8.2 numpy==2.4.6 scipy==1.17.1 decorator==5.3.1
  python tools/golden/separation.py
Loads museval's metrics.py alone, because the package itself imports musdb, pandas and soundfile. SI-SDR, bleed, floors
and ceilings are written here from their definitions, with numpy.
"""
import importlib.util
import json
import math
import pathlib

import mir_eval
import numpy as np
import scipy.ndimage
import scipy.signal

from made_by import made_by
from rule import ruled

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "eval" / "separation.json"
METRICS = ("SDR", "ISR", "SIR", "SAR")
STFT_WINDOW, STFT_HOP, HPSS_MEDIAN = 4096, 1024, 17

# gaps, estimate_gaps: silence of a source from one sample to another. antiphase: so are an estimate's two channels.
# alike: all channels of a source are the same, which makes the normal equations singular. Elsewhere each channel has
# another sound too (room): where one is a short filter of another, museval's frames are rounding errors.
DEFAULTS = {"sources": 2, "channels": 1, "samples": 24500, "window": 8000, "levels": [1, 1, 1, 1], "bleed": 0.1, "noise": 0.03,
            "gaps": [], "estimate_gaps": [], "antiphase": [], "alike": False}
CASES = [
    {"name": "mono"},
    {"name": "stereo", "channels": 2},
    {"name": "bleeds", "sources": 3, "bleed": 0.8, "noise": 0.2},
    {"name": "silence", "sources": 3, "channels": 2, "samples": 40000, "levels": [1, 0.5, 1e-4],
     "gaps": [[1, 8000, 16000], [2, 12000, 20000]], "estimate_gaps": [[0, 24000, 32000]]},
    {"name": "four", "sources": 4, "samples": 20000},
    {"name": "four in stereo", "sources": 4, "channels": 2, "samples": 17000, "levels": [1, 0.3, 0.1, 1e-3]},
    {"name": "three channels", "channels": 3, "samples": 17000},
    {"name": "shorter than a frame", "channels": 2, "samples": 5000},
    {"name": "one frame", "samples": 8000},
    {"name": "channels alike", "channels": 2, "alike": True},
    {"name": "antiphase", "channels": 2, "antiphase": [[1, 8000, 16000]]},
]
WITH_MIR_EVAL = ("mono", "stereo", "bleeds", "silence", "four", "shorter than a frame", "one frame")
MASKED = [{"name": "masked mono", "sources": 3, "samples": 30000}, {"name": "masked stereo", "sources": 3, "channels": 2, "samples": 30000}]


def load_museval():
    package = importlib.util.find_spec("museval")
    path = pathlib.Path(package.origin).with_name("metrics.py")
    spec = importlib.util.spec_from_file_location("museval_metrics", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def late(x, samples):
    return np.concatenate([np.zeros(samples), x])[: len(x)]


def signals(case):
    """References and estimates, each of shape [sources, samples, channels]; float32 numbers as float64."""
    shape = case["sources"], case["samples"], case["channels"]
    references, estimates = np.zeros(shape), np.zeros(shape)
    for j in range(case["sources"]):
        white = ruled(f"{case['name']} source {j}", (case["samples"],)).astype(np.float64)
        y = scipy.signal.lfilter([1], [1, -(0.9 - 0.4 * j)], white)
        for c in range(case["channels"]):
            k = 0 if case["alike"] else c
            room = ruled(f"{case['name']} room {j} {k}", (case["samples"],)).astype(np.float64)
            sound = late(y, 7 * j + 5 * k) + (0.25 + 0.25 * k) * late(y, 7 * j + 5 * k + 3) + 0.2 * room
            references[j, :, c] = (0.2 * case["levels"][j] * sound).astype(np.float32)
    for j, first, last in case["gaps"]:
        references[j, first:last] = 0
    for j in range(case["sources"]):
        for c in range(case["channels"]):
            own, other = references[j, :, c], references[j, :, case["channels"] - 1 - c]
            sound = 0.9 * own + 0.2 * late(own, 2) - 0.1 * late(other, 40) + 0.05 * late(own, 700)
            for k in range(case["sources"]):
                if k != j:
                    sound = sound + case["bleed"] * case["levels"][j] * late(references[k, :, c], 11 * (k + 1))
            sound = sound + case["noise"] * case["levels"][j] * ruled(f"{case['name']} noise {j} {c}", (case["samples"],)).astype(np.float64)
            estimates[j, :, c] = sound.astype(np.float32)
    for j, first, last in case["estimate_gaps"]:
        estimates[j, first:last] = 0
    for j, first, last in case["antiphase"]:
        estimates[j, first:last, 1] = -estimates[j, first:last, 0]
    return references, estimates


def numbers(values):
    """Nested lists with null for NaN."""
    if isinstance(values, (list, tuple, np.ndarray)):
        return [numbers(v) for v in values]
    assert not math.isinf(values)
    return None if math.isnan(values) else float(values)


def sdr(reference, estimate):
    return 10 * np.log10(np.sum(reference**2) / np.sum((reference - estimate) ** 2))


def si_sdr(reference, estimate):
    scaled = np.sum(reference * estimate) / np.sum(reference**2) * reference
    return 10 * np.log10(np.sum(scaled**2) / np.sum((estimate - scaled) ** 2))


def bleed(references, estimate, j):
    """The level of the other sources in the estimate, relative to their level in the mixture."""
    basis = references.reshape(len(references), -1).T
    gains = np.linalg.lstsq(basis, estimate.ravel())[0]
    others = [k for k in range(len(references)) if k != j]
    return 10 * np.log10(np.sum((basis[:, others] @ gains[others]) ** 2) / np.sum(basis[:, others].sum(1) ** 2))


def scores(case, museval):
    references, estimates = signals(case)
    framewise = museval.bss_eval(references, estimates, window=case["window"], hop=case["window"])[:4]
    result = {"frames": {name: numbers(values) for name, values in zip(METRICS, framewise)},
              "medians": {name: numbers(np.nanmedian(values, axis=1)) for name, values in zip(METRICS, framewise)}}
    pairs = list(zip(references, estimates))
    result["sdr"] = numbers([sdr(r, e) for r, e in pairs])
    result["si_sdr"] = numbers([si_sdr(r, e) for r, e in pairs])
    result["mixture_si_sdr"] = numbers([si_sdr(r, references.sum(0)) for r in references])
    result["bleed_db"] = numbers([bleed(references, e, j) for j, e in enumerate(estimates)])
    if case["name"] in WITH_MIR_EVAL:
        whole = mir_eval.separation.bss_eval_images(references, estimates, compute_permutation=False)[:4]
        result["whole"] = {name: numbers(values) for name, values in zip(METRICS, whole)}
    return result


def hann():
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(STFT_WINDOW) / STFT_WINDOW)


def stft(sound):
    """[samples, channels] -> [bins, frames, channels]; frame t is centred on sample t * hop."""
    padded = np.pad(sound, [(STFT_WINDOW // 2,) * 2, (0, 0)])
    frames = 1 + len(sound) // STFT_HOP
    return np.stack([np.fft.rfft(padded[t * STFT_HOP : t * STFT_HOP + STFT_WINDOW] * hann()[:, None], axis=0) for t in range(frames)], 1)


def istft(spectrum, samples):
    frames = spectrum.shape[1]
    total = np.zeros((frames * STFT_HOP + STFT_WINDOW, spectrum.shape[2]))
    weight = np.zeros((len(total), 1))
    for t in range(frames):
        place = slice(t * STFT_HOP, t * STFT_HOP + STFT_WINDOW)
        total[place] += np.fft.irfft(spectrum[:, t], axis=0) * hann()[:, None]
        weight[place] += hann()[:, None] ** 2
    return (total / np.maximum(weight, 1e-11))[STFT_WINDOW // 2 :][:samples]


def wiener(y, x):
    """The multichannel Wiener filter of known sources. y: [sources, bins, frames, channels], x: the mixture."""
    eps, channels = np.finfo(float).eps, x.shape[-1]
    powers, spatial = [], []
    for spectrum in y:
        observed = spectrum[..., :, None] * spectrum[..., None, :].conj()
        mean_power = np.mean(np.abs(spectrum) ** 2, axis=-1)
        r = np.mean(observed / (eps + mean_power)[..., None, None], axis=1)
        r = r * channels / np.trace(r, axis1=1, axis2=2)[:, None, None] + eps * np.eye(channels)
        inverse = np.linalg.inv(r + eps * np.eye(channels))
        powers.append(np.real(np.einsum("fij,ftji->ft", inverse, observed)) / channels)
        spatial.append(r)
    mix = sum(p[..., None, None] * r[:, None] for p, r in zip(powers, spatial))
    inverse = np.linalg.inv(mix + eps * np.eye(channels))
    return [np.einsum("ft,fij,ftjk,ftk->fti", p, r, inverse, x) for p, r in zip(powers, spatial)]


def masked(case):
    references, _ = signals(case)
    mixture = references.sum(0).astype(np.float32).astype(np.float64)
    y, x = np.array([stft(r) for r in references]), stft(mixture)
    eps = np.finfo(float).eps
    power = np.abs(y) ** 2
    magnitude = np.abs(x).mean(-1)
    steady = scipy.ndimage.median_filter(magnitude, size=(1, HPSS_MEDIAN), mode="reflect") ** 2
    sudden = scipy.ndimage.median_filter(magnitude, size=(HPSS_MEDIAN, 1), mode="reflect") ** 2
    percussive = (sudden / (steady + sudden))[..., None] * x
    shared = power.sum(-1, keepdims=True)
    spectra = {"ibm": [x * (p / (eps + np.abs(x) ** 2) >= 0.5) for p in power],
               "irm": [x * p / (eps + power.sum(0)) for p in power],
               "irm, one mask": [x * p / (eps + shared.sum(0)) for p in shared],
               "mwf": wiener(y, x),
               "hpss": [percussive, x - percussive, x - percussive]}
    result = {name: numbers([sdr(r, istft(s, case["samples"])) for r, s in zip(references, sounds)]) for name, sounds in spectra.items()}
    gains = [np.sum(r * mixture) / np.sum(mixture**2) for r in references]
    return result | {"mixture": numbers([sdr(r, mixture) for r in references]),
                     "best gain": numbers([sdr(r, g * mixture) for g, r in zip(gains, references)])}


def main():
    museval = load_museval()
    cases = [DEFAULTS | case for case in CASES]
    value = {"made_by": made_by("separation.py", "none: numbers by rule", "museval", "mir_eval", "numpy", "scipy"),
             "cases": [case | scores(case, museval) for case in cases],
             "masked": [case | masked(case) for case in (DEFAULTS | case for case in MASKED)]}
    OUT.write_text(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
