"""Embeds sounds with aisfx and musicnn, whose packages hold their weights.

Usage: embeddings.py SOUND... --threads N
Prints one JSON line: "embeddings", for each program a list with the embedding of each sound, the mean over its windows;
"left out", for each program that does not run here the reason; and "versions". aisfx gets the spectrum that its paper
computes with Essentia, by librosa. musicnn is its MSD_musicnn; the embedding is its penultimate layer.
"""

import argparse
import json
import os
import pathlib
import sys
from importlib.metadata import version

import librosa
import numpy as np


class Aisfx:
    def __init__(self, threads):
        import torch
        from aisfx import inference, preprocessing
        from aisfx.spectrogram import spectrogram_librosa
        torch.set_num_threads(threads)
        weights, datasets = torch.load(inference.get_path_modelWeights(), map_location="cpu", weights_only=False)
        self.inference, self.preprocessing, self.spectrogram = inference, preprocessing, spectrogram_librosa
        self.model = inference.load_bestModel(weights, datasets, "cpu")

    def embed(self, path):
        inference = self.inference
        bands = self.spectrogram.compute_spectrogram(
            path, inference.SAMPLE_RATE, inference.SPEC_BLOCK_LENGTH, inference.SPEC_HOP_LENGTH, inference.MEL_BINS,
            inference.F_MIN, inference.F_MAX)
        frames = self.preprocessing.spectrogram_normalize(bands.T)  # it gives bands first, the model wants frames first
        return inference.model_get_embedding(frames, 0.5, True, self.model, "cpu").numpy().mean(axis=0)


class Musicnn:
    SECONDS, MODEL = 3, "MSD_musicnn"

    def __init__(self, threads):
        os.environ.update(TF_USE_LEGACY_KERAS="1", TF_CPP_MIN_LOG_LEVEL="3")
        import tensorflow
        import tensorflow.compat.v1 as tf
        sys.modules["tensorflow"] = tf  # the package calls TensorFlow 1
        from musicnn import configuration, models
        sys.modules["tensorflow"] = tensorflow
        self.rates = {"sr": configuration.SR, "n_fft": configuration.FFT_SIZE, "hop_length": configuration.FFT_HOP}
        self.bands = configuration.N_MELS
        self.window = int(librosa.time_to_frames(self.SECONDS, **self.rates)) + 1
        with tf.Graph().as_default():
            self.input = tf.placeholder(tf.float32, [None, self.window, self.bands])
            self.is_training = tf.placeholder(tf.bool)
            *_, self.penultimate = models.define_model(self.input, self.is_training, self.MODEL,
                                                       len(configuration.MSD_LABELS))
            self.session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=threads))
            tf.train.Saver().restore(self.session, f"{pathlib.Path(models.__file__).parent}/{self.MODEL}/")

    def embed(self, path):
        sound, _ = librosa.load(path, sr=self.rates["sr"])
        power = librosa.feature.melspectrogram(y=sound, n_mels=self.bands, **self.rates).T.astype(np.float16)
        frames = np.log10(10000 * power.astype(np.float32) + 1)
        windows = np.stack([frames[at:at + self.window]
                            for at in range(0, len(frames) - self.window + 1, self.window)])
        values = self.session.run(self.penultimate, {self.input: windows, self.is_training: False})
        return values.mean(axis=0)


PROGRAMS = {"aisfx": Aisfx, "musicnn": Musicnn}


def embed_all(program, sounds, threads):
    print(f"embeddings: {program}, {len(sounds)} sounds", file=sys.stderr, flush=True)
    model = PROGRAMS[program](threads)
    return [[float(value) for value in model.embed(sound)] for sound in sounds]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sounds", nargs="+")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()

    result = {"embeddings": {}, "left out": {}, "versions": {}}
    for program in PROGRAMS:
        try:
            result["embeddings"][program] = embed_all(program, args.sounds, args.threads)
            result["versions"][program] = version(program)
        except Exception as error:  # a judge less is no reason to measure nothing
            result["left out"][program] = f"{type(error).__name__}: {error}"
    print(json.dumps(result))


if __name__ == "__main__":
    main()
