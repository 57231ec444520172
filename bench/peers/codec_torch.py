"""The codec's training step of bench/train_codec.cpp, in PyTorch as its users would write it.

Usage: codec_torch.py PROBLEM.safetensors --dtype f32|bf16 [--compile] [--steps N] [--threads N]
Prints one JSON line: the loss and milliseconds of every step, and the loss terms of the last step. The problem file
holds the random draws (number of books that each item keeps, vectors that idle codebook entries move to) and the
learning rates.

B batch, N samples, T frames, D latent size, E entries of a codebook.
"""

import json
import math

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

from torch_steps import adamw, autocast, read_options, run_steps

RATE_HZ, HOP, WINDOW = 22050, 441, 1323
FINE_HOP, FINE_WINDOW, FINE_RATIO = 147, 588, 3
LOW_WINDOW, LOW_BINS = 4 * HOP, 32
LATENT, WIDTH, FINE_WIDTH, BLOCKS, FINE_BLOCKS = 64, 256, 192, 5, 3
BOOKS, ENTRIES, DECAY = 8, 1024, 0.99


class ConvNextBlock(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width)
        self.gelu = nn.GELU(approximate="tanh")
        self.down = nn.Linear(3 * width, width)
        self.residual_scale = nn.Parameter(torch.ones(width))
        self.scale = scale

    def forward(self, x_BTC):
        y = self.conv(x_BTC.transpose(1, 2)).transpose(1, 2)
        y = self.down(self.gelu(self.up(self.norm(y))))
        return x_BTC + self.scale * self.residual_scale * y


def blocks(width, count):
    return nn.Sequential(*(ConvNextBlock(width, 1 / count) for _ in range(count)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(WINDOW), persistent=False)
        setattr(self, "in", nn.Linear(3 * (WINDOW // 2 + 1), WIDTH))
        self.blocks = blocks(WIDTH, BLOCKS)
        self.norm = nn.LayerNorm(WIDTH)
        self.to_latent = nn.Linear(WIDTH, LATENT)

    def features(self, audio_BN):
        side = (WINDOW - HOP) // 2
        s = torch.stft(F.pad(audio_BN, (side, side)), WINDOW, HOP, window=self.window, center=False,
                       return_complex=True).transpose(1, 2)
        size = torch.sqrt(s.real ** 2 + s.imag ** 2 + 1e-8)
        compress = size ** -0.7
        return torch.cat([0.3 * torch.log(size + 1e-3), s.real * compress, s.imag * compress], -1)

    def forward(self, audio_BN):
        x = getattr(self, "in")(self.features(audio_BN))
        return self.to_latent(self.norm(self.blocks(x))).float()


class Stack(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.blocks = blocks(width, count)

    def forward(self, x):
        return self.blocks(x)


def sound(head_BTX, window, hop):
    """Audio from log magnitudes and phases of the lowest bins of each frame; higher bins are zero."""
    size, phase = head_BTX.float().chunk(2, -1)
    spectrum = torch.polar(torch.exp(size.clamp(max=math.log(100))), phase)
    frames = torch.fft.irfft(spectrum, len(window)) * window
    steps = frames.shape[1]
    whole = F.fold(frames.transpose(1, 2), (1, (steps - 1) * hop + len(window)), (1, len(window)),
                   stride=(1, hop))[:, 0, 0]
    start = (len(window) - hop) // 2
    return whole[:, start:start + steps * hop] / 1.5


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(FINE_WINDOW), persistent=False)
        self.register_buffer("low_window", torch.hann_window(LOW_WINDOW), persistent=False)
        setattr(self, "in", nn.Linear(LATENT, WIDTH))
        self.coarse = Stack(WIDTH, BLOCKS)
        self.up = nn.Linear(WIDTH, FINE_RATIO * FINE_WIDTH)
        self.fine = Stack(FINE_WIDTH, FINE_BLOCKS)
        self.norm = nn.LayerNorm(FINE_WIDTH)
        self.head = nn.Linear(FINE_WIDTH, 2 * (FINE_WINDOW // 2 + 1))
        self.low_head = nn.Linear(WIDTH, 2 * LOW_BINS)

    def forward(self, latents_BTD):
        coarse = self.coarse(getattr(self, "in")(latents_BTD))
        x = self.up(coarse)
        x = self.norm(self.fine(x.reshape(x.shape[0], -1, FINE_WIDTH)))
        return sound(self.head(x), self.window, FINE_HOP) + sound(self.low_head(coarse), self.low_window, HOP)


class Book(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("codebook", torch.zeros(ENTRIES, LATENT))
        self.register_buffer("counts", torch.zeros(ENTRIES))
        self.register_buffer("sums", torch.zeros(ENTRIES, LATENT))

    def nearest(self, residual_ND):
        return torch.addmm(-0.5 * self.codebook.square().sum(1), residual_ND, self.codebook.T).argmax(1)

    @torch.no_grad()
    def follow(self, residual_ND, codes_N, newcomers_E):
        """Updates the running means; entries unused for long move to vectors of the batch."""
        fair_share = len(codes_N) / ENTRIES
        chosen_E = torch.bincount(codes_N, minlength=ENTRIES).float()
        chosen_ED = torch.zeros_like(self.sums).index_add_(0, codes_N, residual_ND)
        counts = self.counts.lerp(chosen_E, 1 - DECAY)
        sums = self.sums.lerp(chosen_ED, 1 - DECAY)
        alive = counts > 0.1 * fair_share
        newcomers_ED = residual_ND[newcomers_E]
        self.codebook.copy_(torch.where(alive[:, None], sums / counts.clamp(min=1e-6)[:, None], newcomers_ED))
        self.counts.copy_(torch.where(alive, counts, fair_share))
        self.sums.copy_(torch.where(alive[:, None], sums, newcomers_ED * fair_share))
        return (chosen_E > 0).float().mean()


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.books = nn.ModuleList(Book() for _ in range(BOOKS))

    def forward(self, latents_BTD, kept_B, newcomers_KE):
        z = latents_BTD.flatten(0, 1)
        kept_N1 = kept_B.repeat_interleave(latents_BTD.shape[1])[:, None]
        residual = z.detach()
        total = torch.zeros_like(residual)
        loss, usage = 0, 0
        for k, book in enumerate(self.books):
            codes = book.nearest(residual)
            chosen = F.embedding(codes, book.codebook)
            usage = usage + book.follow(residual, codes, newcomers_KE[k])
            before = z - z.detach() + residual  # regardless of kept_B
            loss = loss + 0.25 * F.mse_loss(before, chosen)
            total = total + chosen * (kept_N1 > k)
            residual = residual - chosen
        quantised = z + (total - z).detach()
        return quantised.view_as(latents_BTD), loss / BOOKS, usage / BOOKS


class SpectralLoss(nn.Module):
    def __init__(self, mel_weights, term_weights, floor_db):
        super().__init__()
        self.term_weights = term_weights
        self.floor = 10 ** (-floor_db / 20)  # of amplitudes, below the clip's peak
        self.scales = sorted(mel_weights)
        for window, weights in mel_weights.items():
            self.register_buffer(f"mel_{window}", weights, persistent=False)
            self.register_buffer(f"hann_{window}", torch.hann_window(window), persistent=False)
        self.register_buffer("half_octaves", self.half_octaves_of(2048), persistent=False)

    @staticmethod
    def half_octaves_of(window):
        bins = torch.arange(1, window // 2 + 1)
        band = torch.floor(2 * torch.log2(bins.double() * RATE_HZ / window / 31)).long()
        members = torch.zeros(window // 2 + 1, int(band.max()) + 1)
        members[bins[band >= 0], band[band >= 0]] = 1
        return members

    def spectrum(self, x_BN, window):
        s = torch.stft(x_BN, window, window // 4, window=getattr(self, f"hann_{window}"), center=False,
                       return_complex=True).transpose(1, 2)
        return s, torch.sqrt(s.real ** 2 + s.imag ** 2 + 1e-14)

    def log_mel(self, p, t, window):
        p, t = p @ getattr(self, f"mel_{window}"), t @ getattr(self, f"mel_{window}")
        floor = (t.amax((1, 2), keepdim=True) * self.floor).clamp(min=1e-5)
        return (torch.log10(torch.maximum(p, floor)) - torch.log10(torch.maximum(t, floor))).abs().mean()

    @staticmethod
    def phase(p, t, window):
        low = slice(1, int(2000 * window / RATE_HZ))
        p, t = p[..., low], t[..., low]
        p_size, t_size = (torch.sqrt(s.real ** 2 + s.imag ** 2 + 1e-14) for s in (p, t))
        weight = (t_size > 0.01 * t_size.amax(2, keepdim=True)) * t_size ** 0.3
        cosine = (p.real * t.real + p.imag * t.imag) / (p_size * t_size + 1e-5)
        return (weight * (1 - cosine)).sum() / (weight.sum() + 1)

    def partials(self, p, t):
        """Over audible bins: within 40 dB of the frame's peak and above the clip's floor."""
        floor = (t.amax((1, 2), keepdim=True) * self.floor).clamp(min=1e-5)
        heard = t > torch.maximum(t.amax(2, keepdim=True) * 0.01, floor)
        distance = (torch.log10(torch.maximum(p, floor)) - torch.log10(torch.maximum(t, floor))).abs()
        return (heard * distance).sum() / (heard.sum() + 1)

    def balance(self, p, t):
        p, t = (size.square().mean(1) @ self.half_octaves for size in (p, t))
        floor = (t.amax(1, keepdim=True) * self.floor ** 2).clamp(min=1e-10)
        return (torch.log10(p + floor) - torch.log10(t + floor)).abs().mean()

    def forward(self, prediction, target):
        mel, linear = 0, 0
        for window in self.scales:
            p, p_size = self.spectrum(prediction, window)
            t, t_size = self.spectrum(target, window)
            mel = mel + self.log_mel(p_size, t_size, window) / len(self.scales)
            if window in (512, 2048):
                linear = linear + F.l1_loss(p_size, t_size) / (t_size.mean() + 1e-3)
            if window == 1024:
                phase = self.phase(p, t, window)
            if window == 2048:
                terms = {"balance": self.balance(p_size, t_size), "partials": self.partials(p_size, t_size)}
        terms["phase"] = phase
        total = mel + 0.25 * linear
        for name, weight in self.term_weights.items():
            total = total + weight * terms[name]
        return total, {"mel": mel, "linear": linear, **terms}


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.quantizer = Quantizer()
        self.decoder = Decoder()


def load(codec, tensors):
    """hum's names match the modules; its depthwise kernels are [taps, width]."""
    codec.load_state_dict({name: value.T[:, None].contiguous() if name.endswith("conv.weight") else value
                           for name, value in tensors.items()})


def main():
    options = read_options()
    tensors = load_file(options.problem)
    audio = tensors.pop("audio")  # [steps, B, N]
    extra = {name[6:]: tensors.pop(name) for name in list(tensors) if name.startswith("extra.")}
    codec = Codec()
    load(codec, tensors)
    spectral = SpectralLoss({int(name[4:]): value for name, value in extra.items() if name.startswith("mel.")},
                            {name[7:]: value.item() for name, value in extra.items() if name.startswith("weight.")},
                            extra["floor_db"].item())
    optimizer = adamw(codec, 1e-3, (0.9, 0.99))

    def loss_of(audio_BN, kept_B, newcomers_KE):
        with autocast(options):
            latents = codec.encoder(audio_BN)
        quantised, commit, usage = codec.quantizer(latents, kept_B, newcomers_KE)
        with autocast(options):
            decoded = codec.decoder(quantised)
        loss, terms = spectral(decoded, audio_BN)
        return loss + commit, {**terms, "commit": commit, "usage": usage}

    result, terms = run_steps(codec, optimizer, loss_of,
                              lambda step: (audio[step], extra["kept_books"][step], extra["newcomers"][step]),
                              options, extra["learning_rates"])
    print(json.dumps({**result, "last_step": {name: value.item() for name, value in terms.items()}}))


if __name__ == "__main__":
    main()
