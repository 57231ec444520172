// Makes training items: the sound of an instrument, the requested melody, and a timbre reference.
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
#include "data/synthesis/reference_notes.h"
#include "data/synthesis/sound_fonts.h"

namespace hum::data {

// Finds the notes of a hum at 22,050 Hz, as generation does. It is called from several threads at
// once and must give the same notes for the same samples.
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
  ReferenceOptions reference;

  template <class V>
  void visit_fields(V& v) {
    v("seed", seed, "random seed; items are a function of (seed, index)");
    v("presets", presets, "preset names (empty: all but the held-out ones)");
    v("sound_fonts", sound_fonts, "fluidr3, timgm6mb, musescore, opl3 (empty: the first two)");
    v("transcribed_share", transcribed_share, "share of melodies that are hummed and transcribed");
    v("defect_share", defect_share, "share of targets with onset jitter and dropped notes");
    v("expressive_share", expressive_share, "share of melodies with bends, vibrato and glides");
    v("chord_share", chord_share, "share of melodies with chords, on polyphonic presets");
    v("channels", channels,
      "channels of the target: mono, or stereo with the tokens of left_right or mid_side");
    v("augment", augment, "shares of items that each kind of augmentation changes (0: off)");
    v("reference", reference, "shares of items by the notes of the timbre reference");
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
  ReferenceKind reference_kind = ReferenceKind::kMelody;
  std::vector<float> target;     // [kItemSamples], two channels interleaved left, right
  std::vector<float> reference;  // 1..5 s of other notes on the same preset
  std::vector<audio::Note>
      melody;  // the requested one; on the target's clock, the lead-in is before 0
  std::vector<audio::Note> played;           // the notes that the target was rendered from
  std::vector<float> features;               // melody_features(melody, kItemFrames)
  std::vector<audio::Note> reference_notes;  // on the reference's clock, cut like `played`
};

// Makes items one after another; use one maker per thread.
//
// Half of the targets begin with their melody; the others are cut from its middle (1 to 2 s in),
// like the windows of a long hum. Items cycle through presets, then sound fonts: preset = index mod
// count, font = (index div count) mod fonts; the reference uses the same ones. Transcribed melodies
// are sung in the singer's octave and moved back; a transcription that keeps less than half of the
// sounding time is not used (`transcribed` is false). Defects are onset jitter (25 ms) and drops of
// one note in ten, short ones first; pitches never change. Target and reference have the same level
// (normalise_level). The reference is always mono.
class ItemMaker {
 public:
  // Without a transcriber no melody is transcribed.
  // Throws: kUsage for unknown presets and fonts, kNoInput when a font is not installed, kConfig
  // for shares out of range.
  explicit ItemMaker(ItemOptions options, Transcriber transcriber = {});
  ~ItemMaker();
  ItemMaker(ItemMaker&&) noexcept;

  const std::vector<const Preset*>& presets() const;
  const std::vector<const SoundFont*>& sound_fonts() const;
  TrainingItem make(uint64_t index);
  // A description of an item: its source and its random draws.
  Json describe(const TrainingItem& item) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hum::data
