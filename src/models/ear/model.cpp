#include "models/ear/model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "audio/notes.h"
#include "base/error.h"
#include "kernels/bias_gelu/bias_gelu.h"
#include "kernels/conv1d/conv1d.h"
#include "kernels/depthwise_conv/depthwise_conv.h"
#include "kernels/matmul/matmul.h"
#include "models/ear/grid.h"
#include "nn/waveform.h"

namespace hum::models::ear {

using graph::convert;
using graph::DType;

namespace {

// Partials at 1/2, 1, 2, 3, 4 and 5 times a pitch, as distances in bins (36 an octave).
constexpr std::array<int64_t, 6> kPartials = {-36, 0, 36, 57, 72, 84};
constexpr int64_t kFirstBin = kPartials.front(), kAllBins = kBins + kPartials.back() - kFirstBin;
constexpr int64_t kStackTaps = 5, kSemitoneTaps = 5, kTimeTaps = 5, kPitchTaps = 25;
constexpr double kFloor = 1e-4;            // added to amplitudes before the logarithm
constexpr double kTargetBlur_bins = 1.25;  // 25 cents

// Weights that read the amplitude at each pitch of the grid and its partials from FFT magnitudes:
// triangles as wide as a bin of the grid or of the FFT, whichever is wider. A sine of amplitude 1
// gives about 1. Shapes: [window/2 + 1, kAllBins].
std::vector<float> filter_bank(int64_t window_samples) {
  const double spacing_hz =
      static_cast<double>(kSampleRateHz) / static_cast<double>(window_samples);
  const int64_t bins = window_samples / 2 + 1;
  std::vector<float> weights(static_cast<size_t>(bins * kAllBins));
  for (int64_t i = 0; i < kAllBins; ++i) {
    const double midi = static_cast<double>(kLowest) + static_cast<double>(i + kFirstBin - 1) / 3;
    const double hz = audio::midi_to_hz(midi);
    const double reach_hz = std::max(spacing_hz, hz * (std::exp2(1.0 / 36) - 1));
    double sum = 0;
    for (int64_t k = 0; k < bins; ++k) {
      sum += std::max(0.0, 1 - std::abs(static_cast<double>(k) * spacing_hz - hz) / reach_hz);
    }
    if (sum == 0) continue;  // above half the sample rate
    const double scale = 4 / static_cast<double>(window_samples) / sum;  // of a Hann window
    for (int64_t k = 0; k < bins; ++k) {
      const double near = 1 - std::abs(static_cast<double>(k) * spacing_hz - hz) / reach_hz;
      weights[static_cast<size_t>(k * kAllBins + i)] =
          static_cast<float>(scale * std::max(0.0, near));
    }
  }
  return weights;
}

// Over the last dim: x + bias, then gelu.
Value activated(const Value& x, const Value& bias) { return kernels::bias_gelu(x, bias); }

// Binary cross-entropy of logits. Shapes: any, the same.
Value binary_cross_entropy(const Value& logits, const Value& target) {
  const Value positive = graph::maximum(logits, 0);
  return positive - logits * target + graph::log(1 + graph::exponential(-graph::abs(logits)));
}

// Cross-entropy against a Gaussian around each target, mean over frames that have one. Shapes:
// logits_BTP, target_BT.
Value pitch_loss(const Value& logits_BTP, const Value& target_BT) {
  const graph::Dims& dims = logits_BTP.dims();
  const Value centre = graph::broadcast_to(graph::expand_dims(target_BT, 2), dims);
  const Value off = (graph::iota({DType::kF32, dims}, 2) - centre) / kTargetBlur_bins;
  const Value likely = graph::softmax(off * off * -0.5, 2);
  const Value loss_BT = -graph::sum(likely * graph::log_softmax(logits_BTP, 2), {2});
  return nn::masked_mean(loss_BT, convert(target_BT >= 0, DType::kF32));
}

// The share of frames with a pitch whose likeliest bin is within 50 cents.
Value pitch_accuracy(const Value& logits_BTP, const Value& target_BT) {
  const Value chosen = convert(graph::argmax(logits_BTP, 2), DType::kF32);
  const Value near = graph::abs(chosen - target_BT) <= 2.5;
  return nn::masked_mean(convert(near, DType::kF32), convert(target_BT >= 0, DType::kF32));
}

Value fan_in_kernel(const nn::Scope& scope, const std::string& name, int64_t taps, int64_t in,
                    int64_t out) {
  return scope.declare(name, {taps, in, out},
                       nn::Init::normal(1 / std::sqrt(static_cast<double>(taps * in))));
}

}  // namespace

PitchBlock::PitchBlock(const nn::Scope& scope, int64_t channels, double residual_scale)
    : residual_scale_(residual_scale),
      time_KC_(scope.declare("time.weight", {kTimeTaps, channels}, nn::Init::normal(0.3))),
      time_bias_C_(scope.declare("time.bias", {channels}, nn::Init::zeros())),
      pitch_KC_(scope.declare("pitch.weight", {kPitchTaps, channels}, nn::Init::normal(0.2))),
      pitch_bias_C_(scope.declare("pitch.bias", {channels}, nn::Init::zeros())),
      norm_(scope.child("norm"), nn::NormKind::kLayer, channels),
      up_(scope.child("up"), channels, 3 * channels, {.hidden = true}),
      down_(scope.child("down"), 3 * channels, channels, {.hidden = true}) {}

Value PitchBlock::operator()(const Value& x_BTSC) const {
  const int64_t b = x_BTSC.size(0), t = x_BTSC.size(1), s = x_BTSC.size(2), c = x_BTSC.size(3);
  // The same kernel at every semitone.
  const auto at_every_semitone = [&](const Value& value_XC) {
    const int64_t rows = value_XC.rank() == 1 ? 1 : value_XC.size(0);
    const Value rows_X1C = graph::reshape(value_XC, {rows, 1, c});
    const Value wide = graph::reshape(graph::broadcast_to(rows_X1C, {rows, s, c}), {rows, s * c});
    return value_XC.rank() == 1 ? graph::reshape(wide, {s * c}) : wide;
  };
  const Value over_time = graph::reshape(
      kernels::depthwise_conv(graph::reshape(x_BTSC, {b, t, s * c}), at_every_semitone(time_KC_),
                              at_every_semitone(time_bias_C_),
                              {.padding_low = kTimeTaps / 2, .padding_high = kTimeTaps / 2}),
      {b, t, s, c});
  const Value over_pitch = graph::reshape(
      kernels::depthwise_conv(graph::reshape(x_BTSC, {b * t, s, c}), pitch_KC_, pitch_bias_C_,
                              {.padding_low = kPitchTaps / 2, .padding_high = kPitchTaps / 2}),
      {b, t, s, c});
  const Value y = norm_(over_time + over_pitch);
  return x_BTSC + down_(activated(up_.without_bias(y), up_.bias())) * residual_scale_;
}

Ear::Ear(const EarConfig& config) : config_(config) {
  onset_weights_ = filter_bank(config.onset_window_samples);
  pitch_weights_ = filter_bank(config.pitch_window_samples);
  const nn::Scope root(parameters_);
  const int64_t c = config.channels, in = 2 * std::ssize(kPartials);
  stack_KIO_ = fan_in_kernel(root, "stack.weight", kStackTaps, in, c);
  stack_bias_ = root.declare("stack.bias", {c}, nn::Init::zeros());
  semitone_KIO_ = fan_in_kernel(root, "semitone.weight", kSemitoneTaps, c, c);
  semitone_bias_ = root.declare("semitone.bias", {c}, nn::Init::zeros());
  for (int64_t i = 0; i < config.pitch_blocks; ++i) {
    pitch_blocks_.emplace_back(root.child("pitch_blocks", i), c,
                               1.0 / static_cast<double>(config.pitch_blocks));
  }
  into_width_ =
      nn::Linear(root.child("into_width"), kSemitones * c, config.width, {.hidden = true});
  blocks_ = nn::convnext_stack(
      root, config.blocks,
      {.width = config.width, .hidden = 3 * config.width, .kernel = config.kernel});
  norm_ = nn::Norm(root.child("norm"), nn::NormKind::kLayer, config.width);
  events_ = nn::Linear(root.child("events"), config.width, 3, {.init = 0.02});
  pitches_ = nn::Linear(root.child("pitches"), config.width, 2 * kPitches, {.init = 0.02});
  local_pitches_ = nn::Linear(root.child("local_pitches"), c, 2 * kPitchesPerSemitone);
}

// Logarithms of amplitudes, centred on -50 dB. Shapes: -> [B, T, kAllBins].
Value Ear::spectrum(const Value& audio_BN, int64_t window_samples,
                    const std::vector<float>& weights) const {
  const nn::Spectrum spectrum = nn::analysis(audio_BN, window_samples, kHop);
  const Value magnitude =
      graph::sqrt(spectrum.real * spectrum.real + spectrum.imag * spectrum.imag + 1e-12);
  const Value bank =
      graph::constant(std::span<const float>(weights), {window_samples / 2 + 1, kAllBins});
  return graph::log(kernels::matmul(magnitude, bank) + kFloor) * (1 / std::log(10.0)) + 2.5;
}

// The spectra at each pitch's partials as channels. Shapes: -> [B, T, kBins, 2 partials].
Value Ear::stacked_spectra(const Value& audio_BN) const {
  graph::Values channels;
  for (const Value& x : {spectrum(audio_BN, config_.onset_window_samples, onset_weights_),
                         spectrum(audio_BN, config_.pitch_window_samples, pitch_weights_)}) {
    for (const int64_t partial : kPartials) {
      const int64_t from = partial - kFirstBin;
      channels.push_back(graph::slice_in_dim(x, 2, from, from + kBins));
    }
  }
  return graph::stack(channels, 3);
}

Ear::Prediction Ear::predict(const Value& audio_BN, DType compute,
                             const nn::BlockOptions& blocks) const {
  const Value stacked = convert(stacked_spectra(audio_BN), compute);
  const int64_t b = stacked.size(0), t = stacked.size(1), c = config_.channels;
  Value x = graph::reshape(stacked, {b * t, kBins, stacked.size(3)});
  x = kernels::conv1d(x, convert(stack_KIO_, compute),
                      {.padding_low = kStackTaps / 2, .padding_high = kStackTaps / 2});
  x = activated(x, stack_bias_);
  // From three bins to one position a semitone.
  x = kernels::conv1d(x, convert(semitone_KIO_, compute),
                      {.stride = 3, .padding_low = 1, .padding_high = 1});
  x = graph::reshape(activated(x, semitone_bias_), {b, t, kSemitones, c});
  x = nn::run_blocks(blocks, pitch_blocks_, x);
  const Value local = convert(local_pitches_(x), DType::kF32);
  Value y = into_width_(graph::reshape(x, {b, t, kSemitones * c}));
  y = convert(norm_(nn::run_blocks(blocks, blocks_, y)), DType::kF32);
  const Value events = events_(y), global = pitches_(y);
  const auto event = [&](int64_t i) {
    return graph::squeeze(graph::slice_in_dim(events, 2, i, i + 1), {2});
  };
  const auto pitches = [&](int64_t i) {
    const Value near = graph::reshape(
        graph::slice_in_dim(local, 3, i * kPitchesPerSemitone, (i + 1) * kPitchesPerSemitone),
        {b, t, kPitches});
    return near + graph::slice_in_dim(global, 2, i * kPitches, (i + 1) * kPitches);
  };
  return {event(0), event(1), event(2), pitches(0), pitches(1)};
}

nn::TrainSpec Ear::train_spec(const nn::StepShape& shape) const {
  auto loss = [this, compute = shape.compute](std::span<const Value> inputs,
                                              const nn::StepInputs& step) {
    const Value &f0 = inputs[1], &note = inputs[2], &onset = inputs[3], &offset = inputs[4];
    const Prediction p = predict(inputs[0], compute, step.blocks);
    const Value voiced = convert(f0 >= 0, DType::kF32);
    // Frames with an event are rare.
    constexpr double kEventWeight = 8;
    const auto event_loss = [&](const Value& logits, const Value& target) {
      return graph::mean_all(binary_cross_entropy(logits, target) * (1 + kEventWeight * target));
    };
    const Value voicing = graph::mean_all(binary_cross_entropy(p.voiced_BT, voiced));
    const Value f0_loss = pitch_loss(p.f0_BTP, f0), note_loss = pitch_loss(p.note_BTP, note);
    const Value onsets = event_loss(p.onset_BT, onset), offsets = event_loss(p.offset_BT, offset);
    const Value heard = graph::equal(p.voiced_BT > 0, voiced > 0.5);
    return nn::Loss{.total = voicing + 0.3 * (f0_loss + note_loss) + onsets + 0.5 * offsets,
                    .metrics = {{"voicing", voicing},
                                {"f0", f0_loss},
                                {"note", note_loss},
                                {"onset", onsets},
                                {"voicing_accuracy", graph::mean_all(convert(heard, DType::kF32))},
                                {"f0_accuracy", pitch_accuracy(p.f0_BTP, f0)},
                                {"note_accuracy", pitch_accuracy(p.note_BTP, note)}}};
  };
  const int64_t batch = shape.batch, frames = shape.samples / kHop, samples = frames * kHop;
  const graph::Shape per_frame{DType::kF32, {batch, frames}};
  return {.name = "ear",
          .parameters = &parameters_,
          .batch = {{"audio", {DType::kF32, {batch, samples}}},
                    {"f0", per_frame},
                    {"note", per_frame},
                    {"onset", per_frame},
                    {"offset", per_frame}},
          .loss = std::move(loss),
          .units_per_batch = static_cast<double>(batch * samples) / kSampleRateHz,
          .unit = "audio s"};
}

}  // namespace hum::models::ear
