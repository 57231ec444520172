// What a studio does to a stem before it is mixed. Drive, equalizer and room are rendered into the
// shards; guitar amplifiers, gains and panning are drawn anew in training (batches.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "audio/buffer.h"
#include "base/rng.h"
#include "data/stems/roles.h"

namespace hum::data {

// A room that all stems of a song share: eight delay lines that feed each other.
struct Room {
  static constexpr size_t kLines = 8;
  std::array<int64_t, kLines> delay_samples = {};
  double decay_s = 1;    // time in which it falls by 60 dB
  double damping = 0.3;  // 0 to 1: how much sooner high frequencies fall
};
Room draw_room_of_song(Rng& rng);
// Adds the room's sound at `wet_db` against the sound, by RMS. Interleaved stereo.
void add_room(const Room& room, double wet_db, std::span<float> stereo);

struct StemEffects {
  double drive_db = 0;  // 0: none
  double bass_db = 0, treble_db = 0;
  double peak_hz = 1000, peak_db = 0;
  double wet_db = -20;
};
// Bass has the least room; only pitched stems are driven.
StemEffects draw_effects(Stem stem, Rng& rng);
// In stereo at kStemRate. Keeps the level (active_rms) within some dB.
void apply(const StemEffects& effects, const Room& room, audio::AudioBuffer& sound);

// The amplifier of an electric guitar or bass: drive, then a loudspeaker that plays no treble. It
// clips a chord as a whole, which adds combination tones; a font's distorted guitar has none.
struct Amplifier {
  double drive_db = 20;
  double loudspeaker_hz = 5000;  // -6 dB there, falling by 24 dB per octave
  double doubled_ms = 0;  // the right channel's delay, as if played twice; 0: both play at once
};
// For lead and chordal stems much gain, half of them doubled; for bass less gain, never doubled.
Amplifier draw_amplifier(Stem stem, Rng& rng);
// In stereo at kStemRate. Keeps the level (active_rms).
void apply(const Amplifier& amplifier, audio::AudioBuffer& sound);

}  // namespace hum::data
