"""Finds the notes of a recording with basic-pitch and its ONNX model, called as its users would.

Usage: notes_basic_pitch.py RECORDING MIDI --runs N --threads N
Loads the model and makes one prediction before it starts the clock. Prints one JSON line: milliseconds of each
prediction (reading, resampling, network, note creation, writing the MIDI file).
"""

import argparse
import contextlib
import json
import logging
import os
import time
from importlib.metadata import version

logging.disable(logging.WARNING)  # it warns about model formats that are not installed

import onnxruntime
from basic_pitch import FilenameSuffix, build_icassp_2022_model_path
from basic_pitch.inference import Model, predict


def load_model(threads):
    path = build_icassp_2022_model_path(FilenameSuffix.onnx)
    model = Model(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model.model = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recording")
    parser.add_argument("midi")
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()

    model = load_model(args.threads)
    milliseconds = []
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        predict(args.recording, model)
        for _ in range(args.runs):
            start = time.perf_counter()
            _, midi, _ = predict(args.recording, model)
            midi.write(args.midi)
            milliseconds.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"milliseconds": milliseconds, "version": version("basic-pitch")}))


if __name__ == "__main__":
    main()
