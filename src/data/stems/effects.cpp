#include "data/stems/effects.h"

#include <cmath>
#include <vector>

#include "audio/biquad.h"
#include "audio/loudness.h"
#include "data/synthesis/level.h"
#include "data/synthesizer/drive.h"

namespace hum::data {
namespace {

constexpr double kBass_hz = 150, kTreble_hz = 5000;
// Of a room of average size: lengths without common factors.
constexpr std::array<double, Room::kLines> kDelays = {1031, 1327, 1523, 1801,
                                                      2011, 2339, 2659, 3001};

double rms(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return samples.empty() ? 0 : std::sqrt(sum / static_cast<double>(samples.size()));
}

// One delay line with a low-pass in its loop.
struct Line {
  std::vector<double> delayed;
  size_t at = 0;
  double gain = 0, low = 0;
};

std::array<Line, Room::kLines> lines_of(const Room& room) {
  std::array<Line, Room::kLines> lines;
  for (size_t k = 0; k < lines.size(); ++k) {
    const auto delay = static_cast<double>(room.delay_samples[k]);
    lines[k].delayed.resize(static_cast<size_t>(room.delay_samples[k]));
    lines[k].gain = std::pow(10, -3 * delay / (room.decay_s * kStemRate));
  }
  return lines;
}

// The room's answer alone. Source: Jot & Chaigne 1991, with the feedback matrix I - 2/N, of
// Householder.
std::vector<float> answer(const Room& room, std::span<const float> stereo) {
  auto lines = lines_of(room);
  std::vector<float> wet(stereo.size());
  for (size_t i = 0; i + 1 < stereo.size(); i += 2) {
    std::array<double, Room::kLines> heard;
    double sum = 0;
    for (size_t k = 0; k < lines.size(); ++k) {
      Line& line = lines[k];
      line.low += (1 - room.damping) * (line.delayed[line.at] - line.low);
      heard[k] = line.gain * line.low;
      sum += heard[k];
    }
    double left = 0, right = 0;
    for (size_t k = 0; k < lines.size(); ++k) {
      const bool is_left = k % 2 == 0;
      (is_left ? left : right) += k % 4 < 2 ? heard[k] : -heard[k];
      Line& line = lines[k];
      line.delayed[line.at] =
          heard[k] - 2.0 / Room::kLines * sum + static_cast<double>(stereo[i + (is_left ? 0 : 1)]);
      line.at = line.at + 1 == line.delayed.size() ? 0 : line.at + 1;
    }
    wet[i] = static_cast<float>(left);
    wet[i + 1] = static_cast<float>(right);
  }
  return wet;
}

// Changes the sound and gives it its level back.
template <typename Change>
void at_its_level(audio::AudioBuffer& sound, const Change& change) {
  const double before = active_rms(sound.samples, 2);
  change();
  const double after = active_rms(sound.samples, 2);
  const auto gain = static_cast<float>(after > 0 ? before / after : 1);
  for (float& sample : sound.samples) sample *= gain;
}

void delay_right(double delay_ms, std::span<float> stereo) {
  const auto samples = static_cast<size_t>(std::llround(delay_ms / 1000 * kStemRate));
  for (size_t i = stereo.size() / 2; i-- > 0;) {
    stereo[2 * i + 1] = i >= samples ? stereo[2 * (i - samples) + 1] : 0;
  }
}

bool is_driven(Stem stem) { return stem != Stem::kDrums && stem != Stem::kVocals; }

}  // namespace

Room draw_room_of_song(Rng& rng) {
  Room room;
  const double size = rng.uniform(0.5, 1.3);
  for (size_t k = 0; k < room.delay_samples.size(); ++k) {
    room.delay_samples[k] = std::llround(size * kDelays[k] * rng.uniform(0.95, 1.05));
  }
  room.decay_s = 0.3 * std::pow(8, rng.uniform());
  room.damping = rng.uniform(0.1, 0.7);
  return room;
}

void add_room(const Room& room, double wet_db, std::span<float> stereo) {
  const auto wet = answer(room, stereo);
  const double dry_rms = rms(stereo), wet_rms = rms(wet);
  if (wet_rms <= 0) return;
  const auto gain = static_cast<float>(audio::from_db(wet_db) * dry_rms / wet_rms);
  for (size_t i = 0; i < stereo.size(); ++i) stereo[i] += gain * wet[i];
}

StemEffects draw_effects(Stem stem, Rng& rng) {
  StemEffects effects;
  if (rng.chance(0.25) && is_driven(stem)) effects.drive_db = rng.uniform(-6, 12);
  effects.bass_db = rng.uniform(-6, 4);
  effects.treble_db = rng.uniform(-6, 6);
  effects.peak_hz = 200 * std::pow(20, rng.uniform());
  effects.peak_db = rng.uniform(-5, 5);
  effects.wet_db = stem == Stem::kBass ? rng.uniform(-45, -25) : rng.uniform(-30, -8);
  return effects;
}

void apply(const StemEffects& effects, const Room& room, audio::AudioBuffer& sound) {
  if (effects.drive_db != 0) at_its_level(sound, [&] { drive_channels(sound, effects.drive_db); });
  for (const audio::Biquad& biquad :
       {audio::shelf_filter(kBass_hz, kStemRate, effects.bass_db, true),
        audio::shelf_filter(kTreble_hz, kStemRate, effects.treble_db, false),
        audio::peak_filter(effects.peak_hz, kStemRate, effects.peak_db, 1)}) {
    audio::filter(biquad, sound.samples, 2);
  }
  add_room(room, effects.wet_db, sound.samples);
}

Amplifier draw_amplifier(Stem stem, Rng& rng) {
  const bool is_bass = stem == Stem::kBass;
  Amplifier amplifier;
  amplifier.drive_db = is_bass ? rng.uniform(0, 18) : rng.uniform(6, 30);
  amplifier.loudspeaker_hz = is_bass ? rng.uniform(2000, 5000) : rng.uniform(3000, 7000);
  const bool is_doubled = rng.chance(0.5);
  const double doubled_ms = rng.uniform(8, 30);
  if (is_doubled && !is_bass) amplifier.doubled_ms = doubled_ms;
  return amplifier;
}

void apply(const Amplifier& amplifier, audio::AudioBuffer& sound) {
  const auto cut = audio::cut_filter(amplifier.loudspeaker_hz, kStemRate, true);
  at_its_level(sound, [&] {
    drive_channels(sound, amplifier.drive_db);
    for (int octave_db = 0; octave_db < 24; octave_db += 12) audio::filter(cut, sound.samples, 2);
    delay_right(amplifier.doubled_ms, sound.samples);
  });
}

}  // namespace hum::data
