#include "data/stems/drawn_melody.h"

#include "base/error.h"
#include "data/synthesis/melody.h"

namespace hum::data {
namespace {

// make_melody draws a mode: three of seven are minor, three major, one neither.
constexpr uint64_t kTries = 256;
constexpr double kSlowest_bpm = 70;  // of make_melody
constexpr int kLowestLead = 40;      // lower instruments could be taken for a bass

bool fits(Mode mode, bool is_minor) {
  switch (mode) {
    case Mode::kIonian:
    case Mode::kLydian:
    case Mode::kMixolydian:
      return !is_minor;
    case Mode::kDorian:
    case Mode::kPhrygian:
    case Mode::kAeolian:
      return is_minor;
    case Mode::kLocrian:
      return false;
  }
  return false;
}

bool can_lead(const Preset& preset, Split split) {
  const bool is_voice = preset.program >= 52 && preset.program <= 54;
  const bool is_other = preset.program >= 96 && preset.program <= 103;
  return preset.held_out == (split == Split::kHeldOut) && preset.low >= kLowestLead &&
         preset.program < 112 && preset.family != "bass" && preset.family != "pad" && !is_voice &&
         !is_other;
}

}  // namespace

const Preset& draw_lead_preset(Split split, Rng& rng) {
  std::vector<const Preset*> found;
  for (const Preset& preset : presets()) {
    if (can_lead(preset, split)) found.push_back(&preset);
  }
  return *found[static_cast<size_t>(rng.integer(0, std::ssize(found) - 1))];
}

std::vector<audio::Note> melody_at(const MelodyPlace& place, const Preset& preset, uint64_t seed,
                                   uint64_t index) {
  const MelodyOptions options{.seconds = place.seconds * place.tempo_bpm / kSlowest_bpm,
                              .chord_share = 0};
  for (uint64_t tried = 0; tried < kTries; ++tried) {
    Melody melody = make_melody(seed, index * kTries + tried, preset, options);
    if (!fits(melody.mode, place.is_minor)) continue;
    const double slower = melody.tempo_bpm / place.tempo_bpm;
    const int up = (place.key - melody.tonic + 12) % 12;
    std::vector<audio::Note> notes;
    for (audio::Note& note : melody.notes) {
      note.start_s *= slower;
      note.end_s *= slower;
      audio::transpose(note, up > 6 ? up - 12 : up);
      if (note.end_s <= place.seconds) notes.push_back(std::move(note));
    }
    const int octaves = octave_shift(notes, preset.low, preset.high);
    for (audio::Note& note : notes) audio::transpose(note, octaves);
    return notes;
  }
  HUM_CHECK(false, "no melody in {} tries", kTries);
  return {};
}

}  // namespace hum::data
