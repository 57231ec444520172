"""Converts basic-pitch's own test expectations for vocadito_10.wav to files that can be read without pickle.

model_output.npz and note_events.npz are in the basic-pitch repository (tests/resources/vocadito_10). The tool writes
note.npy, onset.npy, contour.npy (float32, frames x bins, as stored) and notes.json (28 notes, ordered by start).
Versions: Python 3.11, numpy 2.4; no seed.

    pip install numpy
    python tools/golden/basic_pitch_stored.py FOLDER_OF_THE_NPZ tests/data/basic-pitch
"""

import json
import pathlib
import sys

import numpy as np

from made_by import made_by


def load(path):
    return np.load(path, allow_pickle=True)["arr_0"]


def main(source, folder):
    source, folder = pathlib.Path(source), pathlib.Path(folder)
    for name, values in load(source / "model_output.npz").item().items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(values, dtype="<f4"))
        print(name, values.shape)
    rows = sorted(load(source / "note_events.npz").tolist(), key=lambda row: (row[0], row[2]))
    notes = [
        {
            "start": float(start_s),
            "end": float(end_s),
            "pitch": int(pitch),
            "amplitude": float(amplitude),
            "bends": [int(bend) for bend in bends],
        }
        for start_s, end_s, pitch, amplitude, bends in rows
    ]
    lines = ",\n".join(json.dumps(note) for note in notes)
    maker = json.dumps(made_by("basic_pitch_stored.py", "none", "numpy"))
    (folder / "notes.json").write_text(f'{{"made_by": {maker},\n"notes": [\n{lines}\n]}}\n')
    print(len(notes), "notes")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
