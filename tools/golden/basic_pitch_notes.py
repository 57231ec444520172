"""Makes tests/data/basic-pitch/patterned_notes.json with basic-pitch's own note creation.

The posteriors follow integer patterns (seeds below) that notes_test.cpp repeats bit for bit.
Versions: Python 3.11, basic-pitch 0.4.0 (note_creation.py), numpy 2.4, scipy 1.17, librosa 0.11.

    pip install numpy scipy librosa mir_eval resampy pretty_midi && pip install --no-deps basic-pitch==0.4.0
    python tools/golden/basic_pitch_notes.py tests/data/basic-pitch
"""

import copy
import json
import pathlib
import sys

import numpy as np
from basic_pitch import note_creation

from made_by import made_by

PITCHES, CONTOUR_BINS = 88, 264
DEFAULTS = {
    "onset_threshold": 0.5,
    "frame_threshold": 0.3,
    "minimum_note_length": 127.70,
    "minimum_frequency": 0.0,
    "maximum_frequency": 0.0,
    "melodia": True,
    "infer_onsets": True,
}
CASES = [
    (150, 1, {}),
    (150, 2, {"melodia": False}),
    (150, 3, {"infer_onsets": False}),
    (150, 4, {"minimum_frequency": 200.0, "maximum_frequency": 1200.0}),
    (150, 5, {"melodia": False, "infer_onsets": False, "minimum_note_length": 58.0}),
    (120, 6, {"onset_threshold": 0.62, "frame_threshold": 0.45, "minimum_note_length": 250.0}),
    (360, 7, {"minimum_frequency": 1500.0, "minimum_note_length": 300.0}),
]


def mix(x):
    x = np.asarray(x, dtype=np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def patterned_posteriors(frames, seed):
    t = np.arange(frames, dtype=np.uint32)[:, None]
    p = np.arange(PITCHES, dtype=np.uint32)[None, :]
    b = np.arange(CONTOUR_BINS, dtype=np.uint32)[None, :]
    seed = np.uint32(seed)
    span = 12 + mix(seed + p) % 40
    shifted = t + mix(seed + 1000 + p) % 50
    level = mix(seed + 5000 + shifted // span * 88 + p) & 0xFFFF
    noise = mix(seed + 100000 + t * 88 + p) & 0x3FFF
    note = np.where(level > 0xD000, 0x4000 + level // 2 + noise // 2, noise)
    starts = (shifted % span == 0) & (level > 0xD800)
    onset = np.where(starts, 0x8000 + noise, noise)
    contour = mix(seed + 900000 + t * 264 + b) & 0xFFFF
    return {
        name: (values / 65536.0).astype(np.float32)
        for name, values in [("note", note), ("onset", onset), ("contour", contour)]
    }


def rows(events):
    order = sorted(events, key=lambda e: (e[0], e[1], e[2]))
    return [
        [float(start), float(end), int(pitch), float(amplitude), [int(b) for b in bends or []]]
        for start, end, pitch, amplitude, bends in order
    ]


def create(options, posteriors):
    _, events = note_creation.model_output_to_notes(
        copy.deepcopy(posteriors),
        onset_thresh=options["onset_threshold"],
        frame_thresh=options["frame_threshold"],
        infer_onsets=options["infer_onsets"],
        min_note_len=int(np.round(options["minimum_note_length"] / 1000 * (22050 / 256))),
        min_freq=options["minimum_frequency"] or None,
        max_freq=options["maximum_frequency"] or None,
        melodia_trick=options["melodia"],
    )
    return events


def overlaps():
    """Chains, nesting, touching ends and equal starts; a bend list of one number per note."""
    spans = [(0.0, 0.4), (0.4, 0.8), (0.7, 1.0), (0.9, 1.2), (1.2, 1.3), (1.5, 2.5), (1.6, 1.7),
             (2.0, 2.1), (2.5, 2.6), (3.0, 3.1), (3.0, 3.2), (4.0, 5.0)]
    events = [(start, end, 60 + i, 0.5, [i, -i]) for i, (start, end) in enumerate(spans)]
    kept = note_creation.drop_overlapping_pitch_bends(copy.deepcopy(events))
    return {"notes": rows(events), "kept": rows(kept)}


def main(folder):
    cases = []
    for frames, seed, changes in CASES:
        options = DEFAULTS | changes
        events = create(options, patterned_posteriors(frames, seed))
        print(len(events), changes)
        cases.append({"frames": frames, "seed": seed, "options": options, "notes": rows(events)})
    maker = made_by("basic_pitch_notes.py", "in each case", "basic-pitch", "numpy", "scipy", "librosa")
    text = json.dumps({"made_by": maker, "cases": cases, "overlaps": overlaps()}, separators=(",", ":"))
    (pathlib.Path(folder) / "patterned_notes.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
