#include "pipeline/hearing.h"

#include <cmath>

#include "audio/bends.h"
#include "pipeline/sound_quality/sound_quality.h"
#include "pipeline/tuning.h"

namespace hum::pipeline {
namespace {

constexpr double kMinAgreement = 0.3;

// Hears the recording `offset_cents` lower.
HeardVoice hear_lower(std::span<const float> samples, const HearFunction& hear,
                      double offset_cents) {
  const Retuned retuned = retune(samples, offset_cents);
  HeardVoice voice = hear(retuned.samples);
  for (audio::Note& note : voice.notes) {
    note.start_s /= retuned.stretch;
    note.end_s /= retuned.stretch;
    note.hz *= retuned.stretch;
  }
  return voice;
}

// The notes with their pitches as sung.
std::vector<audio::Note> as_sung(const HeardVoice& voice) {
  std::vector<audio::Note> notes = voice.notes;
  for (audio::Note& note : notes) {
    if (note.hz > 0) continue;
    note.hz = audio::midi_to_hz(note.pitch + voice.tuning_cents.value_or(0) / 100);
  }
  return notes;
}

}  // namespace

HearFunction as_transcribed(TranscribeFunction transcribe) {
  return [transcribe = std::move(transcribe)](std::span<const float> samples) {
    return HeardVoice{.notes = transcribe(samples), .heard_by = "basic-pitch"};
  };
}

HearFunction in_tune(HearFunction hear) {
  return [hear = std::move(hear)](std::span<const float> samples) {
    const TuningEstimate tuning = estimate_tuning(samples);
    const bool is_off =
        tuning.agreement > kMinAgreement && std::abs(tuning.offset_cents) > kMinTuning_cents;
    HeardVoice voice = is_off ? hear_lower(samples, hear, tuning.offset_cents) : hear(samples);
    voice.tuning_cents = is_off ? tuning.offset_cents : 0;
    voice.voiced_share = tuning.voiced_share;
    return voice;
  };
}

HearFunction with_own_tuning(HearFunction hear) {
  return [hear = std::move(hear)](std::span<const float> samples) {
    HeardVoice voice = hear(samples);
    const double thirds = audio::kBendsPerSemitone * voice.tuning_cents.value_or(0) / 100;
    for (audio::Note& note : voice.notes) {
      audio::shift_bends(note, static_cast<int>(std::lround(thirds)));
    }
    voice.tuning_cents.reset();
    return voice;
  };
}

HearFunction with_quality_warnings(HearFunction hear, bool is_one_voice) {
  return [hear = std::move(hear), is_one_voice](std::span<const float> samples) {
    HeardVoice voice = hear(samples);
    auto warnings = quality_warnings(sound_quality(samples, as_sung(voice), is_one_voice));
    voice.warnings.insert(voice.warnings.end(), warnings.begin(), warnings.end());
    return voice;
  };
}

}  // namespace hum::pipeline
