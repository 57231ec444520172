#include "data/synthesizer/preset.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "base/rng.h"

namespace hum::data {
namespace {

constexpr double kExponentials = 5;  // time constants in a decay or a release

double log_uniform(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.uniform());
}

template <size_t N>
int one_of(Rng& rng, const int (&values)[N]) {
  return values[rng.integer(0, N - 1)];
}

Envelope draw_lead_loudness(Rng& rng) {
  return {.attack_s = log_uniform(rng, 0.003, 0.06),
          .decay_s = log_uniform(rng, 0.1, 1.5),
          .sustain = rng.uniform(0.4, 1),
          .release_s = log_uniform(rng, 0.03, 0.4)};
}

// Plucked, held like keys, or a pad.
Envelope draw_chordal_loudness(Rng& rng) {
  const double kind = rng.uniform();
  if (kind < 0.4) {
    return {.attack_s = log_uniform(rng, 0.003, 0.01),
            .decay_s = log_uniform(rng, 0.3, 2),
            .sustain = rng.uniform(0, 0.25),
            .release_s = log_uniform(rng, 0.05, 0.5)};
  }
  if (kind < 0.75) {
    return {.attack_s = log_uniform(rng, 0.003, 0.03),
            .decay_s = log_uniform(rng, 0.2, 1.5),
            .sustain = rng.uniform(0.3, 0.9),
            .release_s = log_uniform(rng, 0.05, 0.4)};
  }
  return {.attack_s = log_uniform(rng, 0.05, 0.5),
          .decay_s = 1,
          .sustain = rng.uniform(0.7, 1),
          .release_s = log_uniform(rng, 0.2, 1)};
}

Oscillator draw_oscillator(Rng& rng) {
  static constexpr Wave kWaves[] = {Wave::kSaw,   Wave::kSaw,      Wave::kSaw, Wave::kPulse,
                                    Wave::kPulse, Wave::kTriangle, Wave::kSine};
  return {.wave = kWaves[rng.integer(0, std::size(kWaves) - 1)],
          .width = rng.chance(0.5) ? 0.5 : rng.uniform(0.1, 0.5)};
}

void draw_oscillators(Rng& rng, SynthPreset& preset) {
  auto& [first, second] = preset.oscillators;
  first = draw_oscillator(rng);
  second = draw_oscillator(rng);
  second.level = rng.chance(0.6) ? rng.uniform(0.3, 1) : 0;
  second.semitones = rng.chance(0.3) ? 12 : 0;
  second.cents = rng.uniform(0, 4);
  first.cents = -second.cents * second.level;  // so that their mean is in tune
}

std::array<FmPair, 2> draw_fm(Rng& rng) {
  std::array<FmPair, 2> pairs;
  for (FmPair& pair : pairs) {
    pair.index = log_uniform(rng, 0.4, 6);
    pair.decay_s = log_uniform(rng, 0.05, 1.5);
    pair.sustain = rng.uniform(0.1, 0.9);
  }
  pairs[0].modulator = one_of(rng, {1, 1, 2, 3, 4, 7});
  pairs[1].carrier = one_of(rng, {1, 1, 2, 3, 4});
  pairs[1].modulator = one_of(rng, {1, 2, 5, 7, 11, 14});
  pairs[1].level = rng.chance(0.6) ? rng.uniform(0.1, 0.8) : 0;
  return pairs;
}

SynthFilter draw_filter(Rng& rng, SynthRole role) {
  SynthFilter filter;
  filter.is_steep = rng.chance(0.5);
  filter.cutoff_hz =
      role == SynthRole::kLead ? log_uniform(rng, 800, 9000) : log_uniform(rng, 400, 6000);
  filter.resonance = log_uniform(rng, 0.6, 4);
  filter.key_tracking = rng.uniform();
  filter.envelope_octaves = rng.chance(0.6) ? rng.uniform(0.5, 3) : 0;
  filter.velocity_octaves = rng.uniform(0, 2);
  filter.envelope = {.attack_s = log_uniform(rng, 0.003, 0.1),
                     .decay_s = log_uniform(rng, 0.08, 1.5),
                     .sustain = rng.uniform(0, 0.8),
                     .release_s = 0.2};
  return filter;
}

Unison draw_unison(Rng& rng, bool is_fm) {
  if (!rng.chance(is_fm ? 0.3 : 0.5)) return {};
  return {.voices = is_fm ? 2 : one_of(rng, {2, 3, 5, 7}),
          .detune_cents = is_fm ? rng.uniform(2, 8) : rng.uniform(4, 20),
          .width = rng.uniform(0.3, 1)};
}

Lfo draw_lfo(Rng& rng, SynthRole role) {
  if (role == SynthRole::kLead) {
    return {.hz = rng.uniform(4, 7),
            .delay_s = rng.uniform(0, 0.4),
            .pitch_cents = rng.chance(0.6) ? rng.uniform(5, 35) : 0,
            .level_db = rng.chance(0.2) ? rng.uniform(0.5, 2) : 0};
  }
  return {.hz = log_uniform(rng, 0.2, 6),
          .delay_s = 0,
          .cutoff_octaves = rng.chance(0.3) ? rng.uniform(0.1, 0.8) : 0,
          .level_db = rng.chance(0.2) ? rng.uniform(0.5, 4) : 0};
}

}  // namespace

double Envelope::at(double since_s, double held_s) const {
  const auto held = [&](double time_s) {
    if (time_s < attack_s) return time_s / attack_s;
    return sustain + (1 - sustain) * std::exp(-kExponentials * (time_s - attack_s) / decay_s);
  };
  if (since_s <= 0) return 0;
  if (since_s < held_s) return held(since_s);
  const double left = 1 - (since_s - held_s) / release_s;
  if (left <= 0) return 0;
  const double end = std::exp(-kExponentials);
  return held(held_s) * (std::exp(kExponentials * (left - 1)) - end) / (1 - end);
}

SynthPreset draw_synth_preset(SynthRole role, uint64_t seed, uint64_t index) {
  const bool is_lead = role == SynthRole::kLead;
  Rng rng(seed, is_lead ? "synthesizer lead" : "synthesizer chordal", index);
  SynthPreset preset;
  const bool is_fm = rng.chance(0.35);
  if (is_fm) {
    preset.fm = draw_fm(rng);
  } else {
    draw_oscillators(rng, preset);
  }
  if (!is_fm || rng.chance(0.3)) preset.filter = draw_filter(rng, role);
  preset.unison = draw_unison(rng, is_fm);
  preset.loudness = is_lead ? draw_lead_loudness(rng) : draw_chordal_loudness(rng);
  preset.lfo = draw_lfo(rng, role);
  if (is_lead && rng.chance(0.3)) preset.glide_s = rng.uniform(0.02, 0.12);
  if (rng.chance(is_lead ? 0.4 : 0.25)) preset.drive_db = rng.uniform(3, is_lead ? 24 : 18);
  return preset;
}

}  // namespace hum::data
