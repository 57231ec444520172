#include "models/separator/model.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "kernels/stft/stft.h"

namespace hum::models::separator {

using graph::DType;
using nn::Spectrum;

namespace {

constexpr double kSilence = 1e-12;      // power of a mixture, or a frame, that has no sound
constexpr double kQuiet = 1e-6;         // mean square of an item that counts less than others
constexpr double kFloor = 1e-8;         // added to powers, relative to the mean of all bins
constexpr double kHalfCompress = 0.15;  // of powers: magnitudes to the power of 0.3
constexpr double kLossFloor = 1e-4;     // added to powers before their fourth root
constexpr double kErrorFloor = 1e-3;    // relative to the mixture: smaller errors hardly count
constexpr double kFaint = 1e-2;  // power of a stem, of an item's 1: one with less hardly sounds
constexpr double kErrorWeight = 0.1;  // of the logarithms of the stems' errors
constexpr int64_t kFewestFrames = 8;

// Shapes: BCTF -> BTF.
Value channel(const Value& x_BCTF, int64_t at) {
  return graph::squeeze(graph::slice_in_dim(x_BCTF, 1, at, at + 1), {1});
}

Value power_of(const Spectrum& s) { return s.real * s.real + s.imag * s.imag; }

Value fourth_root(const Value& power) { return graph::sqrt(graph::sqrt(power + kLossFloor)); }

// Square root of the energy of a Hann window: spectra divided by it have the level of the waveform.
double window_scale(int64_t window_samples) {
  return std::sqrt(0.375 * static_cast<double>(window_samples));
}

// Shapes: [..., N] -> two of [..., T, F].
Spectrum scaled_spectra(const Value& x, int64_t window_samples) {
  const int64_t samples = x.size(-1), rows = x.shape().elements() / samples;
  // Scales the samples, of which there are fewer.
  const Value x_RN = graph::reshape(x, {rows, samples}) * (1 / window_scale(window_samples));
  const Spectrum all = nn::analysis(x_RN, window_samples, window_samples / 4);
  const auto laid_out = [&](const Value& part) {
    graph::Dims dims(x.dims().begin(), x.dims().end() - 1);
    dims.insert(dims.end(), {part.size(1), part.size(2)});
    return graph::reshape(part, dims);
  };
  return {laid_out(all.real), laid_out(all.imag)};
}

// Shapes: two of [..., F] -> two of [..., L].
Spectrum lowest_bins(const Spectrum& s, int64_t bins) {
  const auto rank = static_cast<int64_t>(s.real.dims().size());
  return {graph::slice_in_dim(s.real, rank - 1, 0, bins),
          graph::slice_in_dim(s.imag, rank - 1, 0, bins)};
}

// Mean of |real| + |imag|.
Value complex_distance(const Spectrum& error) {
  return graph::mean_all(graph::abs(error.real)) + graph::mean_all(graph::abs(error.imag));
}

}  // namespace

Separator::Separator(const SeparatorConfig& config) : config_(config), edges_(band_edges(config)) {
  const nn::Scope root(parameters_);
  std::vector<int64_t> features;
  for (size_t k = 0; k + 1 < edges_.size(); ++k) {
    const int64_t bins = kChannels * (edges_[k + 1] - edges_[k]);
    norms_.emplace_back(root.child("bands", static_cast<int64_t>(k)).child("norm"),
                        nn::NormKind::kRms, bins);
    features.push_back(bins + 1);
  }
  network_ = make_network(root, config_, features);
}

Values Separator::features(const Spectrum& mixture_BCTF, DType compute) const {
  const Spectrum low = lowest_bins(mixture_BCTF, config_.bins());
  const auto mid_and_side = [&](const Value& part_BCTL) {
    const Value left = channel(part_BCTL, 0), right = channel(part_BCTL, 1);
    return graph::stack({(left + right) * 0.5, (left - right) * 0.5}, 2);
  };
  const Value power_BTCL = power_of({mid_and_side(low.real), mid_and_side(low.imag)});
  // The mean of the frames that have sound: silence before or after it changes nothing.
  const Value frames_BT11 = graph::mean(power_BTCL, {2, 3}, /*keepdims=*/true);
  const Value live_BT11 = graph::convert(frames_BT11 > kSilence, DType::kF32);
  const Value mean_B111 = graph::sum(frames_BT11, {1}, /*keepdims=*/true) /
                          graph::maximum(graph::sum(live_BT11, {1}, /*keepdims=*/true), 1);
  const Value relative_BTCL = power_BTCL / (mean_B111 + kSilence) + kFloor;
  const Value seen_BTCL = graph::exponential(graph::log(relative_BTCL) * kHalfCompress);
  Values bands_BTX;
  for (size_t k = 0; k < norms_.size(); ++k) {
    const auto band = [&](const Value& x_BTCL) {
      const Value part = graph::slice_in_dim(x_BTCL, 3, edges_[k], edges_[k + 1]);
      return graph::reshape(part, {part.size(0), part.size(1), part.size(2) * part.size(3)});
    };
    // The norm takes the level away; a band's onsets are in it.
    const Value level_BT1 = graph::log(graph::mean(band(relative_BTCL), {2}, /*keepdims=*/true));
    const Value shape_BTX = norms_[k](graph::convert(band(seen_BTCL), compute));
    bands_BTX.push_back(graph::concatenate(
        {shape_BTX, graph::convert(level_BT1 * (0.5 / std::log(10.0)), compute)}, 2));
  }
  return bands_BTX;
}

Value Separator::shares(const Spectrum& mixture_BCTF, DType compute,
                        const nn::BlockOptions& blocks) const {
  const Value logits_BTSL = network_->logits(features(mixture_BCTF, compute), blocks);
  return graph::swap_dims(graph::softmax(graph::convert(logits_BTSL, DType::kF32), 2), 1, 2);
}

Value Separator::masks(const Spectrum& mixture_BCTF, DType compute,
                       const nn::BlockOptions& blocks) const {
  const Value shares_BSTL = shares(mixture_BCTF, compute, blocks);
  const int64_t above = config_.all_bins() - config_.bins();
  if (above == 0) return shares_BSTL;
  const int64_t top = edges_[edges_.size() - 2];
  const Value gains_BST1 =
      graph::mean(graph::slice_in_dim(shares_BSTL, 3, top, config_.bins()), {3}, /*keepdims=*/true);
  graph::Dims dims = shares_BSTL.dims();
  dims[3] = above;
  return graph::concatenate({shares_BSTL, graph::broadcast_to(gains_BST1, dims)}, 3);
}

nn::Loss Separator::loss(const Value& stems_BSCN, const Value& mixture_BCN, DType compute,
                         const nn::BlockOptions& blocks) const {
  // All items count alike, however loud they are.
  const Value rms_B11 =
      graph::sqrt(graph::mean(mixture_BCN * mixture_BCN, {1, 2}, /*keepdims=*/true) + kQuiet);
  const auto seen = [&](const Value& sound, const Value& level) {
    return lowest_bins(scaled_spectra(sound / level, config_.window_samples), config_.bins());
  };
  const Spectrum mixture_BCTL = seen(mixture_BCN, rms_B11);
  const Spectrum stems_BSCTL = seen(stems_BSCN, graph::expand_dims(rms_B11, 1));

  const Value shares_BS1TL = graph::expand_dims(shares(mixture_BCTL, compute, blocks), 2);
  const auto shared = [&](const Value& x_BCTL) {
    return shares_BS1TL * graph::expand_dims(x_BCTL, 1);
  };
  const Value power_BSCTL = shares_BS1TL * shared(power_of(mixture_BCTL));
  const Value wanted_BSCTL = power_of(stems_BSCTL);
  const Spectrum error_BSCTL{shared(mixture_BCTL.real) - stems_BSCTL.real,
                             shared(mixture_BCTL.imag) - stems_BSCTL.imag};
  const Value magnitudes =
      graph::mean_all(graph::abs(fourth_root(power_BSCTL) - fourth_root(wanted_BSCTL)));
  const Value spectra = complex_distance(error_BSCTL);
  // By item and stem: a stem counts as far as it sounds, whether it is loud or quiet.
  const Value mixture_B1 = graph::mean(power_of(mixture_BCTL), {1, 2, 3}) + kSilence;
  const Value wanted_BS = graph::mean(wanted_BSCTL, {2, 3, 4}),
              error_BS = graph::mean(power_of(error_BSCTL), {2, 3, 4});
  const Value counts_BS = wanted_BS / (wanted_BS + kFaint);
  const Value log_BS =
      graph::log(error_BS / graph::expand_dims(mixture_B1, 1) * (1 / kErrorFloor) + 1);
  const Value errors = graph::sum_all(counts_BS * log_BS) / (graph::sum_all(counts_BS) + kSilence);
  const Value ratio =
      (graph::sum_all(wanted_BS) + kSilence) / (graph::sum_all(error_BS) + kSilence);
  constexpr double kDecibels = 10 / std::numbers::ln10;
  return {.total = magnitudes + spectra + errors * kErrorWeight,
          .metrics = {{"magnitudes", magnitudes},
                      {"spectra", spectra},
                      {"errors", errors},
                      {"sdr_db", graph::log(ratio) * kDecibels}}};
}

nn::TrainSpec Separator::train_spec(const nn::StepShape& shape) const {
  const int64_t batch = shape.batch, frames = shape.samples / config_.hop_samples,
                samples = frames * config_.hop_samples;
  if (frames < kFewestFrames) {
    fail(ExitCode::kConfig,
         fmt::format("separator: a crop of {} samples has {} frames of {}", shape.samples, frames,
                     config_.hop_samples),
         fmt::format("use at least {} samples: raise stage.frames",
                     kFewestFrames * config_.hop_samples));
  }
  auto loss_of = [this, compute = shape.compute](std::span<const Value> inputs,
                                                 const nn::StepInputs& step) {
    return loss(inputs[0], inputs[1], compute, step.blocks);
  };
  return {.name = "separator",
          .parameters = &parameters_,
          .batch = {{"stems", {DType::kF32, {batch, kStemCount, kChannels, samples}}},
                    {"mixture", {DType::kF32, {batch, kChannels, samples}}}},
          .loss = std::move(loss_of),
          .units_per_batch = static_cast<double>(batch * samples) / kSampleRateHz,
          .unit = "audio s"};
}

}  // namespace hum::models::separator
