// What in a recording makes its melody harder to hear: noise and reverberation, measured in the
// pauses between the notes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

struct SoundQuality {
  // The voice's level above that of the pauses, in dB; absent without pauses, or if they are
  // digital silence.
  std::optional<double> signal_to_noise_db;
  // Reverberation time (-60 dB) in s, from how notes decay before a pause; absent with fewer than
  // three such notes.
  std::optional<double> reverberation_s;
};

// `samples`: mono at 22,050 Hz; `notes`: those that were heard in them, in order of time.
SoundQuality sound_quality(std::span<const float> samples, std::span<const audio::Note> notes);

// Sentences that say what to improve; none for a good recording.
std::vector<std::string> quality_warnings(const SoundQuality& quality);

}  // namespace hum::pipeline
