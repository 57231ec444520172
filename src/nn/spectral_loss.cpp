#include "nn/spectral_loss.h"

#include <cmath>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/matmul/matmul.h"
#include "kernels/mel_spectrum/mel_spectrum.h"
#include "kernels/stft/stft.h"

namespace hum::nn {

using graph::Spectrum;
using graph::Value;

namespace {

constexpr double kEpsilon = 1e-7;
constexpr double kLowestHz = 31;  // the half-octaves start here: lower ones contain no bin
constexpr int64_t kPhaseWindow = 1024, kBalanceWindow = 2048, kPartialsWindow = 2048;

Spectrum spectrum(const Value& x_BN, int64_t window_samples, int64_t hop_samples) {
  return kernels::stft(x_BN, graph::hann_window(window_samples), hop_samples);
}

Value modulus(const Spectrum& s) {
  return graph::sqrt(s.real * s.real + s.imag * s.imag + kEpsilon * kEpsilon);
}

// Largest value of each clip, kept as [B, 1, 1].
Value clip_peak(const Value& x_BTF) { return graph::reduce_max(x_BTF, {1, 2}, /*keepdims=*/true); }

Value log_mel_distance(const Value& prediction, const Value& target, double floor_db) {
  const Value floor = graph::maximum(clip_peak(target) * std::pow(10.0, -floor_db / 20), 1e-5);
  auto level = [&](const Value& mel) {
    return graph::log(graph::maximum(mel, floor)) * (1 / std::log(10.0));
  };
  return graph::mean_all(graph::abs(level(prediction) - level(target)));
}

// L1 of magnitudes over the mean target magnitude of the batch: scale-free.
Value linear_distance(const Value& prediction_BTF, const Value& target_BTF) {
  return graph::mean_all(graph::abs(prediction_BTF - target_BTF)) /
         (graph::mean_all(target_BTF) + 1e-3);
}

// Mean of |log10 difference| over audible bins: within 40 dB of each frame's peak and floor_db of
// the clip's.
Value partials_distance(const Value& prediction_BTF, const Value& target_BTF, double floor_db) {
  const Value floor = graph::maximum(clip_peak(target_BTF) * std::pow(10.0, -floor_db / 20), 1e-5);
  const Value peak = graph::reduce_max(target_BTF, {2}, /*keepdims=*/true);
  const Value heard = convert(target_BTF > graph::maximum(peak * 0.01, floor), graph::DType::kF32);
  const Value ratio = graph::log(graph::maximum(prediction_BTF, floor)) -
                      graph::log(graph::maximum(target_BTF, floor));
  return graph::sum_all(heard * graph::abs(ratio)) / (graph::sum_all(heard) + 1) *
         (1 / std::log(10.0));
}

// Mean of |X|^0.3 (1 - cos of the phase difference) below a frequency, within 40 dB of each frame's
// peak.
Value phase_distance(const Spectrum& prediction, const Spectrum& target,
                     const SpectralLossConfig& config, int64_t window_samples) {
  const int64_t bins =
      static_cast<int64_t>(config.phase_below_hz * static_cast<double>(window_samples) /
                           static_cast<double>(config.sample_rate_hz));
  auto low = [&](const Spectrum& s) {
    return Spectrum{graph::slice_in_dim(s.real, 2, 1, bins),
                    graph::slice_in_dim(s.imag, 2, 1, bins)};
  };
  const Spectrum p = low(prediction), t = low(target);
  const Value p_size = modulus(p), t_size = modulus(t);
  const Value peak = graph::reduce_max(t_size, {2}, /*keepdims=*/true);
  const Value audible = convert(t_size > peak * 0.01, graph::DType::kF32);
  const Value weight = audible * graph::exponential(graph::log(t_size) * 0.3);
  const Value cosine = (p.real * t.real + p.imag * t.imag) / (p_size * t_size + 1e-5);
  return graph::sum_all(weight * (1 - cosine)) / (graph::sum_all(weight) + 1);
}

// The half-octave, counted from kLowestHz, that a bin belongs to. Shapes: -> [bins, half-octaves].
Value half_octaves(int64_t bins, int64_t sample_rate_hz) {
  const double bin_hz = static_cast<double>(sample_rate_hz) / static_cast<double>(2 * (bins - 1));
  auto band_of = [&](int64_t bin) {
    return static_cast<int64_t>(
        std::floor(2 * std::log2(static_cast<double>(bin) * bin_hz / kLowestHz)));
  };
  const int64_t bands = band_of(bins - 1) + 1;
  std::vector<float> members(static_cast<size_t>(bins * bands));
  for (int64_t bin = 1; bin < bins; ++bin) {
    if (band_of(bin) >= 0) members[static_cast<size_t>(bin * bands + band_of(bin))] = 1;
  }
  return graph::constant(std::span<const float>(members), {bins, bands});
}

// Mean of |log10 E - log10 E'|, E a clip's energy in a half-octave; energies more than floor_db
// below the clip's strongest are clamped and so compare equal.
Value balance_distance(const Value& prediction_BTF, const Value& target_BTF,
                       const SpectralLossConfig& config) {
  const Value members = half_octaves(target_BTF.size(2), config.sample_rate_hz);
  auto energy = [&](const Value& x_BTF) {
    return kernels::matmul(graph::mean(x_BTF * x_BTF, {1}), members);
  };
  const Value target = energy(target_BTF), prediction = energy(prediction_BTF);
  const Value strongest = graph::reduce_max(target, {1}, /*keepdims=*/true);
  const Value floor = graph::maximum(strongest * std::pow(10.0, -config.floor_db / 10), 1e-10);
  const Value difference = graph::log(prediction + floor) - graph::log(target + floor);
  return graph::mean_all(graph::abs(difference)) * (1 / std::log(10.0));
}

}  // namespace

Value magnitude(const Value& x_BN, int64_t window_samples, int64_t hop_samples) {
  return modulus(spectrum(x_BN, window_samples, hop_samples));
}

SpectralLoss spectral_loss(const Value& prediction_BN, const Value& target,
                           const SpectralLossConfig& config) {
  HUM_REQUIRE(prediction_BN.shape() == target.shape(), "spectral_loss: shapes differ: {}, {}",
              prediction_BN.shape(), target.shape());
  HUM_REQUIRE(!config.mel_scales.empty(), "spectral_loss: no mel scales");
  const Value target_BN = graph::stop_gradient(target);
  Value mel, linear, phase, balance, partials;
  auto accumulate = [](Value& sum, const Value& term) { sum = sum ? sum + term : term; };
  for (const MelScale& scale : config.mel_scales) {
    const int64_t window = scale.window_samples;
    const bool in_linear = window == 512 || window == 2048;
    const bool in_balance = config.balance_weight > 0 && window == kBalanceWindow;
    const auto of = [&](const Value& x_BN) {
      return kernels::mel_spectrum(x_BN,
                                   {.window = graph::hann_window(window),
                                    .hop = scale.hop_samples,
                                    .bands = scale.bands,
                                    .weights = scale.weights,
                                    .epsilon = kEpsilon},
                                   /*with_magnitude=*/in_linear || in_balance);
    };
    const kernels::MelSpectrum p = of(prediction_BN), t = of(target_BN);
    accumulate(mel, log_mel_distance(p.bands_BTM, t.bands_BTM, config.floor_db));
    if (in_linear) accumulate(linear, linear_distance(p.magnitude_BTF, t.magnitude_BTF));
    if (config.partials_weight > 0 && window == kPartialsWindow) {
      partials = partials_distance(p.magnitude_BTF, t.magnitude_BTF, config.floor_db);
    }
    if (in_balance) balance = balance_distance(p.magnitude_BTF, t.magnitude_BTF, config);
    if (config.phase_weight > 0 && window == kPhaseWindow) {
      phase = phase_distance(spectrum(prediction_BN, window, scale.hop_samples),
                             spectrum(target_BN, window, scale.hop_samples), config, window);
    }
  }
  mel = mel / static_cast<double>(config.mel_scales.size());
  Value total = mel;
  if (linear) total = total + linear * config.linear_weight;
  if (phase) total = total + phase * config.phase_weight;
  if (balance) total = total + balance * config.balance_weight;
  if (partials) total = total + partials * config.partials_weight;
  return {total, mel, linear, phase, balance, partials};
}

}  // namespace hum::nn
