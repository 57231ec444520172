// B windows, N samples, T 172 frames, F frequency bins, C channels, H harmonics, K kernel samples,
// O outputs.
#include "models/basic_pitch/network.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "graph/ops.h"
#include "graph/ops/convolution.h"
#include "models/basic_pitch/matrices.h"

namespace hum::models::basic_pitch {
namespace {

using graph::concat;
using graph::Dims;
using graph::Value;
using graph::Values;

class Builder {
 public:
  Builder(const Weights& weights, int64_t windows) : weights_(weights), windows_(windows) {}

  Network build() &&;

 private:
  // A weight, as a parameter of the program.
  Value weight(const std::string& name, Dims dims, std::span<const float> values);
  Value kernel_TFCO(const std::string& name, const ConvWeights& conv);

  Value spectrum_power_BTF(Value sound_BN);
  Value downsample(const Value& sound_BN, const Value& matrix_KO);
  Value log_spectrum_BTF(const Value& power_BTF);
  Value contour_hidden_BTO(const Value& spectrum_BTF);
  Value contour_BTF(const Value& hidden_BTO);
  Value hidden_BTFC(const std::string& name, const Value& x_BTFC, const ConvWeights& conv);
  Value single_channel_BTF(const std::string& name, const Value& x_BTFC, const ConvWeights& conv);

  const Weights& weights_;
  int64_t windows_;
  Values parameters_;
  std::vector<runtime::HostTensor> tensors_;
};

Value Builder::weight(const std::string& name, Dims dims, std::span<const float> values) {
  tensors_.push_back(runtime::HostTensor::of(dims, values));
  parameters_.push_back(graph::parameter(name, {graph::DType::kF32, std::move(dims)}));
  return parameters_.back();
}

// [O, C, time, freq] -> [time, freq, C, O]
Value Builder::kernel_TFCO(const std::string& name, const ConvWeights& conv) {
  const Value kernel_OCTF =
      weight(name + ".kernel", {conv.outputs, conv.inputs, conv.times, conv.freqs}, conv.kernel);
  return transpose(kernel_OCTF, {2, 3, 1, 0});
}

// Multiplies K samples with a matrix at every hop.
// Shapes: sound_BN, matrix_KO -> [B, frames, O]
Value framed_product(const Value& sound_BN, const Value& matrix_KO, int64_t hop) {
  return conv1d(expand_dims(sound_BN, 2), expand_dims(matrix_KO, 1), {.stride = hop});
}

// Pads half a kernel at both ends, mirrored around the first and last sample.
Value reflect(const Value& sound_BN) {
  constexpr int64_t kHalf = kKernelSamples / 2;
  const int64_t last = sound_BN.size(1) - 1;
  const Value head = reverse(slice_in_dim(sound_BN, 1, 1, kHalf + 1), {1});
  const Value tail = reverse(slice_in_dim(sound_BN, 1, last - kHalf, last), {1});
  return concat({head, sound_BN, tail}, 1);
}

// Halves the rate: pads 127 zeros at both ends, filters, and takes every second sample.
Value Builder::downsample(const Value& sound_BN, const Value& matrix_KO) {
  constexpr int64_t kPad = (kKernelSamples - 1) / 2;
  const int64_t samples = (sound_BN.size(1) + 2 * kPad - kKernelSamples) / 2 + 1;
  const int64_t blocks = (samples + kDownsampleBlock - 1) / kDownsampleBlock;
  const int64_t needed = 2 * (blocks * kDownsampleBlock - 1) + kKernelSamples;
  const Value padded = pad_in_dim(sound_BN, 0.0, 1, kPad, needed - kPad - sound_BN.size(1));
  const Value blocks_BTO = framed_product(padded, matrix_KO, 2 * kDownsampleBlock);
  return slice_in_dim(reshape(blocks_BTO, {windows_, blocks * kDownsampleBlock}), 1, 0, samples);
}

// The power of the constant-Q transform. All octaves use the same kernels, on sound of halved
// rates.
Value Builder::spectrum_power_BTF(Value sound_BN) {
  const Value cqt_KO = weight("cqt", {kKernelSamples, 2 * kBinsPerOctave}, cqt_matrix(weights_));
  const Value half_rate_KO =
      weight("half_rate", {2 * (kDownsampleBlock - 1) + kKernelSamples, kDownsampleBlock},
             downsample_matrix(weights_));
  Values octaves(kCqtOctaves);
  int64_t hop = kFrameHopSamples;
  for (int64_t octave = kCqtOctaves - 1; octave >= 0; --octave) {
    const Value parts_BTO =
        slice_in_dim(framed_product(reflect(sound_BN), cqt_KO, hop), 1, 0, kWindowFrames);
    const Values parts = split(parts_BTO * parts_BTO, 2, 2);
    octaves[static_cast<size_t>(octave)] = parts[0] + parts[1];
    if (octave > 0) sound_BN = downsample(sound_BN, half_rate_KO);
    hop /= 2;
  }
  const Value power_BTF = slice_in_dim(
      concat(octaves, 2), 2, kCqtOctaves * kBinsPerOctave - kCqtBins, kCqtOctaves * kBinsPerOctave);
  const Value scale_F = weight("cqt_scale", {kCqtBins}, weights_.cqt_scale);
  return power_BTF * (scale_F * scale_F);
}

// Decibels, scaled to 0..1 within each window, then the input's batch norm. A silent window is 0
// everywhere.
Value Builder::log_spectrum_BTF(const Value& power_BTF) {
  const Value decibels = log(power_BTF + 1e-10) * (10.0 / std::log(10.0));
  const Value above_floor = decibels - reduce_min(decibels, {1, 2}, /*keepdims=*/true);
  const Value range = reduce_max(above_floor, {1, 2}, /*keepdims=*/true);
  const Value is_silent = range < 1e-3;
  const Value unit = above_floor / select(is_silent, 1.0, range);
  return unit * weights_.input_scale + weights_.input_offset;
}

// Stacks eight copies of the spectrum, shifted so that a note's harmonics are in one place.
// Shapes: [B, T, 309] -> [B, T, 264, 8]
Value harmonic_stack_BTFH(const Value& spectrum_BTF) {
  Values shifted;
  for (const int64_t shift : kHarmonicShiftBins) {
    const int64_t below = shift < 0 ? -shift : 0;
    const int64_t above = std::max<int64_t>(shift + kContourBins - kCqtBins, 0);
    const Value inside =
        slice_in_dim(spectrum_BTF, 2, std::max<int64_t>(shift, 0), shift + kContourBins - above);
    shifted.push_back(pad_in_dim(inside, 0.0, 2, below, above));
  }
  return stack(shifted, 3);
}

// `x` at frames t - reach .. t + reach, with zeros for frames outside the window.
Values neighbours_in_time(const Value& x, int64_t reach) {
  const Value padded = pad_in_dim(x, 0.0, 1, reach, reach);
  Values moved;
  for (int64_t start = 0; start <= 2 * reach; ++start) {
    moved.push_back(slice_in_dim(padded, 1, start, start + kWindowFrames));
  }
  return moved;
}

// Shapes: spectrum [B, T, 309] -> [B, T, 264 * 8], bins first
Value Builder::contour_hidden_BTO(const Value& spectrum_BTF) {
  const Values frames = neighbours_in_time(spectrum_BTF, weights_.contour_hidden.times / 2);
  Values parts;
  for (const Band& band : contour_hidden_bands(weights_)) {
    Values inputs;
    for (const Value& frame : frames) {
      inputs.push_back(slice_in_dim(frame, 2, band.first, band.first + band.inputs));
    }
    const Value rows = reshape(concat(inputs, 2), {windows_ * kWindowFrames, band.rows});
    const Value matrix = weight("contour_hidden.band" + std::to_string(parts.size()),
                                {band.rows, band.columns}, band.values);
    parts.push_back(matmul(rows, matrix));
  }
  const int64_t channels = weights_.contour_hidden.outputs;
  const Value bias_C = weight("contour_hidden.bias", {channels}, weights_.contour_hidden.bias);
  const Value bias_O =
      reshape(broadcast_to(bias_C, {kContourBins, channels}), {kContourBins * channels});
  const Value sum = reshape(concat(parts, 1), {windows_, kWindowFrames, kContourBins * channels});
  return maximum(sum + bias_O, 0.0);
}

Value Builder::contour_BTF(const Value& hidden_BTO) {
  const int64_t times = weights_.contour.times;
  const int64_t reach = times / 2;
  Values parts;
  for (const Band& band : contour_bands(weights_)) {
    const Value inside = slice_in_dim(hidden_BTO, 2, band.first, band.first + band.inputs);
    const Value rows = reshape(inside, {windows_ * kWindowFrames, band.rows});
    const Value matrix = weight("contour.band" + std::to_string(parts.size()),
                                {band.rows, band.columns}, band.values);
    const Value products = reshape(matmul(rows, matrix), {windows_, kWindowFrames, band.columns});
    const Values by_time = split(pad_in_dim(products, 0.0, 1, reach, reach), times, 2);
    Value sum;
    for (int64_t time = 0; time < times; ++time) {
      const Value moved =
          slice_in_dim(by_time[static_cast<size_t>(time)], 1, time, time + kWindowFrames);
      sum = sum ? sum + moved : moved;
    }
    parts.push_back(sum);
  }
  return logistic(concat(parts, 2) + weights_.contour.bias[0]);
}

// A convolution to many channels with TensorFlow's "same" padding, and ReLU. Its stride reduces
// frequency from three bins per semitone to one.
Value Builder::hidden_BTFC(const std::string& name, const Value& x_BTFC, const ConvWeights& conv) {
  const int64_t freq_pad = (conv.freqs - kBinsPerSemitone) / 2;
  const Dims padding = {conv.times / 2, freq_pad};
  const Value sum =
      conv2d(x_BTFC, kernel_TFCO(name, conv),
             {.strides = {1, kBinsPerSemitone}, .padding_low = padding, .padding_high = padding});
  return maximum(sum + weight(name + ".bias", {conv.outputs}, conv.bias), 0.0);
}

// A convolution to one channel with sigmoid: all taps of a pixel in one product, then a sum of
// shifted maps.
Value Builder::single_channel_BTF(const std::string& name, const Value& x_BTFC,
                                  const ConvWeights& conv) {
  const int64_t freqs = x_BTFC.size(2);
  const int64_t taps = conv.times * conv.freqs;
  const Value kernel_CK =
      reshape(weight(name + ".kernel", {conv.inputs, conv.times, conv.freqs}, conv.kernel),
              {conv.inputs, taps});
  const Value rows = reshape(x_BTFC, {windows_ * kWindowFrames * freqs, conv.inputs});
  const Value products = reshape(matmul(rows, kernel_CK), {windows_, kWindowFrames, freqs, taps});
  const int64_t time_pad = conv.times / 2;
  const int64_t freq_pad = conv.freqs / 2;
  const Value padded = pad(products, 0.0, {0, time_pad, freq_pad, 0}, {0, time_pad, freq_pad, 0});
  Value sum;
  for (int64_t time = 0; time < conv.times; ++time) {
    for (int64_t freq = 0; freq < conv.freqs; ++freq) {
      const int64_t tap = time * conv.freqs + freq;
      const Value moved = slice(padded, {0, time, freq, tap},
                                {windows_, time + kWindowFrames, freq + freqs, tap + 1});
      sum = sum ? sum + moved : moved;
    }
  }
  return logistic(squeeze(sum, {3}) + conv.bias[0]);
}

Network Builder::build() && {
  const Value sound_BN =
      graph::parameter("sound", {graph::DType::kF32, {windows_, kWindowSamples}});
  const Value spectrum_BTF = log_spectrum_BTF(spectrum_power_BTF(sound_BN));
  const Value contour = contour_BTF(contour_hidden_BTO(spectrum_BTF));

  const Value note_hidden =
      hidden_BTFC("note_hidden", expand_dims(contour, 3), weights_.note_hidden);
  const Value note = single_channel_BTF("note", note_hidden, weights_.note);

  const Value stack_BTFH = harmonic_stack_BTFH(spectrum_BTF);
  const Value onset_hidden = hidden_BTFC("onset_hidden", stack_BTFH, weights_.onset_hidden);
  const Value onset =
      single_channel_BTF("onset", concat({expand_dims(note, 3), onset_hidden}, 3), weights_.onset);

  Network network;
  network.function.name = "basic_pitch";
  network.function.parameters = {sound_BN};
  network.function.parameters.insert(network.function.parameters.end(), parameters_.begin(),
                                     parameters_.end());
  network.function.results = {note, onset, contour};
  network.weights = std::move(tensors_);
  return network;
}

}  // namespace

Network build_network(const Weights& weights, int64_t windows) {
  return Builder(weights, windows).build();
}

}  // namespace hum::models::basic_pitch
