// Training items: what an instrument played, what it was asked to play, and how it sounds
// elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/channels.h"
#include "audio/notes.h"
#include "base/json_fwd.h"
#include "data/synthesis/augment.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {

// From a hum at 22,050 Hz to its notes, as generation reads them. It is called from several threads
// at once and must give the same notes for the same samples.
using Transcriber = std::function<std::vector<audio::Note>(std::span<const float> samples)>;

struct ItemOptions {
  int64_t seed = 1;
  std::vector<std::string> presets;      // empty: training_presets()
  std::vector<std::string> sound_fonts;  // empty: training_sound_fonts()
  double transcribed_share = 0.5;
  double defect_share = 0.15;
  double expressive_share = 0.5;
  double chord_share = 0.3;
  audio::Channels channels = audio::Channels::kMono;
  AugmentOptions augment;

  template <class V>
  void visit_fields(V& v) {
    v("seed", seed, "items are a function of (seed, index)");
    v("presets", presets, "preset names; empty: all but the held-out ones");
    v("sound_fonts", sound_fonts, "fluidr3, timgm6mb, musescore; empty: all but the last");
    v("transcribed_share", transcribed_share,
      "melodies that go through a hum and its transcription");
    v("defect_share", defect_share, "targets played with onset jitter and dropped notes");
    v("expressive_share", expressive_share, "melodies with bends, vibrato and glides");
    v("chord_share", chord_share, "melodies with chords, on polyphonic presets");
    v("channels", channels,
      "of the target: mono; or stereo, whose tokens are those of left_right or mid_side");
    v("augment", augment, "shares of the items that each kind of augmentation changes; 0: off");
  }
};

struct TrainingItem {
  uint64_t index = 0;
  int preset = 0;      // index into ItemMaker::presets()
  int sound_font = 0;  // index into ItemMaker::sound_fonts()
  Mode mode = Mode::kIonian;
  bool transcribed = false;  // the melody was read from a synthetic hum
  bool defective = false;    // `played` has onset jitter and drops
  Augmentation augmentation;
  std::vector<float> target;     // [kItemSamples], two channels interleaved left, right
  std::vector<float> reference;  // 1..5 s of another melody on the same preset
  std::vector<audio::Note>
      melody;  // what was asked for; on the target's clock, the lead-in lies before 0
  std::vector<audio::Note> played;  // what the target was rendered from
  std::vector<float> features;      // melody_features(melody, kItemFrames)
};

// Makes items one after another; one maker a thread.
//
// Half of the targets begin with their melody, half are cut from its middle (1 to 2 s in), as the
// windows of a long hum are. Presets take turns, then sound fonts: preset = index mod count, font =
// (index div count) mod fonts; the reference is played on both. Transcribed melodies are
// sung in the singer's octave and put back; a transcription that kept less than half of the
// sounding time is not used (`transcribed` is false). Defects are onset jitter (25 ms) and drops of
// one note in ten, short ones first; pitches are never touched. Target and reference have one level
// (normalise_level). The reference is mono whatever the target is.
class ItemMaker {
 public:
  // Without a transcriber no melody is transcribed.
  // Throws: kUsage for unknown presets and fonts, kNoInput when a font is not installed.
  explicit ItemMaker(ItemOptions options, Transcriber transcriber = {});
  ~ItemMaker();
  ItemMaker(ItemMaker&&) noexcept;

  const std::vector<const Preset*>& presets() const;
  const std::vector<const SoundFont*>& sound_fonts() const;
  TrainingItem make(uint64_t index);
  // An item in words: where it comes from and what was drawn.
  Json describe(const TrainingItem& item) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
