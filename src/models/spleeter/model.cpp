#include "models/spleeter/model.h"

#include <cmath>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/stft/stft.h"

namespace hum::models::spleeter {

using graph::Values;

namespace {

constexpr int64_t kTaps = 5, kHeadTaps = 4;
constexpr double kLeak = 0.2;
// Added to the sum of the stems' powers.
constexpr double kFloor = 1e-10;

// A level halves or doubles frames and bins. TensorFlow pads 5 taps at stride 2 so.
graph::Conv2dOptions halving() {
  return {.strides = {2, 2}, .padding_low = {1, 1}, .padding_high = {2, 2}};
}

void require_valid(const SpleeterConfig& c) {
  const auto check = [](bool holds, const std::string& what) {
    if (!holds) {
      fail(ExitCode::kBadData, "spleeter: " + what, "make fetch-spleeter writes weights that fit");
    }
  };
  check(!c.stems.empty(), "there is no stem");
  check(c.levels >= 1 && c.levels <= 16 && c.width >= 1 && c.width <= 4096,
        fmt::format("{} levels, the first with {} channels", c.levels, c.width));
  const int64_t multiple = int64_t{1} << c.levels;
  check(c.frames > 0 && c.bins > 0 && c.frames % multiple == 0 && c.bins % multiple == 0,
        fmt::format("{} frames and {} bins are not multiples of {} for {} levels", c.frames, c.bins,
                    multiple, c.levels));
  check(c.window_samples % 2 == 0 && c.bins <= c.window_samples / 2 + 1,
        fmt::format("a window of {} samples does not have {} bins", c.window_samples, c.bins));
  check(c.hop_samples >= 1 && 2 * c.hop_samples <= c.window_samples,
        fmt::format("frames of {} samples do not overlap by half every {} samples",
                    c.window_samples, c.hop_samples));
}

}  // namespace

UNet::Stage::Stage(const nn::Scope& scope, int64_t taps, int64_t in, int64_t out, bool has_norm) {
  const double deviation = 1 / std::sqrt(static_cast<double>(taps * taps * in));
  kernel_HWIO = scope.declare("weight", {taps, taps, in, out}, nn::Init::normal(deviation));
  bias_O = scope.declare("bias", {out}, nn::Init::zeros());
  if (!has_norm) return;
  scale_O = scope.declare("scale", {out}, nn::Init::ones());
  offset_O = scope.declare("offset", {out}, nn::Init::zeros());
}

Value UNet::Stage::normed(const Value& x) const { return x * scale_O + offset_O; }

UNet::UNet(const nn::Scope& scope, const SpleeterConfig& config)
    : head_(scope.child("head"), kHeadTaps, 1, kChannels, /*has_norm=*/false) {
  int64_t in = kChannels;
  for (int64_t level = 0; level < config.levels; ++level) {
    const int64_t out = config.width << level;
    encoder_.emplace_back(scope.child("encoder", level), kTaps, in, out, level + 1 < config.levels);
    in = out;
  }
  for (int64_t level = 0; level < config.levels; ++level) {
    const int64_t above = config.levels - level - 2;
    const int64_t out = above < 0 ? 1 : config.width << above;
    decoder_.emplace_back(scope.child("decoder", level), kTaps, in, out, /*has_norm=*/true);
    in = 2 * out;  // beside the encoder's features of that level
  }
}

Value UNet::operator()(const Value& mixture_BTFC) const {
  Values levels;  // of the encoder, not yet used by the decoder
  Value x = mixture_BTFC;
  for (const Stage& stage : encoder_) {
    levels.push_back(kernels::conv2d(x, stage.kernel_HWIO, halving()) + stage.bias_O);
    if (!stage.scale_O) break;
    const Value normed = stage.normed(levels.back());
    x = graph::maximum(normed, kLeak * normed);
  }
  x = levels.back();
  for (const Stage& stage : decoder_) {
    levels.pop_back();
    const Value grown = kernels::conv_transpose2d(x, stage.kernel_HWIO, halving()) + stage.bias_O;
    x = stage.normed(graph::relu(grown));
    if (!levels.empty()) x = graph::concat({levels.back(), x}, 3);
  }
  const Value share = kernels::conv2d(
      x, head_.kernel_HWIO, {.dilation = {2, 2}, .padding_low = {3, 3}, .padding_high = {3, 3}});
  return graph::logistic(share + head_.bias_O) * mixture_BTFC;
}

Spleeter::Spleeter(const SpleeterConfig& config) : config_(config) {
  require_valid(config);
  const nn::Scope root(parameters_);
  for (const std::string& stem : config.stems) nets_.emplace_back(root.child(stem), config_);
}

Values Spleeter::masks(const Value& mixture_BTFC) const {
  Values powers;
  Value sum;
  for (const UNet& net : nets_) {
    const Value magnitude_BTFC = net(mixture_BTFC);
    powers.push_back(magnitude_BTFC * magnitude_BTFC);
    sum = sum ? sum + powers.back() : powers.back();
  }
  const double share = kFloor / static_cast<double>(nets_.size());
  Values masks;
  for (const Value& power : powers) masks.push_back((power + share) / (sum + kFloor));
  return masks;
}

Spleeter::Separation Spleeter::separate(const Value& sound_CN, const Value& live_T) const {
  const std::vector<float> window = graph::hann_window(config_.window_samples);
  const graph::Spectrum whole = kernels::stft(sound_CN, window, config_.hop_samples);
  const Value live = graph::expand_dims(live_T, 1);
  const auto lowest = [&](const Value& part_CTK) {
    return graph::slice_in_dim(part_CTK, 2, 0, config_.bins) * live;
  };
  const Value real_CTF = lowest(whole.real), imag_CTF = lowest(whole.imag);
  const Value magnitude_CTF = graph::sqrt(real_CTF * real_CTF + imag_CTF * imag_CTF);
  const Value mixture_BTFC = graph::expand_dims(graph::transpose(magnitude_CTF, {1, 2, 0}), 0);
  const int64_t above = whole.real.size(2) - config_.bins;
  Values sounds, stems;
  for (const Value& mask_BTFC : masks(mixture_BTFC)) {
    const Value mask_CTF = graph::transpose(graph::squeeze(mask_BTFC, {0}), {2, 0, 1});
    const auto filtered = [&](const Value& part_CTF) {
      return graph::pad_in_dim(part_CTF * mask_CTF, 0.0, 2, 0, above);
    };
    sounds.push_back(kernels::overlapped_irfft({filtered(real_CTF), filtered(imag_CTF)}, window,
                                               config_.hop_samples));
    stems.push_back(mask_CTF);
  }
  return {graph::stack(sounds, 0), graph::stack(stems, 0)};
}

}  // namespace hum::models::spleeter
