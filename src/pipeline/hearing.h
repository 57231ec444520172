// Hears a recording. All that reads melodies (generation, `hum notes --voice`, training items,
// evaluation) takes a HearFunction; app/play/hearing.h chooses it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/notes.h"

namespace hum::pipeline {

struct HeardVoice {
  std::vector<audio::Note> notes;
  // How far the singer is above A = 440 Hz; the written pitches and the bends are relative to it.
  // Absent: they are relative to A = 440 Hz.
  std::optional<double> tuning_cents;
  std::optional<double> voiced_share;  // of the sounding time, 0..1; absent: not measured
  std::string heard_by;                // "ear" or "basic-pitch"
  std::vector<std::string> warnings;   // of what makes the recording hard to hear
};

// Finds the notes of a recording, mono at 22,050 Hz. The same samples give the same notes.
using HearFunction = std::function<HeardVoice(std::span<const float> samples)>;

// A transcriber, which finds the notes of any sound, several at a time. Mono at 22,050 Hz.
using TranscribeFunction = std::function<std::vector<audio::Note>(std::span<const float> samples)>;

// All notes of Basic Pitch, which `transcribe` runs.
HearFunction as_transcribed(TranscribeFunction transcribe);

// Plays the recording faster or slower before `hear` gets it, if the singer is steadily more than
// kMinTuning_cents away from A = 440 Hz. Times are those of the recording. For functions that do
// not find the tuning.
HearFunction in_tune(HearFunction hear);

// Puts the tuning that `hear` finds back into the bends, as for --tuning off.
HearFunction with_own_tuning(HearFunction hear);

// Adds quality_warnings (sound_quality/sound_quality.h). `is_one_voice`: other voices and music are
// faults of the recording.
HearFunction with_quality_warnings(HearFunction hear, bool is_one_voice);

}  // namespace hum::pipeline
