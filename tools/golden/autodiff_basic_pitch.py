"""Basic Pitch's network in JAX for autodiff.py, with generated weights: constant-Q transform, harmonic stack and the
three heads, as Bittner et al. 2022 and basic-pitch 0.4.0 describe them. Stores only norms, projections and one frame
of each result."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rule import ruled, digits

NAME = "basic pitch"
SAMPLES, FRAMES, OCTAVES, BINS_PER_OCTAVE, BINS, CONTOUR_BINS = 43844, 172, 9, 36, 309, 264
HARMONIC_SHIFTS = (-36, 0, 36, 57, 72, 84, 93, 101)
FRAME = 70
# name: [dims, low, high]; kernels [outputs, inputs, times, frequencies].
PARAMETERS = {
    "sound": [[1, SAMPLES], -0.5, 0.5], "cqt_real": [[36, 256], -0.1, 0.1], "cqt_imag": [[36, 256], -0.1, 0.1],
    "lowpass": [[256], -0.108, 0.108], "cqt_scale": [[BINS], 0.5, 1.5],
    "contour_hidden.kernel": [[8, 8, 3, 39], -0.06, 0.06], "contour_hidden.bias": [[8], -0.1, 0.1],
    "contour.kernel": [[1, 8, 5, 5], -0.12, 0.12], "contour.bias": [[1], -0.1, 0.1],
    "note_hidden.kernel": [[32, 1, 7, 7], -0.25, 0.25], "note_hidden.bias": [[32], -0.1, 0.1],
    "note.kernel": [[1, 32, 7, 3], -0.07, 0.07], "note.bias": [[1], -0.1, 0.1],
    "onset_hidden.kernel": [[32, 8, 5, 5], -0.12, 0.12], "onset_hidden.bias": [[32], -0.1, 0.1],
    "onset.kernel": [[1, 33, 3, 3], -0.1, 0.1], "onset.bias": [[1], -0.1, 0.1],
}
INPUT_SCALE, INPUT_OFFSET = 0.75, -0.25
DIFFERENTIATED = ("sound", "cqt_scale", "contour_hidden.bias", "note_hidden.kernel", "note_hidden.bias",
                  "onset_hidden.kernel", "onset_hidden.bias")


def conv1d(x, kernel, stride, padding=0):
    return lax.conv_general_dilated(x[:, None], kernel[:, None], (stride,), ((padding, padding),))


def power_spectrum(p):
    x, hop, octaves = p["sound"], 256, []
    for _ in range(OCTAVES):
        around = jnp.pad(x, ((0, 0), (128, 128)), mode="reflect")
        re, im = (conv1d(around, p[part], hop)[:, :, :FRAMES] for part in ("cqt_real", "cqt_imag"))
        octaves.insert(0, re * re + im * im)
        x, hop = conv1d(x, p["lowpass"][None], 2, 127)[:, 0], hop // 2
    power = jnp.concatenate(octaves, 1)[:, -BINS:]
    return power.transpose(0, 2, 1) * p["cqt_scale"] ** 2


def conv2d(p, name, x, frequency_stride=1):
    """x [batch, channels, frames, bins]; zeros around, so that frames are kept."""
    kernel = p[f"{name}.kernel"]
    times, bins = kernel.shape[2] // 2, (kernel.shape[3] - frequency_stride) // 2
    y = lax.conv_general_dilated(x, kernel, (1, frequency_stride), ((times, times), (bins, bins)))
    return y + p[f"{name}.bias"][:, None, None]


def network(p):
    decibels = 10 * jnp.log10(power_spectrum(p) + 1e-10)
    level = decibels - decibels.min()
    spectrum = level / level.max() * INPUT_SCALE + INPUT_OFFSET
    wide = jnp.pad(spectrum, ((0, 0), (0, 0), (36, 101)))
    stack = jnp.stack([wide[:, :, 36 + shift : 36 + shift + CONTOUR_BINS] for shift in HARMONIC_SHIFTS], 1)
    contour = jax.nn.sigmoid(conv2d(p, "contour", jax.nn.relu(conv2d(p, "contour_hidden", stack))))
    note = jax.nn.sigmoid(conv2d(p, "note", jax.nn.relu(conv2d(p, "note_hidden", contour, 3))))
    hidden = jax.nn.relu(conv2d(p, "onset_hidden", stack, 3))
    onset = jax.nn.sigmoid(conv2d(p, "onset", jnp.concatenate([note, hidden], 1)))
    return {"note": note[:, 0], "onset": onset[:, 0], "contour": contour[:, 0]}


def basic_pitch(projected):
    p = {k: jnp.asarray(ruled(f"{NAME}/{k}", tuple(d), low, high).astype(np.float64))
         for k, (d, low, high) in PARAMETERS.items()}

    def total(chosen):
        results = network(p | chosen)
        return sum((y * ruled(f"{NAME}/cotangent/{k}", y.shape).astype(np.float64)).sum() for k, y in results.items())

    results = network(p)
    gradients = jax.grad(total)({k: p[k] for k in DIFFERENTIATED})
    return {"parameters": PARAMETERS, "input_scale": INPUT_SCALE, "input_offset": INPUT_OFFSET, "frame": FRAME,
            "frames": {k: digits(y[0, FRAME], 6) for k, y in results.items()},
            "projections": {k: projected(NAME, k, y) for k, y in results.items()},
            "parameter_gradients": {k: projected(NAME, k, g) for k, g in gradients.items()}}
