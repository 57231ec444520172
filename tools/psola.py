"""Syllables of flite, moved to a pitch curve by pitch-synchronous overlap-add (Moulines & Charpentier 1990).

Used by second_voice.py. It shares no code with src/data/singing.
"""

import subprocess
import tempfile
import wave
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.signal import butter, resample_poly, sosfilt

RATE = 22050
FLITE_RATE = 16000
FINE = 4  # the source is interpolated from four times its rate
LOUDEST_NOISE = 0.4  # of a consonant, against its vowel
# What flite is asked to say, by what comes before the vowel.
WORDS = {
    "noise": "two key caw pea paw pa see sue saw she shoe fee fur foo he who her ha tah kah".split(),
    "nasal": "me moo ma knee gnaw new nah lee loo law la".split(),
    "vowel": "ah ooh awe ee".split(),
}
# Where the pitch of each speaker lies, in Hz.
SPEAKERS = {"slt": (120, 300), "rms": (60, 170), "awb": (70, 220), "kal16": (60, 180)}
NASALS = ("m", "n", "l")  # voiced: their periods are moved like those of the vowel


@dataclass
class Syllable:
    """One spoken syllable: its noise, and the marks of its periods."""

    noise: np.ndarray  # of the consonant, at RATE, against a vowel of RMS 1
    fine: np.ndarray  # the samples at FINE * FLITE_RATE
    marks: np.ndarray  # in s
    periods: np.ndarray  # in s
    gains: np.ndarray  # bring every period to RMS 1
    first_of_vowel: int  # index of a mark


def flite(speaker, arguments):
    """Runs flite; returns what it prints and the samples at FLITE_RATE."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        command = ["flite", "-voice", speaker, *arguments, "-o", file.name]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with wave.open(file.name) as sound:
            assert sound.getframerate() == FLITE_RATE and sound.getnchannels() == 1
            samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
    return printed, samples / 32768


@lru_cache
def syllables(speaker):
    """The words of WORDS as the speaker says them, in three lists; a vowel that flite creaks is left out."""
    text = ", ".join(word for words in WORDS.values() for word in words) + "."
    printed, samples = flite(speaker, ["--setf", "duration_stretch=1.8", "-psdur", "-t", text])
    spoken, group, start_s = [], [], 0.0
    fine = resample_poly(samples, FINE, 1)
    for segment in printed.split():
        name, end = segment.split(":")
        if name != "pau":
            group.append((name, start_s, float(end)))
        elif group:
            spoken.append(analysed(speaker, samples, fine, group))
            group = []
        start_s = float(end)
    assert len(spoken) == sum(map(len, WORDS.values())), f"flite spoke {len(spoken)} words"
    words = iter(spoken)
    return {kind: [word for word in [next(words) for _ in names] if word] for kind, names in WORDS.items()}


def analysed(speaker, samples, fine, segments):
    """The syllable in these segments (name, start_s, end_s), or None if its vowel has no clear periods."""
    consonant, vowel = (segments[0] if len(segments) > 1 else None), segments[-1]
    is_voiced = consonant is not None and consonant[0] in NASALS
    start_s, end_s = (consonant if is_voiced else vowel)[1], vowel[2]
    marks, periods = period_marks(samples, start_s, end_s, *SPEAKERS[speaker])
    if np.sum(marks >= vowel[1]) < 8:
        return None
    rms = np.array([level(samples, mark - period, mark + period) for mark, period in zip(marks, periods)])
    vowel_rms = np.median(rms[marks >= vowel[1]])
    noise = np.zeros(0)
    if consonant is not None and not is_voiced:
        # Up to the first voiced period, which begins after flite's end of the consonant.
        part = samples[int(consonant[1] * FLITE_RATE) : int((marks[0] - periods[0]) * FLITE_RATE)]
        # Without what flite voices in it, which is at another pitch.
        noise = sosfilt(butter(4, 500, "high", fs=RATE, output="sos"), resample_poly(part, 441, 320)) / vowel_rms
        noise *= min(1, LOUDEST_NOISE / np.sqrt(np.mean(noise**2)))
    return Syllable(noise, fine, marks, periods, 1 / np.maximum(rms, 0.05 * vowel_rms),
                    int(np.searchsorted(marks, vowel[1])))


def level(samples, start_s, end_s):
    part = samples[max(0, int(start_s * FLITE_RATE)) : int(end_s * FLITE_RATE) + 1]
    return np.sqrt(np.mean(part**2) + 1e-12)


def correlations(samples, times_s, low_hz, high_hz):
    """Normalised autocorrelation around each time; shapes [times, lags], [lags]."""
    lags = np.arange(int(FLITE_RATE / high_hz), int(FLITE_RATE / low_hz) + 1)
    window = int(2.5 * FLITE_RATE / low_hz)
    padded = np.pad(samples, window + lags[-1])
    starts = (np.asarray(times_s) * FLITE_RATE).astype(int) + window + lags[-1] - (window + lags[-1]) // 2
    frames = padded[starts[:, None] + np.arange(window + lags[-1])]
    power = np.cumsum(np.pad(frames**2, ((0, 0), (1, 0))), axis=1)
    size = 1 << int(np.ceil(np.log2(2 * frames.shape[1])))
    spectrum = np.fft.rfft(frames, size)
    first = np.fft.rfft(frames[:, :window], size)
    products = np.fft.irfft(spectrum * np.conj(first), size)[:, lags]
    energy = power[:, [window]] * (power[:, lags + window] - power[:, lags])
    return products / np.sqrt(energy + 1e-9), lags


def period_marks(samples, start_s, end_s, low_hz, high_hz):
    """Times and lengths in s of the voiced periods between two times."""
    times_s = np.arange(start_s, end_s, 0.004)
    r, lags = correlations(samples, times_s, low_hz, high_hz)
    # The shortest lag that is nearly as good as the best one: not two periods.
    best = np.array([np.flatnonzero(row >= row.max() - 0.07)[0] for row in r])
    best = np.array([lo + np.argmax(row[lo : lo + 8]) for lo, row in zip(best, r)])
    lag_of = np.array([np.median(lags[best][max(0, i - 3) : i + 4]) for i in range(len(best))])
    is_voiced = r[np.arange(len(r)), best] > 0.6
    if is_voiced.sum() < 8:
        return np.zeros(0), np.zeros(0)
    voiced = times_s[is_voiced]
    low_passed = np.convolve(samples, np.hanning(16) / 8, "same")
    middle = int(0.5 * (voiced[0] + voiced[-1]) * FLITE_RATE)
    lag = lambda at: float(np.interp(at / FLITE_RATE, times_s, lag_of))
    around = low_passed[middle - int(lag(middle)) : middle + int(lag(middle))]
    sign = 1 if around.max() > -around.min() else -1
    peak_near = lambda at, reach: at - reach + int(np.argmax(sign * low_passed[at - reach : at + reach + 1]))
    marks = [peak_near(middle, int(0.6 * lag(middle)))]
    for way in (1, -1):
        at = marks[0]
        while voiced[0] * FLITE_RATE < at + way * lag(at) < voiced[-1] * FLITE_RATE:
            at = peak_near(int(round(at + way * lag(at))), int(0.15 * lag(at)))
            marks.append(at)
    marks = np.unique(marks)
    return marks / FLITE_RATE, np.array([lag(mark) for mark in marks]) / FLITE_RATE


def overlap_add(out, syllable, times_s, periods_s, places, amplitudes, formant_scale):
    """Adds one period of the syllable at each time: the one at index `places`, with formants scaled."""
    marks, lengths = syllable.marks[places], syllable.periods[places]
    reach = int(np.ceil(lengths.max() / formant_scale * RATE)) + 1
    first = np.round(times_s * RATE).astype(int)
    at = first[:, None] + np.arange(-reach, reach + 1)
    offset_s = (at / RATE - times_s[:, None]) * formant_scale
    window = np.where(np.abs(offset_s) < lengths[:, None], 0.5 + 0.5 * np.cos(np.pi * offset_s / lengths[:, None]), 0)
    source = (marks[:, None] + offset_s) * FINE * FLITE_RATE
    whole = np.clip(source.astype(int), 0, len(syllable.fine) - 2)
    grains = syllable.fine[whole] + (source - whole) * (syllable.fine[whole + 1] - syllable.fine[whole])
    # Periods that follow each other faster add up to more.
    gains = amplitudes * syllable.gains[places] * np.minimum(periods_s * formant_scale / lengths, 1.5)
    inside = (at >= 0) & (at < len(out))
    np.add.at(out, at[inside], (grains * window * gains[:, None])[inside])
