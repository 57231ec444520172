#include "eval/harness/hum_set.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "audio/dsp.h"
#include "audio/loudness.h"
#include "base/error.h"
#include "base/rng.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/timing.h"

namespace hum::eval {
namespace {

using audio::Note;

// A voice's range, as the instrument that melodies are made for.
constexpr data::Preset kVoice{.name = "voice",
                              .alias = "",
                              .family = "voice",
                              .program = 0,
                              .low = data::kHumLow,
                              .high = data::kHumHigh,
                              .polyphonic = false,
                              .held_out = true};

constexpr double kRepeatShare = 0.25;
// Longer gaps stay, because the singer breathes there.
constexpr double kBreath_s = 0.5;
// The width of the transitions at the band's ends.
constexpr double kEdge_hz = 100;

// Extends every note to the next one, and makes some repeat the previous pitch.
void make_legato(std::vector<Note>& notes, const HumSetOptions& options, uint64_t index) {
  Rng rng(static_cast<uint64_t>(options.seed), "repeated notes", index);
  for (size_t i = 1; i < notes.size(); ++i) {
    Note& before = notes[i - 1];
    if (notes[i].start_s - before.end_s <= kBreath_s) before.end_s = notes[i].start_s;
    if (rng.chance(kRepeatShare)) notes[i].pitch = before.pitch;
  }
}

// 0 outside low..high, 1 inside, half a cosine over the edges.
double band_gain(double hz) {
  auto rise = [](double place) {
    return 0.5 - 0.5 * std::cos(std::numbers::pi * std::clamp(place, 0.0, 1.0));
  };
  return rise((hz - kPhoneLow_hz) / kEdge_hz + 0.5) * rise((kPhoneHigh_hz - hz) / kEdge_hz + 0.5);
}

std::vector<float> band_limited(std::span<const float> samples) {
  std::vector<float> result(samples.begin(), samples.end());
  result.resize(samples.size() + samples.size() % 2);
  audio::RealFft fft(static_cast<int>(result.size()));
  std::vector<std::complex<float>> spectrum(static_cast<size_t>(fft.bins()));
  fft.forward(result, spectrum);
  const double bin_hz = static_cast<double>(data::kSampleRate) / fft.size();
  for (size_t i = 0; i < spectrum.size(); ++i) {
    spectrum[i] *= static_cast<float>(band_gain(static_cast<double>(i) * bin_hz));
  }
  fft.inverse(spectrum, result);
  result.resize(samples.size());
  return result;
}

}  // namespace

std::string_view hum_kind_name(HumKind kind) {
  switch (kind) {
    case HumKind::kClean:
      return "clean";
    case HumKind::kLegato:
      return "legato";
    case HumKind::kOffTune:
      return "40 cents off";
    case HumKind::kPhone:
      return "phone";
  }
  return {};
}

std::vector<float> through_phone(std::span<const float> samples, double snr_db, uint64_t seed,
                                 uint64_t index) {
  auto result = band_limited(samples);
  std::vector<float> noise(samples.size());
  const auto key = stream_key(seed, "phone noise", index);
  data::render_noise((static_cast<uint64_t>(key[1]) << 32) | key[0], index, noise);
  noise = band_limited(noise);
  const double level = data::active_rms(result) * audio::from_db(-snr_db) / data::active_rms(noise);
  for (size_t i = 0; i < result.size(); ++i) result[i] += static_cast<float>(level) * noise[i];
  return result;
}

KnownHum make_known_hum(HumKind kind, const HumSetOptions& options, uint64_t index) {
  const auto seed = static_cast<uint64_t>(options.seed);
  KnownHum hum;
  hum.notes =
      data::make_melody(seed, index, kVoice, {.seconds = options.seconds, .expressive_share = 0})
          .notes;
  data::HumManner manner{.exact_onsets = true, .legato = kind == HumKind::kLegato};
  if (manner.legato) make_legato(hum.notes, options, index);
  if (kind == HumKind::kOffTune) {
    manner.tuning_cents =
        Rng(seed, "sharp or flat", index).chance(0.5) ? kOffTune_cents : -kOffTune_cents;
  }
  hum.samples = data::render_hum(hum.notes, options.seconds, seed, index, manner);
  hum.notes = data::notes_of_hum(hum.notes, seed, index, manner);
  if (kind == HumKind::kPhone) hum.samples = through_phone(hum.samples, kPhoneSnr_db, seed, index);
  return hum;
}

}  // namespace hum::eval
