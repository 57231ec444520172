#!/usr/bin/env python3
"""Makes hums of a second voice, on which the ear is validated: speech of flite, moved to a melody.

It shares no source, filter, consonant or pitch curve with src/data/singing, from which the ear learns. The notes are as
src/data/synthesis/sung_note.h defines them. Needs flite, NumPy and SciPy (build/peers-notes has both).

Example: tools/second_voice.py --condition melisma --count 50 --seed 1 out/second/melisma
writes 0000.wav (22,050 Hz, mono, 16 bits) and 0000.json ({"notes": [{"start", "end", "hz", "pitch"}]}: s, Hz, MIDI) to
0049.json. The condition babble adds 0000_babble.wav, four speakers at once at the level of the voice, to be mixed in.
"""

import argparse
import json
import wave
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.signal import butter, resample_poly, sosfilt

import psola
from psola import FLITE_RATE, RATE, SPEAKERS
from second_song import CONTROL_HZ, Condition, chains, join, label, level_curve, melody, pitch_curve, with_runs

LOWEST = {"slt": 55, "rms": 45, "awb": 45, "kal16": 43}  # MIDI, of singers with the default span
HELD_SPEED = 0.3  # of the speech, where a vowel is held
CONDITIONS = {
    "clean": Condition(),
    "legato": Condition(slurs=0.75, nasals=0.2),
    "off_key": Condition(tuning_cents=40),
    "wide_vibrato": Condition(vibrato=1, vibrato_cents=(90, 150)),
    "melisma": Condition(slurs=0.3, melismas=0.5),
    "low_male": Condition(speakers=("rms", "awb", "kal16"), low=40, span=17, formants=(0.88, 1)),
    "child": Condition(speakers=("slt",), low=60, span=17, formants=(1.2, 1.4)),
    "whistle": Condition(low=76, span=22, nasals=0.5, slurs=0.4),
    "babble": Condition(),
}
BABBLE = """people often speak about weather music dinner and the next train while others listen or laugh because nobody
remembers who asked for seven green apples under that old wooden table near our window before winter""".split()


def voiced_times(curve, start_s, end_s):
    """When each period begins between two times, and how long it is."""
    hz = 440 * 2 ** ((curve - 69) / 12)
    phase = np.concatenate([[0], np.cumsum(hz) / CONTROL_HZ])
    edges_s = np.arange(len(phase)) / CONTROL_HZ
    first, last = np.interp([start_s, end_s], edges_s, phase)
    times_s = np.interp(np.arange(np.ceil(first), np.floor(last) + 1), phase, edges_s)
    return times_s, 1 / np.interp(times_s, edges_s[:-1], hz)


def places(syllable, since_s, gap_s, length_s):
    """Which period of the syllable sounds at these times after its beginning: the vowel's middle is held."""
    vowel_s = syllable.marks[syllable.first_of_vowel]
    spoken_s = syllable.marks[-1] - vowel_s
    u, length_s = since_s - gap_s, length_s - gap_s
    if length_s <= spoken_s:
        at = u * spoken_s / length_s
    else:
        head, tail = 0.4 * spoken_s, 0.3 * spoken_s
        swing = spoken_s - head - tail
        held = head + swing * (1 - np.abs(HELD_SPEED * (u - head) / swing % 2 - 1))  # to and fro
        at = np.where(u < head, u, np.where(length_s - u < tail, spoken_s - (length_s - u), held))
    if gap_s > 0:
        spoken_gap_s = vowel_s - syllable.marks[0]
        at = np.where(u < 0, u * min(1, spoken_gap_s / gap_s), at)
    return np.clip(np.searchsorted(syllable.marks, vowel_s + at), 0, len(syllable.marks) - 1)


def sing_chain(rng, out, chain, bank, curve, amplitude, formant_scale):
    starts = [i for i, note in enumerate(chain) if i == 0 or note.join == "nasal"]
    for i, end in zip(starts, starts[1:] + [len(chain)]):
        note, next_note = chain[i], chain[end] if end < len(chain) else None
        end_s = next_note.start_s - next_note.gap_s if next_note else chain[-1].end_s
        has_noise = note.join == "noise" or (note.join == "rest" and rng.random() < 0.6)
        kind = "nasal" if note.join == "nasal" else "noise" if has_noise else "vowel"
        syllable = bank[kind][rng.integers(len(bank[kind]))]
        gap_s = note.gap_s if kind == "nasal" else 0
        times_s, periods_s = voiced_times(curve, note.start_s - gap_s, end_s)
        place = places(syllable, times_s - note.start_s + gap_s, gap_s, end_s - note.start_s + gap_s)
        levels = amplitude[np.minimum((times_s * RATE).astype(int), len(amplitude) - 1)]
        psola.overlap_add(out, syllable, times_s, periods_s, place, levels, formant_scale)
        if kind == "noise":
            add_noise(out, syllable.noise, note, amplitude)


def add_noise(out, noise, note, amplitude):
    """The consonant's noise up to the beginning of the note."""
    end = int(note.start_s * RATE)
    noise = noise[-min(len(noise), end, int((note.gap_s or 0.1) * RATE)) :]
    fade = np.clip(np.arange(len(noise)) / (0.005 * RATE), 0, 1)
    out[end - len(noise) : end] += noise * fade * amplitude[end : end + int(0.1 * RATE)].max()


def whistle(rng, curve, amplitude):
    """A tone with breath around it."""
    hz = np.interp(np.arange(len(amplitude)) / RATE, np.arange(len(curve)) / CONTROL_HZ, 440 * 2 ** ((curve - 69) / 12))
    phase = 2 * np.pi * np.cumsum(hz) / RATE
    slow = sosfilt(butter(2, 200, fs=RATE, output="sos"), rng.standard_normal((2, len(hz))))
    slow *= 10 ** (rng.uniform(-36, -24) / 20) / np.std(slow)
    air = 10 ** (rng.uniform(-50, -38) / 20) * rng.standard_normal(len(hz))
    return amplitude * ((1 + slow[0]) * np.sin(phase) + slow[1] * np.cos(phase) + 0.01 * np.sin(2 * phase) + air)


def hum(rng, condition, is_whistled):
    """Samples and notes of one hum."""
    speaker = condition.speakers[rng.integers(len(condition.speakers))]
    notes = with_runs(rng, melody(rng, condition.low or LOWEST[speaker], condition.span), condition.melismas)
    join(rng, notes, condition, voiced_only=is_whistled)
    seconds = max(6, notes[-1].end_s + 0.4)
    curve, smooth = pitch_curve(rng, notes, condition, seconds)
    amplitude = level_curve(rng, notes, condition, seconds)
    label(notes, curve, smooth)
    out = np.zeros(len(amplitude))
    if is_whistled:
        out = whistle(rng, curve, amplitude)
    else:
        formant_scale = rng.uniform(*condition.formants)
        for chain in chains(notes):
            sing_chain(rng, out, chain, psola.syllables(speaker), curve, amplitude, formant_scale)
    names = ("start", "end", "hz", "pitch")
    return 0.7 * out / np.abs(out).max(), [{name: note.label[name] for name in names} for note in notes]


@lru_cache
def speech(speaker, seed):
    """What a speaker says in about half a minute, over and over."""
    words = " ".join(np.random.default_rng([seed, LOWEST[speaker]]).choice(BABBLE, 90))
    return resample_poly(psola.flite(speaker, ["-t", words])[1], RATE // 50, FLITE_RATE // 50)


def babble(rng, voice, seed):
    """Four speakers at once, as long and as loud as the voice."""
    result = np.zeros(len(voice))
    for speaker in SPEAKERS:
        samples = speech(speaker, seed)
        part = np.resize(np.roll(samples, rng.integers(len(samples))), len(voice))
        result += part / np.sqrt(np.mean(part**2))
    return result * np.sqrt(np.mean(voice**2) / np.mean(result**2))


def write(path, samples):
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, RATE, 0, "NONE", ""))
        sound.writeframes(np.round(32767 * np.clip(samples, -1, 1)).astype("<i2").tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--condition", choices=CONDITIONS, default="clean", help="what is sung, and by whom")
    parser.add_argument("--count", type=int, default=50, help="number of hums (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same files (default: 1)")
    parser.add_argument("out", metavar="OUT", type=Path, help="folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for i in range(arguments.count):
        rng = np.random.default_rng([arguments.seed, list(CONDITIONS).index(arguments.condition), i])
        samples, notes = hum(rng, CONDITIONS[arguments.condition], arguments.condition == "whistle")
        path = arguments.out / f"{i:04}.wav"
        write(path, samples)
        path.with_suffix(".json").write_text(json.dumps({"notes": notes}, indent=1) + "\n")
        if arguments.condition == "babble":
            write(arguments.out / f"{i:04}_babble.wav", babble(rng, samples, arguments.seed))


if __name__ == "__main__":
    main()
