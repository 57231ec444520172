#include "audio/loudness.h"

#include <ebur128.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"

namespace hum::audio {
namespace {

constexpr double kBlockSeconds = 0.4;
constexpr double kSilence = -std::numeric_limits<double>::infinity();

struct DestroyMeter {
  void operator()(ebur128_state* state) const { ebur128_destroy(&state); }
};
using Meter = std::unique_ptr<ebur128_state, DestroyMeter>;

Meter make_meter(std::span<const float> samples, int rate_hz, int channels, int mode) {
  HUM_REQUIRE(channels > 0 && samples.size() % static_cast<size_t>(channels) == 0,
              "loudness: {} samples do not fill {} channels", samples.size(), channels);
  Meter meter(
      ebur128_init(static_cast<unsigned>(channels), static_cast<unsigned long>(rate_hz), mode));
  HUM_REQUIRE(meter != nullptr, "loudness: cannot measure {} channels at {} Hz", channels, rate_hz);
  HUM_CHECK(ebur128_add_frames_float(meter.get(), samples.data(),
                                     samples.size() / static_cast<size_t>(channels)) ==
            EBUR128_SUCCESS);
  return meter;
}

// Measures one block, the sound padded with zeros, and adds back the level that the zeros dilute.
double short_lufs(std::span<const float> samples, int rate_hz, int channels) {
  const auto block_frames = static_cast<size_t>(std::ceil(kBlockSeconds * rate_hz)) + 1;
  std::vector<float> padded(samples.begin(), samples.end());
  padded.resize(block_frames * static_cast<size_t>(channels));
  const Meter meter = make_meter(padded, rate_hz, channels, EBUR128_MODE_M);
  double lufs = kSilence;
  HUM_CHECK(ebur128_loudness_momentary(meter.get(), &lufs) == EBUR128_SUCCESS);
  const double seconds =
      static_cast<double>(samples.size()) / static_cast<double>(channels) / rate_hz;
  return lufs + 10 * std::log10(kBlockSeconds / seconds);
}

}  // namespace

double integrated_lufs(std::span<const float> samples, int rate_hz, int channels) {
  if (samples.empty()) return kSilence;
  if (static_cast<double>(samples.size()) < kBlockSeconds * rate_hz * channels) {
    return short_lufs(samples, rate_hz, channels);
  }
  const Meter meter = make_meter(samples, rate_hz, channels, EBUR128_MODE_I);
  double lufs = kSilence;
  HUM_CHECK(ebur128_loudness_global(meter.get(), &lufs) == EBUR128_SUCCESS);
  return lufs;
}

double true_peak_dbtp(std::span<const float> samples, int rate_hz, int channels) {
  if (samples.empty()) return kSilence;
  const Meter meter = make_meter(samples, rate_hz, channels, EBUR128_MODE_TRUE_PEAK);
  double peak = 0;
  for (int channel = 0; channel < channels; ++channel) {
    double channel_peak = 0;
    HUM_CHECK(ebur128_true_peak(meter.get(), static_cast<unsigned>(channel), &channel_peak) ==
              EBUR128_SUCCESS);
    peak = std::max(peak, channel_peak);
  }
  return 20 * std::log10(peak);
}

double normalise(std::span<float> samples, int rate_hz, int channels,
                 const LoudnessTarget& target) {
  const double lufs = integrated_lufs(samples, rate_hz, channels);
  const double peak_dbtp = true_peak_dbtp(samples, rate_hz, channels);
  if (!std::isfinite(lufs) || !std::isfinite(peak_dbtp)) return 0;
  const double gain_db = std::min(target.target_lufs - lufs, target.max_true_peak_dbtp - peak_dbtp);
  const auto gain = static_cast<float>(from_db(gain_db));
  for (float& sample : samples) sample *= gain;
  return gain_db;
}

double normalise(AudioBuffer& buffer, const LoudnessTarget& target) {
  return normalise(buffer.samples, buffer.rate_hz, buffer.channels, target);
}

}  // namespace hum::audio
