#include "nn/onset_loss.h"

#include <cmath>

#include "base/error.h"
#include "graph/ops.h"
#include "kernels/mel_spectrum/mel_spectrum.h"

namespace hum::nn {

using graph::Value;

namespace {

// One frame a hop, centred on it. Shapes: x_BN -> [B, N / hop, bands].
Value mel(const Value& x_BN, const MelScale& scale) {
  const int64_t extra = scale.window_samples - scale.hop_samples;
  const Value padded = graph::pad_in_dim(x_BN, 0, 1, extra / 2, extra - extra / 2);
  return kernels::mel_spectrum(padded,
                               {.window = graph::hann_window(scale.window_samples),
                                .hop = scale.hop_samples,
                                .bands = scale.bands,
                                .weights = scale.weights},
                               /*with_magnitude=*/false)
      .bands_BTM;
}

// Largest value of each frame and its neighbours. Shapes: x_BT -> BT.
Value with_neighbours(const Value& x_BT) {
  const int64_t frames = x_BT.size(1);
  const Value padded = graph::pad_in_dim(x_BT, 0, 1, 1, 1);
  return graph::maximum(x_BT, graph::maximum(graph::slice_in_dim(padded, 1, 0, frames),
                                             graph::slice_in_dim(padded, 1, 2, frames + 2)));
}

// Each frame `times` times. Shapes: x_BT -> [B, times T, 1].
Value repeated(const Value& x_BT, int64_t times) {
  const int64_t batch = x_BT.size(0), frames = x_BT.size(1);
  const Value copies =
      graph::broadcast_to(graph::reshape(x_BT, {batch, frames, 1}), {batch, frames, times});
  return graph::reshape(copies, {batch, frames * times, 1});
}

}  // namespace

Value onset_distance(const Value& prediction_BN, const Value& target_BN, const Value& onset_BT,
                     const MelScale& scale, double floor_db) {
  const int64_t hops = target_BN.size(1) / scale.hop_samples, frames = onset_BT.size(1);
  HUM_REQUIRE(prediction_BN.shape() == target_BN.shape() && hops % frames == 0 &&
                  target_BN.size(1) % scale.hop_samples == 0,
              "onset_distance: {} and {} with {} frames", prediction_BN.shape(), target_BN.shape(),
              frames);
  const int64_t lag = (scale.window_samples + scale.hop_samples - 1) / scale.hop_samples;
  const Value target = mel(graph::stop_gradient(target_BN), scale);
  const Value peak = graph::reduce_max(target, {1, 2}, /*keepdims=*/true);
  const Value floor = graph::maximum(peak * std::pow(10.0, -floor_db / 20), 1e-5);
  const auto rise = [&](const Value& bands) {
    const Value level = graph::log(graph::maximum(bands, floor)) * (1 / std::log(10.0));
    return graph::slice_in_dim(level, 1, lag, hops) - graph::slice_in_dim(level, 1, 0, hops - lag);
  };
  const Value near = repeated(with_neighbours(onset_BT), hops / frames);
  const Value mask = graph::slice_in_dim(near, 1, lag / 2, hops - lag + lag / 2);
  const Value difference = graph::abs(rise(mel(prediction_BN, scale)) - rise(target)) * mask;
  return graph::sum_all(difference) /
         graph::maximum(graph::sum_all(mask) * static_cast<double>(scale.bands), 1);
}

}  // namespace hum::nn
