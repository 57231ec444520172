"""Melodies, pitch curves, levels and exact labels of the second voice (second_voice.py).

The notes are as src/data/synthesis/sung_note.h defines them. It shares no code with src/data/singing.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.signal import butter, sosfilt

from psola import RATE

CONTROL_HZ = 1000
END_LEVEL = 0.1  # of a note: where it begins and ends
RAISED_TO_END = np.arccos(1 - 2 * END_LEVEL) / np.pi  # a raised cosine passes it here


@dataclass
class Condition:
    speakers: tuple = ("slt", "rms", "awb", "kal16")
    slurs: float = 0.15  # share of the notes that follow another one at once
    nasals: float = 0.25
    low: int = 0  # MIDI; 0: the speaker's
    span: int = 19
    formants: tuple = (0.95, 1.08)
    tuning_cents: float = 0
    vibrato: float = 0.3  # share of notes of at least 0.4 s
    vibrato_cents: tuple = (15, 60)
    melismas: float = 0  # share of notes that become runs
    scoops: float = 0.3  # share of the notes after a rest or noise that begin off their pitch
    held: float = 0.4  # share of the scoops that stay there before they go to the note
    falls: float = 0.2  # share of the notes before a rest or noise whose pitch falls at their end
    wavers: float = 0.3  # dips of the level a second, too small to part notes
    wander_cents: float = 15  # slow irregularity of the pitch, its deviation


@dataclass
class Note:
    start_s: float
    end_s: float
    pitch: float  # MIDI, without tuning
    join: str = "rest"  # how it follows the note before: rest, slur, nasal, noise
    gap_s: float = 0  # of a nasal or noise, before start_s
    is_quick: bool = False
    label: dict = field(default_factory=dict)


def melody(rng, low, span):
    """Notes of 6 to 12 s. Half of the melodies keep a key and a beat, half know neither."""
    seconds, notes, at = rng.uniform(6, 12), [], rng.uniform(0.2, 0.6)
    is_diatonic = rng.random() < 0.5
    beat_s, tonic = rng.uniform(0.4, 0.8), rng.integers(12)
    steps = [0, 2, 4, 5, 7, 9, 11] if rng.random() < 0.6 else [0, 2, 3, 5, 7, 8, 10]
    scale = [pitch for pitch in range(low, low + span + 1) if (pitch - tonic) % 12 in steps]
    place, pitch = len(scale) // 2, low + span * rng.uniform(0.25, 0.75)
    while True:
        if is_diatonic:
            length_s = beat_s * rng.choice([0.5, 1, 1, 1.5, 2, 3])
            place = int(np.clip(place + rng.choice([-4, -2, -1, -1, 0, 1, 1, 2, 3]), 0, len(scale) - 1))
            pitch = scale[place]
        else:
            length_s = 0.45 * np.exp(0.7 * rng.standard_normal())
            pitch = np.clip(pitch + 3.2 * rng.standard_normal(), low, low + span)
        length_s = float(np.clip(length_s, 0.15, 4))
        if at + length_s > seconds - 0.3 and len(notes) >= 4:
            return notes
        notes.append(Note(at, at + length_s, float(pitch)))
        at += length_s + (rng.uniform(0.15, 0.8) if rng.random() < 0.15 else 0)


def with_runs(rng, notes, share):
    """Splits some notes into runs of three to five."""
    result = []
    for note in notes:
        count = min(int(rng.integers(3, 6)), int((note.end_s - note.start_s) / 0.11))
        if count < 2 or rng.random() >= share:
            result.append(note)
            continue
        edges = np.linspace(note.start_s, note.end_s, count + 1)
        steps = np.cumsum(np.concatenate([[0], rng.choice([-2, -1, 1, 2], count - 1)]))
        for i in range(count):
            is_quick = i > 0
            pitch = note.pitch + int(steps[i])
            result.append(Note(edges[i], edges[i + 1], pitch, "slur" if is_quick else "rest", 0, is_quick))
    return result


def join(rng, notes, condition, voiced_only):
    """Decides how the notes follow each other, and takes consonants from the notes before them."""
    for before, note in zip(notes, notes[1:]):
        if note.is_quick:
            continue
        kind = rng.random()
        if note.start_s - before.end_s > 0.05:
            continue
        if kind < condition.slurs and abs(note.pitch - before.pitch) > 0.6:
            note.join = "slur"
        elif kind < condition.slurs + condition.nasals or voiced_only:
            note.join = "nasal"
        else:
            note.join = "noise"
        room_s = before.end_s - before.start_s - 0.08
        if note.join == "nasal":
            note.gap_s = float(np.clip(rng.uniform(0.07, 0.11), 0.06, max(0.06, room_s)))
        if note.join == "noise":
            note.gap_s = float(np.clip(rng.uniform(0.05, 0.14), 0.03, max(0.03, room_s)))
        before.end_s = note.start_s - note.gap_s


def pitch_curve(rng, notes, condition, seconds):
    """MIDI pitch at CONTROL_HZ, with and without tuning, vibrato and tremble: a second-order system follows the notes."""
    size = int(seconds * CONTROL_HZ)
    target, speed, damping = np.zeros(size), np.zeros(size), np.ones(size)
    jumps = {}
    for i, note in enumerate(notes):
        rate = rng.uniform(70, 110) if note.is_quick else rng.uniform(25, 80)
        # The system is half-way after 1.68 / rate.
        centre_s = note.start_s - (note.gap_s / 2 if note.join == "nasal" else 0)
        is_joined = note.join in ("slur", "nasal")
        first = int((centre_s - (1.68 / rate if is_joined else 0.03)) * CONTROL_HZ) if i else 0
        target[first:] = note.pitch + 0.06 * rng.standard_normal()
        speed[first:], damping[first:] = rate, rng.uniform(0.75, 1)
        if not is_joined:
            jumps[int(note.start_s * CONTROL_HZ)] = scoop(rng, note, condition, target)
        if i + 1 == len(notes) or notes[i + 1].start_s - note.end_s > 0.05:
            fall(rng, note, condition, target)
    curve, value, slope = np.zeros(size), target[0], 0.0
    for i in range(size):
        if i in jumps:
            value, slope = target[i] + jumps[i], 0.0
        slope += (speed[i] ** 2 * (target[i] - value) - 2 * damping[i] * speed[i] * slope) / CONTROL_HZ
        value += slope / CONTROL_HZ
        curve[i] = value
    smooth = curve.copy()
    for note in notes:
        add_vibrato(rng, note, condition, curve)
    tremble = sosfilt(butter(2, 6, fs=CONTROL_HZ, output="sos"), rng.standard_normal(size))
    wander = sosfilt(butter(1, 1.5, fs=CONTROL_HZ, output="sos"), rng.standard_normal(size))
    wander *= condition.wander_cents / 100 / np.std(wander)
    tuning = condition.tuning_cents / 100 * (1 if rng.random() < 0.5 else -1)
    return curve + 0.05 * tremble / np.std(tremble) + wander + tuning, smooth


def scoop(rng, note, condition, target):
    """Lets a note begin off its pitch. Returns how far the curve is from the target there, in semitones."""
    if rng.random() >= condition.scoops:
        return rng.uniform(-0.2, 0.1)
    depth = rng.uniform(0.5, 3) * (1 if rng.random() < 0.2 else -1)
    if rng.random() < condition.held:
        held_s = min(rng.uniform(0.04, 0.16), 0.4 * (note.end_s - note.start_s))
        first = int(note.start_s * CONTROL_HZ)
        target[first : first + int(held_s * CONTROL_HZ)] += depth
        return 0
    return depth


def fall(rng, note, condition, target):
    """The breath runs out: the pitch falls in the last tenths of a second."""
    if rng.random() >= condition.falls:
        return
    length_s = min(rng.uniform(0.08, 0.25), 0.3 * (note.end_s - note.start_s))
    first, last = int((note.end_s - length_s) * CONTROL_HZ), int(note.end_s * CONTROL_HZ)
    target[first:last] -= np.linspace(0, rng.uniform(0.5, 3), last - first)


def add_vibrato(rng, note, condition, curve):
    length_s = note.end_s - note.start_s
    if length_s < 0.4 or rng.random() >= condition.vibrato:
        return
    first, last = int((note.start_s + rng.uniform(0.1, 0.2)) * CONTROL_HZ), int(note.end_s * CONTROL_HZ)
    t = np.arange(last - first) / CONTROL_HZ
    phase = 2 * np.pi * rng.uniform(4.8, 6.5) * t + 0.5 * np.sin(2 * np.pi * 0.9 * t)
    fade = np.clip(t / 0.2, 0, 1) * np.clip((t[-1] - t) / 0.08, 0, 1)
    curve[first:last] += rng.uniform(*condition.vibrato_cents) / 100 * fade * np.sin(phase)


def chains(notes):
    """Runs of notes between which the voice does not stop."""
    result = []
    for note in notes:
        if note.join in ("slur", "nasal"):
            result[-1].append(note)
        else:
            result.append([note])
    return result


def wavers_db(rng, condition, t):
    """Dips of 1 to 5 dB within notes."""
    db = np.zeros_like(t)
    for _ in range(rng.poisson(condition.wavers * (t[-1] - t[0]))):
        at_s, width_s = rng.uniform(t[0], t[-1]), rng.uniform(0.03, 0.12)
        db -= rng.uniform(1, 5) * np.exp(-0.5 * ((t - at_s) / width_s) ** 2)
    return np.maximum(db, -5)


def level_curve(rng, notes, condition, seconds):
    """Amplitude at RATE; writes where each note begins and ends into its label."""
    amplitude = np.zeros(int(seconds * RATE))
    for chain in chains(notes):
        start_s, end_s = chain[0].start_s, chain[-1].end_s
        first, last = int(start_s * RATE), min(len(amplitude), int(end_s * RATE) + 1)
        t = np.arange(first, last) / RATE
        attack_s = min(rng.uniform(0.012, 0.06), 0.4 * (end_s - start_s))
        release_s = min(rng.uniform(0.03, 0.12), 0.4 * (end_s - start_s))
        rise, fall = np.clip((t - start_s) / attack_s, 0, 1), np.clip((end_s - t) / release_s, 0, 1)
        db = 2.0 * rng.standard_normal() + 1.5 * np.sin(2 * np.pi * rng.uniform(0.2, 0.6) * t + rng.uniform(0, 6))
        db = db + wavers_db(rng, condition, t)
        chain[0].label["start"] = start_s + RAISED_TO_END * attack_s
        chain[-1].label["end"] = end_s - RAISED_TO_END * release_s
        for note in chain[1:]:
            if note.join == "nasal":
                ramp_s, dip_s = 0.02, note.start_s - note.gap_s
                inside = np.clip(np.minimum(t - dip_s, note.start_s - t) / ramp_s, 0, 1)
                db = db - rng.uniform(9, 14) * inside
                note.label["start"] = note.start_s - ramp_s / 2  # half-way up in dB
                chain[chain.index(note) - 1].label["end"] = dip_s + ramp_s / 2
        amplitude[first:last] += (0.5 - 0.5 * np.cos(np.pi * rise)) * (0.5 - 0.5 * np.cos(np.pi * fall)) * 10 ** (db / 20)
    return amplitude


def label(notes, curve, smooth):
    """Completes the labels: slurs at the half-way point, and the sung pitch."""
    times_s = np.arange(len(curve)) / CONTROL_HZ
    for before, note in zip(notes, notes[1:]):
        if note.join != "slur":
            continue
        half = 0.5 * (before.pitch + note.pitch)
        near = np.abs(times_s - note.start_s) < min(0.12, 0.5 * (note.end_s - note.start_s))
        sides = np.sign(smooth - half)
        crossing = np.flatnonzero(near[:-1] & (sides[1:] != sides[:-1]))
        at_s = times_s[crossing[np.argmin(np.abs(times_s[crossing] - note.start_s))]] if len(crossing) else note.start_s
        before.label["end"] = note.label["start"] = float(at_s)
    for note in notes:
        start_s, length_s = note.label["start"], note.label["end"] - note.label["start"]
        steady = curve[int((start_s + 0.25 * length_s) * CONTROL_HZ) : int((start_s + 0.85 * length_s) * CONTROL_HZ) + 1]
        note.label["hz"] = 440 * 2 ** ((float(np.median(steady)) - 69) / 12)
        note.label["pitch"] = int(round(note.pitch))
