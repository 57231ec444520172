// What in a recording makes its melody hard to hear, and what to do about it. This is the only
// header of the folder that others include. It calls steady_noise, reverberation, other_tones and
// narrow_band, which read spectra.
//
// A false warning is worse than a missed one: the limits leave clean and slightly disturbed
// recordings of synthetic singers without any.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

struct SoundQuality {
  // The voice's level above steady noise, in dB.
  std::optional<double> signal_to_noise_db;
  // The time in which the steepest decays would fall by 60 dB, in s: about two thirds of the room's
  // reverberation time.
  std::optional<double> decay_s;
  // The share of the voice's time in which other tones sound: of other singers, of instruments.
  std::optional<double> other_tones;
};

// Measures at most one minute, from the first note on. A value that it cannot measure is absent.
// `notes`: those of the voice in these samples, in order, with their pitches as sung (hz).
// `is_one_voice`: other tones are a fault. Units: mono at 22,050 Hz.
SoundQuality sound_quality(std::span<const float> samples, std::span<const audio::Note> notes,
                           bool is_one_voice = true);

// A sentence for each fault: what is wrong, what it does to the melody, and a remedy.
std::vector<std::string> quality_warnings(const SoundQuality& quality);

// Whether nothing sounds above about 5 kHz, as after a telephone call, at whatever rate it is
// stored.
bool has_narrow_band(std::span<const float> samples);

}  // namespace hum::pipeline
