// Turns a hum into the melody that an instrument plays: one line, in tune, in the instrument's
// octave, with the singer's dynamics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "pipeline/hearing.h"
#include "pipeline/octave.h"

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
    v("polyphonic", polyphonic, "keep all notes that Basic Pitch hears, not one melody");
    v("tuning", tuning, "auto: play in tune with A = 440 Hz; off: keep the tuning of the singer");
    v("octave", octave, "octaves to move the melody by; auto: into the instrument's range");
    v("transpose", transpose, "semitones to move the melody by, in addition to --octave");
  }
};

struct HumMelody {
  std::vector<audio::Note> notes;
  std::string heard_by;     // HeardVoice::heard_by
  double tuning_cents = 0;  // the corrected offset
  int octave = 0;           // the octaves that were added
  std::string octave_reason;
  double confidence = 0;    // mean certainty of the notes, 0..1
  double voiced_share = 0;  // share of the sounding time, 0..1
  std::vector<std::string> warnings;
};

// Throws kUsage for an octave that is neither auto nor -8..8, and a transpose beyond -96..96.
void validate(const HumOptions& options);

// `hear` already does what options.tuning and options.polyphonic ask. `range`: the instrument's
// range, for --octave auto; absent: the melody does not move.
// Throws: kBadData, with this name, when there is no melody (noise, breathing). `hint`: what to do
// then; empty: how to record better.
HumMelody read_melody(std::span<const float> samples, const HearFunction& hear,
                      const HumOptions& options, std::optional<PitchRange> range,
                      const std::string& name = "the recording", const std::string& hint = "");

// A melody that was written or corrected by hand: moved as options.octave and options.transpose
// ask, otherwise as it is. Throws: kBadData without notes; what read_melody throws for the options.
HumMelody given_melody(std::vector<audio::Note> notes, const HumOptions& options,
                       std::optional<PitchRange> range);

// Its notes; empty if no melody was found.
std::vector<audio::Note> notes_heard(std::span<const float> samples, const HearFunction& hear,
                                     const HumOptions& options, std::optional<PitchRange> range);

}  // namespace hum::pipeline
