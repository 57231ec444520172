#include "data/synthesis/augment.h"

#include <algorithm>
#include <cmath>

#include "audio/loudness.h"
#include "base/json.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/level.h"

namespace hum::data {
namespace {

constexpr int kTransposition = 6;
constexpr double kTempo = 1.25;
constexpr double kMissedShare = 0.1;

}  // namespace

Augmentation draw_augmentation(const AugmentOptions& options, uint64_t seed, uint64_t index) {
  Augmentation drawn;
  if (Rng rng(seed, "transposition", index); rng.chance(options.transposition)) {
    const auto steps = static_cast<int>(rng.integer(1, kTransposition));
    drawn.transposition = rng.chance(0.5) ? steps : -steps;
  }
  if (Rng rng(seed, "octave", index); rng.chance(options.octave)) {
    drawn.octave = rng.chance(0.5) ? 12 : -12;
  }
  if (Rng rng(seed, "tempo", index); rng.chance(options.tempo)) {
    drawn.tempo = std::pow(kTempo, rng.uniform(-1, 1));
  }
  if (Rng rng(seed, "gain", index); rng.chance(options.gain)) {
    drawn.hum_gain_db = rng.uniform(-18, 6);
    drawn.reference_gain_db = rng.uniform(-3, 3);
  }
  if (Rng rng(seed, "noise", index); rng.chance(options.noise)) {
    drawn.hum_snr_db = rng.uniform(10, 40);
    drawn.reference_snr_db = rng.uniform(25, 50);
  }
  drawn.drops_notes = Rng(seed, "note drops", index).chance(options.note_drops);
  if (Rng rng(seed, "recording", index); rng.chance(options.recording)) {
    drawn.reference_recording = draw_reference_conditions(rng);
  }
  return drawn;
}

Json describe(const Augmentation& drawn) {
  Json json = Json::object();
  if (drawn.transposition != 0) json["transposition"] = drawn.transposition;
  if (drawn.octave != 0) json["octave"] = drawn.octave;
  if (drawn.tempo != 1) json["tempo"] = drawn.tempo;
  if (drawn.hum_gain_db) json["hum_gain_db"] = *drawn.hum_gain_db;
  if (drawn.reference_gain_db) json["reference_gain_db"] = *drawn.reference_gain_db;
  if (drawn.hum_snr_db) json["hum_snr_db"] = *drawn.hum_snr_db;
  if (drawn.reference_snr_db) json["reference_snr_db"] = *drawn.reference_snr_db;
  if (drawn.drops_notes) json["drops_notes"] = true;
  if (drawn.reference_recording) {
    const Conditions& c = *drawn.reference_recording;
    json["recording"] = {{"room_s", c.room_s},         {"direct_db", c.direct_db},
                         {"low_cut_hz", c.low_cut_hz}, {"high_cut_hz", c.high_cut_hz},
                         {"bass_db", c.bass_db},       {"treble_db", c.treble_db}};
  }
  return json;
}

int fitting_transposition(std::span<const audio::Note> notes, int semitones, int low, int high) {
  for (const audio::Note& note : notes) {
    const int down = std::min(low - note.pitch, 0), up = std::max(high - note.pitch, 0);
    semitones = std::clamp(semitones, down, up);
  }
  return semitones;
}

std::vector<audio::Note> at_tempo(std::span<const audio::Note> notes, double tempo) {
  std::vector<audio::Note> result(notes.begin(), notes.end());
  for (audio::Note& note : result) {
    note.start_s /= tempo;
    note.end_s /= tempo;
  }
  return result;
}

bool is_missed(const audio::Note& note, Rng& rng) {
  const double length_s = note.end_s - note.start_s;
  return rng.chance(kMissedShare * std::clamp(0.6 + (0.5 - length_s) * 3, 0.6, 1.8));
}

void disturb(std::span<float> samples, std::optional<double> gain_db, std::optional<double> snr_db,
             uint64_t seed, std::string_view name, uint64_t index) {
  if (snr_db) {
    std::vector<float> noise(samples.size());
    const auto key = stream_key(seed, name, index);
    render_noise((static_cast<uint64_t>(key[1]) << 32) | key[0], index, noise);
    const double level = active_rms(samples) * audio::from_db(-*snr_db);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] += static_cast<float>(level * noise[i]);
  }
  const auto gain = static_cast<float>(audio::from_db(gain_db.value_or(0)));
  if (gain_db || snr_db) {
    for (float& sample : samples) sample = std::clamp(gain * sample, -1.0F, 1.0F);
  }
}

void record_reference(std::vector<float>& samples, const Augmentation& drawn, uint64_t seed,
                      uint64_t index) {
  if (!drawn.reference_recording) return;
  Rng rng(seed, "recorded reference", index);
  apply(*drawn.reference_recording, {}, rng, samples);
  normalise_level(samples);
}

}  // namespace hum::data
