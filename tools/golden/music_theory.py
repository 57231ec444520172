"""Golden values for src/pipeline's keys, written to tests/data/pipeline/keys.json.

Made with music21 10.5.1 (music21.analysis.discrete, the profiles of Krumhansl and Kessler); seed 5.
  pip install music21 && python tools/golden/music_theory.py
"""
import json
import pathlib
import random

from music21 import note, stream
from music21.analysis.discrete import KrumhanslKessler

from made_by import made_by

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "pipeline" / "keys.json"
SEED = 5
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
FLATS = {1: "C#", 3: "Eb", 6: "F#", 8: "Ab", 10: "Bb"}


def melody(rng, tonic, mode):
    """A walk over a scale that likes its triad, with a few notes outside: (pitch, quarters)."""
    degree, notes = 0, []
    for _ in range(rng.randint(12, 40)):
        degree = max(-4, min(10, degree + rng.choice((-2, -1, -1, 0, 1, 1, 2))))
        pitch = 60 + tonic + 12 * (degree // 7) + SCALES[mode][degree % 7]
        outside = rng.random() < 0.08
        notes.append((pitch + outside, (2 if degree % 7 in (0, 2, 4) else 1) * rng.choice((0.25, 0.5, 0.5, 1))))
    return notes


def heard(notes):
    part = stream.Stream()
    for pitch, quarters in notes:
        part.append(note.Note(pitch, quarterLength=quarters))
    key = KrumhanslKessler().getSolution(part)
    tonic = key.tonic.pitchClass
    name = FLATS.get(tonic, "C D EF G A B"[tonic])
    return {"key": f"{name}:{key.mode}", "correlation": round(key.correlationCoefficient, 6)}


def main():
    rng = random.Random(SEED)
    melodies = []
    for tonic in range(12):
        mode = rng.choice(("major", "minor"))
        notes = melody(rng, tonic, mode)
        melodies.append({"notes": notes, **heard(notes)})
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"made_by": made_by("music_theory.py", SEED, "music21"), "melodies": melodies}) + "\n")


if __name__ == "__main__":
    main()
