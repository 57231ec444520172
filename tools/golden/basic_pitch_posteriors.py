"""Makes tests/data/basic-pitch/chords_posteriors.npy: basic-pitch's network run by onnxruntime, the second reference.

The sound follows formulas that network_test.cpp repeats: chords of decaying harmonics, a bass note, a glide, and a
stretch of digital silence longer than a window. Stores every 7th frame, in columns note | onset | contour.
Versions: Python 3.11, onnxruntime 1.31, numpy 2.4, basic-pitch 0.4.0 (nmp.onnx).

    pip install numpy onnxruntime
    python tools/golden/basic_pitch_posteriors.py build/third_party tests/data/basic-pitch
"""

import pathlib
import sys

import numpy as np
import onnxruntime

RATE_HZ, WINDOW, HOP, EDGE_FRAMES, FRAME_HOP = 22050, 43844, 36164, 15, 256
# (start_s, pitch, end pitch of a glide)
NOTES = [(0.2, 60, 60), (0.2, 64, 64), (0.2, 67, 67), (1.0, 28, 28), (1.4, 72, 79), (5.9, 57, 57), (6.3, 96, 96)]
SECONDS, NOTE_SECONDS, HARMONICS, KEEP_EVERY = 7.3, 0.7, 5, 7


def made_sound():
    sound = np.zeros(int(SECONDS * RATE_HZ))
    time_s = np.arange(int(NOTE_SECONDS * RATE_HZ)) / RATE_HZ
    for start_s, pitch, end_pitch in NOTES:
        low, high = (440.0 * 2.0 ** ((p - 69) / 12.0) for p in (pitch, end_pitch))
        # Frequency moves on a straight line from the first pitch to the second.
        cycles = low * time_s + (high - low) * time_s * time_s / (2.0 * NOTE_SECONDS)
        note = sum(np.sin(2.0 * np.pi * k * cycles) / k for k in range(1, HARMONICS + 1))
        first = int(start_s * RATE_HZ)
        sound[first : first + time_s.size] += 0.15 * note * np.exp(-3.0 * time_s)
    return sound.astype(np.float32)


def posteriors(model_path, sound):
    session = onnxruntime.InferenceSession(str(model_path), providers=["CPUExecutionProvider"])
    padded = np.concatenate([np.zeros(EDGE_FRAMES * FRAME_HOP, np.float32), sound])
    rows = []
    for start in range(0, padded.size, HOP):
        window = padded[start : start + WINDOW]
        window = np.pad(window, (0, WINDOW - window.size))
        names = ["StatefulPartitionedCall:1", "StatefulPartitionedCall:2", "StatefulPartitionedCall:0"]
        maps = session.run(names, {"serving_default_input_2:0": window[None, :, None]})
        rows.append(np.concatenate([m[0, EDGE_FRAMES:-EDGE_FRAMES] for m in maps], axis=1))
    return np.concatenate(rows)[: int(np.floor(sound.size * (RATE_HZ // FRAME_HOP / RATE_HZ)))]


def main(third_party, folder):
    model = pathlib.Path(third_party) / "basic_pitch/basic_pitch/saved_models/icassp_2022/nmp.onnx"
    result = posteriors(model, made_sound())
    print(result.shape, "largest", result.max(), "frames kept", result[::KEEP_EVERY].shape[0])
    np.save(pathlib.Path(folder) / "chords_posteriors.npy", result[::KEEP_EVERY])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
