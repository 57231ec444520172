"""The cases of autodiff.py that are single ops: {name: (function, inputs...)}, one table per family."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.random import threefry_2x32

from autodiff import f, given

POSITIVE = dict(low=0.2, high=3.0)
X = f(2, 5)
BITS = given("u32", [[0, 1, 0xFFFFFFFF], [0x80000001, 12345, 0xDEADBEEF]])
OTHER_BITS = given("u32", [[7, 3, 0x0F0F0F0F], [1, 0xFFFF, 0xF0F0F0F0]])
SHIFTS = given("i32", [0, 3, 31])
SIGNED = given("i32", [[-5, 17, -2147483648], [9, -1, 77]])


@jax.custom_vjp
def straight_through(x):
    return jnp.round(x)


straight_through.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))

UNARY = {
    "negate": (lax.neg, X), "abs": (lax.abs, X), "exponential": (lax.exp, X),
    "exponential_minus_one": (lax.expm1, X), "log": (lax.log, f(2, 5, **POSITIVE)),
    "log_plus_one": (lax.log1p, f(2, 5, low=-0.5, high=3.0)), "sqrt": (lax.sqrt, f(2, 5, **POSITIVE)),
    "rsqrt": (lax.rsqrt, f(2, 5, **POSITIVE)), "tanh": (lax.tanh, X), "logistic": (lax.logistic, X),
    "sine": (lax.sin, X), "cosine": (lax.cos, X), "floor": (lax.floor, X), "ceil": (lax.ceil, X),
    "round_nearest_even": (jnp.round, given("f32", [-2.5, -0.5, 0.5, 1.5, 2.25])), "sign": (lax.sign, X),
    "is_finite": (lambda x: jnp.isfinite(1 / x), given("f32", [0.0, 1.0, -2.0])),
    "convert to bf16 and back": (lambda x: x.astype(jnp.bfloat16).astype(jnp.float64), X),
    "convert to i32": (lambda x: x.astype(jnp.int32), f(6, low=-9.0, high=9.0)),
    "bitcast_convert": (lambda x: lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32), X),
    "not": (jnp.invert, BITS),
}

BINARY = {
    "add": (jnp.add, f(3, 4), f(4)), "subtract": (jnp.subtract, f(3, 1), f(1, 4)),
    "multiply": (jnp.multiply, f(2, 3, 4), f(3, 1)), "divide": (jnp.divide, f(3, 4), f(4, **POSITIVE)),
    "maximum": (jnp.maximum, f(3, 4), f(3, 4)), "minimum": (jnp.minimum, f(3, 4), f(4)),
    "power": (jnp.power, f(3, 4, **POSITIVE), f(4)),
    "remainder": (lax.rem, f(3, 4, low=-5.0, high=5.0), f(3, 4, low=0.7, high=2.0)),
    "atan2": (lax.atan2, f(3, 4), f(3, 4)),
    "compare and select": (lambda x, y: jnp.where(x < y, x * y, y), f(3, 4), f(3, 4)),
    "clamp": (lambda x: jnp.clip(x, -0.7, 1.1), f(3, 4)),
    "and": (jnp.bitwise_and, BITS, OTHER_BITS), "or": (jnp.bitwise_or, BITS, OTHER_BITS),
    "xor": (jnp.bitwise_xor, BITS, OTHER_BITS), "shift_left": (jnp.left_shift, SIGNED, SHIFTS),
    "shift_right_logical": (lambda x: lax.shift_right_logical(x, jnp.full_like(x, 5)), BITS),
    "shift_right_arithmetic": (jnp.right_shift, SIGNED, SHIFTS),
    "broadcast_in_dim": (lambda x: lax.broadcast_in_dim(x, (3, 2, 4), (0, 2)), f(3, 1)),
}

SHAPE = {
    "reshape": (lambda x: x.reshape(4, 3), f(2, 6)), "transpose": (lambda x: x.transpose(2, 0, 1), f(2, 3, 4)),
    "reverse": (lambda x: x[::-1, :, ::-1], f(2, 3, 2)),
    "concatenate": (lambda x, y: jnp.concatenate([x, y, x], 1), f(2, 3), f(2, 1)),
    "stack": (lambda x, y: jnp.stack([x, y], 1), f(2, 3), f(2, 3)),
    "slice": (lambda x: x[1:5:2, 0:3], f(6, 4)), "split": (lambda x: (x[:, 3:], x[:, :3]), f(2, 5)),
    "pad": (lambda x: lax.pad(x, jnp.asarray(0.5), ((2, -1, 1), (-1, 2, 0))), f(4, 3)),
    "iota and constant": (lambda x: x * lax.iota(jnp.float64, 5) + jnp.asarray([1.0, 2.0, 3.0, 4.0, 5.0]), f(5)),
}

CONVOLUTION_1D = ("NWC", "WIO", "NWC")


def conv(stride=1, padding=(0, 0), dilation=1, input_dilation=1, groups=1):
    return lambda x, k: lax.conv_general_dilated(x, k, (stride,), (padding,), (input_dilation,), (dilation,),
                                                 CONVOLUTION_1D, groups)


def transposed(stride, low, high, groups=1):
    def run(x, k):
        return conv(padding=(k.shape[0] - 1 - low, k.shape[0] - 1 - high), input_dilation=stride, groups=groups)(
            x, k[::-1])

    return run


def conv2d(x, k):
    return lax.conv_general_dilated(x, k, (1, 2), ((1, 0), (1, 1)), None, (2, 1), ("NHWC", "HWIO", "NHWC"))


def transposed2d(strides, low, high, groups=1):
    def run(x, k):
        padding = tuple((taps - 1 - before, taps - 1 - after) for taps, before, after in zip(k.shape, low, high))
        return lax.conv_general_dilated(x, k[::-1, ::-1], (1, 1), padding, strides, None, ("NHWC", "HWIO", "NHWC"),
                                        groups)

    return run


DOT_AND_CONVOLUTION = {
    "dot_general": (lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (2,)))), f(2, 3, 4), f(5, 4, 2)),
    "matmul": (lambda a, b: a @ jnp.swapaxes(b, -1, -2), f(2, 3, 4), f(5, 4)),
    "conv1d": (conv(stride=2, padding=(2, 1), dilation=2), f(2, 11, 3), f(3, 3, 4)),
    "conv1d, grouped": (conv(padding=(1, 1), groups=2), f(2, 7, 4), f(3, 2, 6)),
    "conv1d, depthwise and strided": (conv(stride=2, groups=4), f(1, 9, 4), f(3, 1, 4)),
    "depthwise_conv1d": (lambda x, k: conv(padding=(4, 0), dilation=2, groups=3)(x, k[:, None]), f(2, 7, 3), f(3, 3)),
    "conv_transpose1d": (transposed(2, 1, 1), f(2, 5, 3), f(4, 3, 2)),
    "conv_transpose1d, grouped": (transposed(3, 0, 1, groups=2), f(1, 4, 4), f(4, 2, 2)),
    "conv2d": (conv2d, f(1, 6, 7, 2), f(2, 3, 2, 3)),
    "conv_transpose2d": (transposed2d((2, 2), (1, 1), (2, 2)), f(1, 3, 2, 2), f(5, 5, 2, 2)),
    "conv_transpose2d, grouped": (transposed2d((1, 3), (0, 1), (1, 0), groups=2), f(1, 3, 2, 4), f(2, 4, 2, 2)),
}

LABELS = given("i32", [3, 0])
REDUCTION = {
    "reduce_sum": (lambda x: x.sum((0, 2)), f(2, 3, 4)), "reduce_max": (lambda x: x.max(1), f(2, 3, 4)),
    "reduce_min": (lambda x: x.min((0, 1)), f(2, 3, 4)), "reduce_prod": (lambda x: x.prod(1), f(3, 4)),
    "reduce_and": (lambda x: (x > -1).all(1), f(3, 4)), "reduce_or": (lambda x: (x > 1).any(0), f(3, 4)),
    "mean": (lambda x: x.mean(1, keepdims=True), f(3, 4)), "variance": (lambda x: x.var(1), f(3, 4)),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, 1), f(3, 4, low=-9.0, high=9.0)),
    "softmax": (lambda x: jax.nn.softmax(x, 0), f(3, 4)),
    "log_softmax": (lambda x: jax.nn.log_softmax(x, 1), f(3, 4)),
    "softmax_cross_entropy": (lambda x, label: -jnp.take_along_axis(jax.nn.log_softmax(x, 1), label[:, None], 1)[:, 0],
                              f(2, 4), LABELS),
    "argmax and argmin": (lambda x: (x.argmax(1).astype(jnp.int32), x.argmin(0).astype(jnp.int32)), f(3, 4)),
    "cumulative_sum": (lambda x: jnp.cumsum(x, 1), f(2, 5)),
}

IDS = given("i32", [[2, 0], [2, 1]])
INDEXING = {
    "take": (lambda x, ids: jnp.take(x, ids, 1), f(2, 3, 2), IDS),
    "scatter_add": (lambda x, ids, u: x.at[ids].add(u), f(3, 2), IDS, f(2, 2, 2)),
    "take_along_dim": (lambda x, ids: jnp.take_along_axis(x, ids, 1), f(2, 3), IDS),
    "one_hot": (lambda ids, x: jax.nn.one_hot(ids, 3) @ x, IDS, f(3, 2)),
    "dynamic_slice": (lambda x, at: lax.dynamic_slice(x, (at, at), (2, 3)), f(4, 5), given("i32", 1)),
    "dynamic_update_slice": (lambda x, u, at: lax.dynamic_update_slice(x, u, (at, at * 0)), f(4, 3), f(2, 2),
                             given("i32", 2)),
}

ACTIVATIONS = {
    "relu": (jax.nn.relu, f(3, 5)), "erf": (jax.lax.erf, f(3, 5)),
    "gelu": (lambda x: jax.nn.gelu(x, approximate=False), f(3, 5)),
    "gelu_new": (lambda x: jax.nn.gelu(x, approximate=True), f(3, 5)), "silu": (jax.nn.silu, f(3, 5)),
    "softplus": (jax.nn.softplus, f(3, 5)),
}


def frames(x, length, hop):
    count = (x.shape[1] - length) // hop + 1
    return x[:, np.arange(count)[:, None] * hop + np.arange(length)]


def overlapped(x, hop):
    batch, count, length = x.shape
    index = (np.arange(count)[:, None] * hop + np.arange(length)).ravel()
    return jnp.zeros((batch, (count - 1) * hop + length)).at[:, index].add(x.reshape(batch, -1))


HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 8)


def parts(z):
    return z.real, z.imag


def istft(re, im):
    total = overlapped(jnp.fft.irfft(re + 1j * im, 8) * HANN, 2)
    weight = np.asarray(overlapped(jnp.asarray(np.broadcast_to(HANN**2, (1, re.shape[1], 8))), 2))
    return jnp.where(weight > 1e-6, total / np.maximum(weight, 1e-6), 0)


SPECTRAL = {
    "rfft": (lambda x: parts(jnp.fft.rfft(x)), f(2, 7)),
    "irfft": (lambda re, im: jnp.fft.irfft(re + 1j * im, 8), f(2, 5), f(2, 5)),
    "frame": (lambda x: frames(x, 4, 3), f(1, 12)), "overlap_add": (lambda x: overlapped(x, 3), f(1, 3, 4)),
    "stft": (lambda x: parts(jnp.fft.rfft(frames(x, 8, 2) * HANN)), f(1, 14)),
    "istft": (istft, f(1, 4, 5), f(1, 4, 5)),
}


def rnn(reverse):
    def run(h, w, xs):
        def step(carry, x):
            new = jnp.tanh(carry @ w + x)
            return new, new * x

        return lax.scan(step, h, xs, reverse=reverse)

    return run


CONTROL = {
    "scan": (rnn(False), f(2, 3), f(3, 3, low=-0.5, high=0.5), f(4, 2, 3)),
    "scan, reversed and recomputed": (rnn(True), f(2, 3), f(3, 3, low=-0.5, high=0.5), f(4, 2, 3)),
    "while": (lambda x, n: lax.while_loop(lambda c: c[0] < 100, lambda c: (c[0] * 3, c[1] + 1), (x, n)),
              given("i32", 2), given("i32", 0)),
}

SORT = {
    "sort": (lambda k, v: lax.sort((k, v), dimension=1, num_keys=1), f(2, 5), f(2, 5)),
    "argsort": (lambda x: jnp.argsort(-x, 0).astype(jnp.int32), f(4, 2)),
    "top_k": (lambda x: (lax.top_k(x, 3)[0], lax.top_k(x, 3)[1].astype(jnp.int32)), f(2, 6)),
    "reduce_window_sum": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), ((0, 0), (1, 1))), f(2, 7)),
    "reduce_window_max": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), ((0, 0), (0, 0))), f(3, 6)),
}

STRUCTURE = {
    "checkpoint": (lambda x, w: jnp.tanh(x * w), f(3, 4), f(4)),
    "custom_vjp": (lambda x: straight_through(x) * x, f(3, 4)),
    "stop_gradient": (lambda x: lax.stop_gradient(x) * x, f(3, 4)),
    "optimization_barrier": (lambda x, y: lax.optimization_barrier((x * y, x + y)), f(3, 4), f(3, 4)),
}

TRIANGLES = jnp.asarray([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]])


def mel_spectrum(x_BTF):
    """Bands and magnitudes."""
    magnitude = jnp.sqrt(x_BTF.real**2 + x_BTF.imag**2 + 0.01)
    return magnitude @ TRIANGLES, magnitude


KERNELS = {
    "kernels::matmul": (lambda a, b: a @ b.T, f(2, 3, 4), f(5, 4)),
    "kernels::layer_norm": (lambda x, s, b: (x - x.mean(-1, keepdims=True))
                            / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * s + b, f(3, 5), f(5), f(5)),
    "kernels::rms_norm": (lambda x, s: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s, f(3, 5), f(5)),
    "kernels::bias_gelu": (lambda x, b: jax.nn.gelu(x + b, approximate=True), f(3, 5), f(5)),
    "kernels::depthwise_conv": (lambda x, k, b: lax.conv_general_dilated(
        x, k[:, None, :], (1,), [(2, 1)], rhs_dilation=(2,), dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=4) + b, f(2, 6, 4), f(3, 4), f(4)),
    "kernels::embedding": (lambda table, ids: table[ids], f(3, 2), IDS),
    # Levels above 0.5 are cut, and have no gradient.
    "kernels::polar": (lambda x: (jnp.exp(jnp.minimum(x[:, :3], 0.5)) * jnp.cos(x[:, 3:]),
                                  jnp.exp(jnp.minimum(x[:, :3], 0.5)) * jnp.sin(x[:, 3:])), f(4, 6)),
    "kernels::mel_spectrum": (lambda x: mel_spectrum(jnp.fft.rfft(frames(x, 8, 2) * HANN)), f(2, 14)),
    # Two groups of two query heads, a key and a value each.
    "kernels::self_attention": (lambda qkv: jax.nn.dot_product_attention(
        qkv[:, :, :, :2].reshape(2, 5, 4, 4), qkv[:, :, :, 2], qkv[:, :, :, 3], is_causal=True), f(2, 5, 2, 4, 4)),
}

KEY = given("u32", [0x12345678, 0x9ABCDEF0])


def random_words(key, count):
    """Word i of the stream: half i % 2 of the block that counts i / 2."""
    blocks = (count + 1) // 2
    counters = jnp.concatenate([jnp.arange(blocks, dtype=jnp.uint32), jnp.zeros(blocks, jnp.uint32)])
    words = threefry_2x32(key, counters)
    return jnp.stack([words[:blocks], words[blocks:]], 1).ravel()[:count]


def uniform(key, count):
    return (random_words(key, count) >> 8).astype(jnp.float64) * 2.0**-24


def normal(key, count):
    u = uniform(key, 2 * count).reshape(count, 2)
    return jnp.sqrt(-2 * jnp.log(1 - u[:, 0])) * jnp.cos(2 * jnp.pi * u[:, 1])


def fold_in(key, number):
    return threefry_2x32(key, jnp.asarray([number, 0], jnp.uint32))


RANDOM = {
    "random_bits": (lambda key: random_words(key, 7), KEY), "fold_in": (lambda key: fold_in(key, 41), KEY),
    "uniform": (lambda key: uniform(key, 5), KEY), "normal": (lambda key: normal(key, 6), KEY),
}

FAMILIES = [UNARY, BINARY, SHAPE, DOT_AND_CONVOLUTION, REDUCTION, INDEXING, ACTIVATIONS, SPECTRAL, CONTROL, SORT,
            STRUCTURE, KERNELS, RANDOM]
