// From a hum to the melody that an instrument is asked to play: one line, in tune, in the
// instrument's octave, as loud as it was sung.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "pipeline/transcription.h"

namespace hum::pipeline {

enum class Tuning { kAuto, kOff };
inline EnumNames<Tuning> enum_names(Tuning) {
  static constexpr std::pair<Tuning, std::string_view> kNames[] = {{Tuning::kAuto, "auto"},
                                                                   {Tuning::kOff, "off"}};
  return kNames;
}

struct HumOptions {
  bool polyphonic = false;
  Tuning tuning = Tuning::kAuto;
  std::string octave = "auto";
  int64_t transpose = 0;

  template <class V>
  void visit_fields(V& v) {
    v("polyphonic", polyphonic, "keep all notes, not one melody line");
    v("tuning", tuning, "auto: a singer more than 15 cents off A = 440 Hz is put in tune");
    v("octave", octave, "octaves to move the melody by; auto: where the instrument plays");
    v("transpose", transpose, "semitones to move the melody by, beside the octave");
  }
};

// MIDI numbers, both included.
struct PitchRange {
  int low = 0, high = 127;
};

struct HumMelody {
  std::vector<audio::Note> notes;
  double tuning_cents = 0;  // that was taken out
  int octave = 0;           // that was added
  double confidence = 0;    // mean certainty of the notes, 0..1
  double voiced_share = 0;  // of the sounding time, by YIN, 0..1
  std::vector<std::string> warnings;
};

// Throws kUsage for an octave that is neither auto nor -8..8, and a transpose beyond -96..96.
void validate(const HumOptions& options);

// `range`: what the instrument plays, for --octave auto; absent: the melody stays where it is.
// Throws: kBadData when there is no melody (noise, breathing).
HumMelody read_melody(std::span<const float> samples, const TranscribeFunction& transcribe,
                      const HumOptions& options, std::optional<PitchRange> range);

// Its notes; none where no melody was found.
std::vector<audio::Note> notes_heard(std::span<const float> samples,
                                     const TranscribeFunction& transcribe,
                                     const HumOptions& options, std::optional<PitchRange> range);

}  // namespace hum::pipeline
