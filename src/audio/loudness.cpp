#include "audio/loudness.h"

#include <ebur128.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.h"

namespace hum::audio {
namespace {

constexpr double kBlockSeconds = 0.4;
constexpr double kSilence = -std::numeric_limits<double>::infinity();

struct DestroyMeter {
  void operator()(ebur128_state* state) const { ebur128_destroy(&state); }
};

// A sound on its way through libebur128.
struct Measured {
  Measured(int rate_hz, int channels, int mode) : rate_hz(rate_hz), channels(channels) {
    HUM_REQUIRE(channels > 0, "loudness: {} channels", channels);
    meter.reset(
        ebur128_init(static_cast<unsigned>(channels), static_cast<unsigned long>(rate_hz), mode));
    HUM_REQUIRE(meter != nullptr, "loudness: cannot measure {} channels at {} Hz", channels,
                rate_hz);
  }
  void add(std::span<const float> samples) {
    HUM_REQUIRE(samples.size() % static_cast<size_t>(channels) == 0,
                "loudness: {} samples do not fill {} channels", samples.size(), channels);
    HUM_CHECK(ebur128_add_frames_float(meter.get(), samples.data(),
                                       samples.size() / static_cast<size_t>(channels)) ==
              EBUR128_SUCCESS);
  }

  int rate_hz, channels;
  std::unique_ptr<ebur128_state, DestroyMeter> meter;
};

// Measures one block, the sound padded with zeros, and adds back the level that the zeros dilute.
double short_lufs(std::span<const float> samples, int rate_hz, int channels) {
  if (samples.empty()) return kSilence;
  const auto block_frames = static_cast<size_t>(std::ceil(kBlockSeconds * rate_hz)) + 1;
  std::vector<float> padded(samples.begin(), samples.end());
  padded.resize(block_frames * static_cast<size_t>(channels));
  Measured measured(rate_hz, channels, EBUR128_MODE_M);
  measured.add(padded);
  double lufs = kSilence;
  HUM_CHECK(ebur128_loudness_momentary(measured.meter.get(), &lufs) == EBUR128_SUCCESS);
  const double seconds =
      static_cast<double>(samples.size()) / static_cast<double>(channels) / rate_hz;
  return lufs + 10 * std::log10(kBlockSeconds / seconds);
}

}  // namespace

struct LoudnessMeter::State : Measured {
  using Measured::Measured;

  bool is_short(size_t samples) const {
    return static_cast<double>(samples) < kBlockSeconds * rate_hz * channels;
  }

  std::vector<float> start;  // all of a sound that is shorter than a block
  bool was_short = true;
};

LoudnessMeter::LoudnessMeter(int rate_hz, int channels)
    : state_(std::make_unique<State>(rate_hz, channels, EBUR128_MODE_I)) {}

LoudnessMeter::~LoudnessMeter() = default;

void LoudnessMeter::add(std::span<const float> samples) {
  state_->add(samples);
  if (!state_->was_short) return;
  state_->was_short = state_->is_short(state_->start.size() + samples.size());
  if (state_->was_short) {
    state_->start.insert(state_->start.end(), samples.begin(), samples.end());
  } else {
    state_->start = {};
  }
}

double LoudnessMeter::integrated_lufs() const {
  if (state_->was_short) return short_lufs(state_->start, state_->rate_hz, state_->channels);
  double lufs = kSilence;
  HUM_CHECK(ebur128_loudness_global(state_->meter.get(), &lufs) == EBUR128_SUCCESS);
  return lufs;
}

struct TruePeakMeter::State : Measured {
  using Measured::Measured;
};

TruePeakMeter::TruePeakMeter(int rate_hz, int channels)
    : state_(std::make_unique<State>(rate_hz, channels, EBUR128_MODE_TRUE_PEAK)) {}

TruePeakMeter::~TruePeakMeter() = default;

void TruePeakMeter::add(std::span<const float> samples) { state_->add(samples); }

double TruePeakMeter::dbtp() const {
  double peak = 0;
  for (int channel = 0; channel < state_->channels; ++channel) {
    double channel_peak = 0;
    HUM_CHECK(ebur128_true_peak(state_->meter.get(), static_cast<unsigned>(channel),
                                &channel_peak) == EBUR128_SUCCESS);
    peak = std::max(peak, channel_peak);
  }
  return 20 * std::log10(peak);
}

double integrated_lufs(std::span<const float> samples, int rate_hz, int channels) {
  LoudnessMeter meter(rate_hz, channels);
  meter.add(samples);
  return meter.integrated_lufs();
}

double true_peak_dbtp(std::span<const float> samples, int rate_hz, int channels) {
  TruePeakMeter meter(rate_hz, channels);
  meter.add(samples);
  return meter.dbtp();
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
