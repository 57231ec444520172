// What lies between a voice or an instrument and its recording: a room, noises, a microphone,
// clipping, a gain, a lossy codec.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"

namespace hum::data {

// All levels are in dB against the voice (active_rms); kAbsent: none.
struct Conditions {
  static constexpr double kAbsent = -200;

  double room_s = 0;     // time in which the room falls by 60 dB; 0: no room
  double direct_db = 3;  // direct sound against all that the room adds
  double white_db = kAbsent, pink_db = kAbsent, babble_db = kAbsent;
  double mains_db = kAbsent, mains_hz = 50;  // with harmonics
  double thumps_db = kAbsent;                // knocks and steps, one every few seconds
  double clicks_db = kAbsent;
  double low_cut_hz = 0, high_cut_hz = 0;  // of the microphone; 0: none
  double bass_db = 0, treble_db = 0;       // below 250 Hz, above 2,500 Hz
  double clip_db = 0;                      // how far the loudest sample is clipped
  double gain_db = 0;
  double opus_kbps = 0, mp3_kbps = 0;  // bit rates of a codec; 0: none

  template <class V>
  void visit_fields(V& v) {
    v("room_s", room_s, "reverberation time in s (0: no room)");
    v("direct_db", direct_db, "direct sound against what the room adds");
    v("white_db", white_db, "white noise against the voice (-200: none)");
    v("pink_db", pink_db, "pink noise");
    v("babble_db", babble_db, "other voices");
    v("mains_db", mains_db, "mains hum");
    v("mains_hz", mains_hz, "50 or 60");
    v("thumps_db", thumps_db, "knocks and steps");
    v("clicks_db", clicks_db, "clicks");
    v("low_cut_hz", low_cut_hz, "of the microphone (0: none)");
    v("high_cut_hz", high_cut_hz, "of the microphone (0: none)");
    v("bass_db", bass_db, "gain below 250 Hz");
    v("treble_db", treble_db, "gain above 2,500 Hz");
    v("clip_db", clip_db, "how far the loudest sample is clipped");
    v("gain_db", gain_db, "of everything");
    v("opus_kbps", opus_kbps, "bit rate of Opus (0: none)");
    v("mp3_kbps", mp3_kbps, "bit rate of MP3 (0: none)");
  }
};

// Conditions of a training item: a third of all are clean; one in eight is coded as Opus, one in
// eight as MP3. Codecs add 1.7 ms per second of sound on average to the 2.1 ms of the other
// conditions.
Conditions draw_conditions(Rng& rng);

// Conditions of a recorded timbre reference: a room, a microphone and an equalizer, without noise
// and gain.
Conditions draw_reference_conditions(Rng& rng);

// Conditions in which a judge of timbre must recognise a sound: a small room, a microphone, an
// equalizer and quiet noise.
Conditions draw_judged_conditions(Rng& rng);

// An impulse response by the image-source method (Allen & Berkley 1979) up to 60 ms, then decaying
// noise. The room, the positions and the walls are drawn. The direct sound is sample 0 with gain 1.
std::vector<float> draw_room(double room_s, double direct_db, Rng& rng);

// Applies the conditions in place. `babble`: sound of other voices, at least as long as the
// samples; needed only with babble_db. Silence becomes noise at the level that a voice would have
// given.
void apply(const Conditions& conditions, std::span<const float> babble, Rng& rng,
           std::vector<float>& samples);

}  // namespace hum::data
