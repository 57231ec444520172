// What the stems of training material for separation are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"

namespace hum::data {

enum class Split { kTraining, kHeldOut };
inline EnumNames<Split> enum_names(Split) {
  static constexpr std::pair<Split, std::string_view> kNames[] = {{Split::kTraining, "training"},
                                                                  {Split::kHeldOut, "held_out"}};
  return kNames;
}

struct StemOptions {
  int64_t seed = 1;
  // Songs, grooves, lead instruments and random presets of one split are never in the other.
  Split split = Split::kTraining;
  double held_out_share = 0.15;  // of songs and grooves
  double seconds = 12;
  std::vector<std::string> packages = {"openttd-openmsx", "planetblupi-music-midi", "freedoom"};
  double mma_share = 0.35, own_share = 0.15;
  std::vector<std::string> sound_fonts = {"fluidr3", "musescore", "opl3"};
  std::vector<std::string> drum_fonts = {"black-pearl"};
  double sung_share = 0.5, synth_share = 0.35;

  template <class V>
  void visit_fields(V& v) {
    v("seed", seed, "random seed; windows are a function of (seed, index)");
    v("split", split, "songs, grooves and presets to draw from: training, or held_out");
    v("held_out_share", held_out_share, "share of songs and grooves that are held out");
    v("seconds", seconds, "length of a window");
    v("packages", packages, "packages with songs (make fetch-stems)");
    v("mma_share", mma_share, "share of windows from accompaniments that MMA plays");
    v("own_share", own_share, "share of windows from hum's own melodies and accompaniments");
    v("sound_fonts", sound_fonts, "General MIDI sound fonts: fluidr3, timgm6mb, musescore, opl3");
    v("drum_fonts", drum_fonts, "drums besides the sound fonts': black-pearl, red-zeppelin");
    v("sung_share", sung_share, "share of songs whose lead is sung");
    v("synth_share", synth_share, "share of leads and chords that hum's synthesizer plays");
  }
};

// Throws kConfig naming the value that is out of range; kUsage for unknown fonts and packages.
void validate(const StemOptions& options);

}  // namespace hum::data
