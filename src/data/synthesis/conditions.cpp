#include "data/synthesis/conditions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "audio/biquad.h"
#include "audio/dsp.h"
#include "audio/lossy.h"
#include "audio/loudness.h"
#include "base/error.h"
#include "data/synthesis/knock.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"

namespace hum::data {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr double kSound_m_per_s = 343;
constexpr double kEarly_s = 0.06;
constexpr double kBass_hz = 250, kTreble_hz = 2500;

bool is_present(double db) { return db > Conditions::kAbsent; }

// Images of one axis of the room: positions and numbers of reflections.
struct Image {
  double offset_m;
  int reflections;
};
std::vector<Image> images(double length_m, double source_m, double microphone_m) {
  std::vector<Image> result;
  const int reach = static_cast<int>(kEarly_s * kSound_m_per_s / (2 * length_m)) + 1;
  for (int n = -reach; n <= reach; ++n) {
    result.push_back({2 * n * length_m + source_m - microphone_m, std::abs(2 * n)});
    result.push_back({2 * n * length_m - source_m - microphone_m, std::abs(2 * n - 1)});
  }
  return result;
}

// Scales all but the first sample to an energy.
void set_energy_after_direct(std::vector<float>& response, double energy) {
  double now = 0;
  for (size_t i = 1; i < response.size(); ++i) now += response[i] * response[i];
  if (now <= 0) return;
  const auto gain = static_cast<float>(std::sqrt(energy / now));
  for (size_t i = 1; i < response.size(); ++i) response[i] *= gain;
}

// The first samples.size() samples of the convolution, by one FFT.
void convolve(std::span<const float> response, std::vector<float>& samples) {
  const auto size = static_cast<int>(std::bit_ceil(samples.size() + response.size()));
  audio::RealFft fft(size);
  std::vector<float> padded(static_cast<size_t>(size));
  std::vector<std::complex<float>> a(static_cast<size_t>(fft.bins())), b(a.size());
  std::ranges::copy(samples, padded.begin());
  fft.forward(padded, a);
  std::ranges::fill(padded, 0.0F);
  std::ranges::copy(response, padded.begin());
  fft.forward(padded, b);
  for (size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  fft.inverse(a, padded);
  std::copy_n(padded.begin(), samples.size(), samples.begin());
}

// Adds a signal at an RMS.
void add_at(std::span<const float> signal, double rms, std::span<float> out) {
  double power = 0;
  for (size_t i = 0; i < out.size(); ++i) power += signal[i] * signal[i];
  if (power <= 0) return;
  const auto gain = static_cast<float>(rms / std::sqrt(power / static_cast<double>(out.size())));
  for (size_t i = 0; i < out.size(); ++i) out[i] += gain * signal[i];
}

std::vector<float> white(size_t size, Rng& rng) {
  std::vector<float> noise(size);
  for (float& sample : noise) sample = static_cast<float>(rng.uniform(-1, 1));
  return noise;
}

// 3 dB less per octave. Source: Paul Kellet's filter of three poles.
std::vector<float> pink(size_t size, Rng& rng) {
  auto noise = white(size, rng);
  double b0 = 0, b1 = 0, b2 = 0;
  for (float& sample : noise) {
    const double w = sample;
    b0 = 0.99765 * b0 + w * 0.0990460;
    b1 = 0.96300 * b1 + w * 0.2965164;
    b2 = 0.57000 * b2 + w * 1.0526913;
    sample = static_cast<float>(b0 + b1 + b2 + w * 0.1848);
  }
  return noise;
}

std::vector<float> mains(size_t size, double hz, Rng& rng) {
  std::vector<float> tone(size);
  for (int k = 1; k <= 12; ++k) {
    const double level = rng.uniform(0.2, 1) / k, phase = rng.uniform();
    for (size_t i = 0; i < size; ++i) {
      const double cycles = hz * k * static_cast<double>(i) / kSampleRate;
      tone[i] += static_cast<float>(level * std::sin(kTwoPi * (cycles + phase)));
    }
  }
  return tone;
}

// Low tones or clicks that die away at once, on average every `every_s`.
void add_knocks(double low_hz, double high_hz, double peak, double every_s, Rng& rng,
                std::span<float> out) {
  const double seconds = static_cast<double>(out.size()) / kSampleRate;
  for (double at_s = rng.uniform(0, every_s); at_s < seconds; at_s += rng.uniform(0, 2 * every_s)) {
    add_knock(at_s, rng.uniform(low_hz, high_hz), peak, out);
  }
}

void filter_all(const Conditions& c, std::span<float> samples) {
  const auto cut = [&](double hz, bool passes_low) {
    if (hz > 0) audio::filter(audio::cut_filter(hz, kSampleRate, passes_low), samples);
  };
  const auto shelf = [&](double hz, double gain_db, bool is_low) {
    if (gain_db == 0) return;
    audio::filter(audio::shelf_filter(hz, kSampleRate, gain_db, is_low), samples);
  };
  cut(c.low_cut_hz, false);
  cut(c.high_cut_hz, true);
  shelf(kBass_hz, c.bass_db, true);
  shelf(kTreble_hz, c.treble_db, false);
}

void clip(double db, std::span<float> samples) {
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::abs(sample));
  const float limit = peak * static_cast<float>(audio::from_db(-db));
  for (float& sample : samples) sample = std::clamp(sample, -limit, limit);
}

void add_noises(const Conditions& c, double voice_rms, std::span<const float> babble, Rng& rng,
                std::span<float> samples) {
  const size_t size = samples.size();
  if (is_present(c.white_db))
    add_at(white(size, rng), voice_rms * audio::from_db(c.white_db), samples);
  if (is_present(c.pink_db))
    add_at(pink(size, rng), voice_rms * audio::from_db(c.pink_db), samples);
  if (is_present(c.babble_db)) {
    HUM_REQUIRE(babble.size() >= size, "babble has {} of {} samples", babble.size(), size);
    add_at(babble, voice_rms * audio::from_db(c.babble_db), samples);
  }
  if (is_present(c.mains_db)) {
    add_at(mains(size, c.mains_hz, rng), voice_rms * audio::from_db(c.mains_db), samples);
  }
  if (is_present(c.thumps_db)) {
    add_knocks(30, 120, 3 * voice_rms * audio::from_db(c.thumps_db), 2.5, rng, samples);
  }
  if (is_present(c.clicks_db)) {
    add_knocks(800, 5000, 3 * voice_rms * audio::from_db(c.clicks_db), 1, rng, samples);
  }
}

}  // namespace

Conditions draw_conditions(Rng& rng) {
  Conditions c;
  c.gain_db = rng.uniform(-30, 6);
  if (rng.chance(1.0 / 3)) return c;
  const auto level = [&](double share, double low_db, double high_db) {
    return rng.chance(share) ? rng.uniform(low_db, high_db) : Conditions::kAbsent;
  };
  if (rng.chance(0.5)) {
    c.room_s = 0.1 * std::pow(15, rng.uniform());
    c.direct_db = rng.uniform(-2, 15);
  }
  c.white_db = level(0.35, -50, -6);
  c.pink_db = level(0.35, -50, -6);
  c.babble_db = level(0.15, -40, -12);
  c.mains_db = level(0.2, -50, -15);
  c.mains_hz = rng.chance(0.5) ? 50 : 60;
  c.thumps_db = level(0.15, -20, 10);
  c.clicks_db = level(0.1, -20, 6);
  if (rng.chance(0.4)) c.low_cut_hz = rng.uniform(40, 300);
  if (rng.chance(0.4)) c.high_cut_hz = 2500 * std::pow(4, rng.uniform());
  if (rng.chance(0.15)) c.clip_db = rng.uniform(1, 12);
  const double codec = rng.uniform();  // 3/16 of two thirds: one in eight
  if (codec < 3.0 / 16) c.opus_kbps = 8 * std::pow(4, rng.uniform());
  if (codec > 13.0 / 16) c.mp3_kbps = 8 * static_cast<double>(rng.integer(2, 6));
  return c;
}

Conditions draw_reference_conditions(Rng& rng) {
  Conditions c;
  if (rng.chance(0.6)) {
    c.room_s = 0.1 * std::pow(10, rng.uniform());
    c.direct_db = rng.uniform(0, 15);
  }
  if (rng.chance(0.3)) c.low_cut_hz = rng.uniform(40, 200);
  if (rng.chance(0.4)) c.high_cut_hz = 4000 * std::pow(2.5, rng.uniform());
  c.bass_db = rng.uniform(-6, 6);
  c.treble_db = rng.uniform(-6, 6);
  return c;
}

Conditions draw_judged_conditions(Rng& rng) {
  Conditions c = draw_reference_conditions(rng);
  c.room_s = std::min(c.room_s, 0.4);
  if (rng.chance(0.5)) c.white_db = rng.uniform(-60, -25);
  if (rng.chance(0.5)) c.pink_db = rng.uniform(-60, -25);
  return c;
}

std::vector<float> draw_room(double room_s, double direct_db, Rng& rng) {
  const std::array<double, 3> size_m = {rng.uniform(2, 8), rng.uniform(2, 6),
                                        rng.uniform(2.2, 3.5)};
  std::array<std::vector<Image>, 3> axes;
  double distance_m = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    const double source_m = rng.uniform(0.2, 0.8) * size_m[axis];
    const double microphone_m =
        std::clamp(source_m + rng.uniform(-1, 1), 0.1 * size_m[axis], 0.9 * size_m[axis]);
    axes[axis] = images(size_m[axis], source_m, microphone_m);
    distance_m += std::pow(source_m - microphone_m, 2);
  }
  distance_m = std::max(0.1, std::sqrt(distance_m));
  // The walls keep what makes the room fall by 60 dB in room_s (Sabine).
  const double mean_path_m =
      4 * size_m[0] * size_m[1] * size_m[2] /
      (2 * (size_m[0] * size_m[1] + size_m[1] * size_m[2] + size_m[0] * size_m[2]));
  const double kept = std::pow(10, -3 * mean_path_m / (kSound_m_per_s * room_s));
  std::vector<float> response(static_cast<size_t>(sample_of(std::max(room_s, kEarly_s))) + 1);
  for (const Image& x : axes[0]) {
    for (const Image& y : axes[1]) {
      for (const Image& z : axes[2]) {
        const int reflections = x.reflections + y.reflections + z.reflections;
        const double path_m = std::hypot(x.offset_m, y.offset_m, z.offset_m);
        const int64_t at = sample_of((path_m - distance_m) / kSound_m_per_s);
        if (reflections == 0 || at <= 0 || at >= sample_of(kEarly_s)) continue;
        response[static_cast<size_t>(at)] +=
            static_cast<float>(std::pow(kept, reflections) * distance_m / path_m);
      }
    }
  }
  double early = 0;
  for (const float sample : response) early += sample * sample;
  const int64_t from = sample_of(kEarly_s);
  const double tail = std::sqrt(std::max(early, 0.01) * 3 * 6.9 / room_s / kSampleRate);
  for (int64_t i = from; i < std::ssize(response); ++i) {
    const double fall = std::exp(-6.9 * static_cast<double>(i - from) / (room_s * kSampleRate));
    response[static_cast<size_t>(i)] = static_cast<float>(tail * fall * rng.uniform(-1, 1));
  }
  response[0] = 1;
  set_energy_after_direct(response, audio::from_db(-2 * direct_db));
  return response;
}

void apply(const Conditions& conditions, std::span<const float> babble, Rng& rng,
           std::vector<float>& samples) {
  const double rms = active_rms(samples);
  const double voice_rms = rms > 0 ? rms : kTargetRms;
  if (conditions.room_s > 0) {
    convolve(draw_room(conditions.room_s, conditions.direct_db, rng), samples);
  }
  add_noises(conditions, voice_rms, babble, rng, samples);
  filter_all(conditions, samples);
  if (conditions.clip_db > 0) clip(conditions.clip_db, samples);
  const auto gain = static_cast<float>(audio::from_db(conditions.gain_db));
  for (float& sample : samples) sample = std::clamp(gain * sample, -1.0F, 1.0F);
  if (conditions.opus_kbps > 0)
    samples = audio::through_codec(samples, kSampleRate, audio::Lossy::kOpus, conditions.opus_kbps);
  if (conditions.mp3_kbps > 0)
    samples = audio::through_codec(samples, kSampleRate, audio::Lossy::kMp3, conditions.mp3_kbps);
}

}  // namespace hum::data
