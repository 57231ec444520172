// For tests: songs that need no package.
#pragma once

#include "data/stems/song_source.h"
#include "data/stems/stem_options.h"

namespace hum::data::testing {

// Sixteen bars of 2 s: a flute, a piano's chords, a bass, drums, and a pad that is `other`.
inline audio::MidiSong small_band() {
  audio::MidiSong song;
  song.parts = {{.track = 1, .channel = 0, .program = 73, .name = "flute"},
                {.track = 2, .channel = 1, .program = 0, .name = "piano"},
                {.track = 3, .channel = 2, .program = 33, .name = "bass"},
                {.track = 4, .channel = audio::kDrumChannel, .program = 0, .name = "drums"},
                {.track = 5, .channel = 3, .program = 96, .name = "rain"}};
  constexpr int kTune[] = {72, 74, 76, 79, 77, 76, 74, 71};
  for (int beat = 0; beat < 64; ++beat) {
    const double at_s = 0.5 * beat;
    song.parts[0].notes.push_back({at_s, at_s + 0.4, kTune[beat % 8], 0.7, {}});
    for (const int pitch : {60, 64, 67}) {
      song.parts[1].notes.push_back({at_s, at_s + 0.4, pitch, 0.6, {}});
    }
    song.parts[2].notes.push_back({at_s, at_s + 0.4, 36, 0.8, {}});
    song.parts[3].notes.push_back({at_s, at_s + 0.1, beat % 2 == 0 ? 36 : 38, 0.8, {}});
    song.parts[4].notes.push_back({at_s, at_s + 0.5, 60, 0.5, {}});
  }
  return song;
}

// Windows of 3 s of such songs alone, on the smallest font.
inline StemOptions small_options() {
  StemOptions options;
  options.seconds = 3;
  options.packages = {};
  options.mma_share = 0;
  options.own_share = 1;
  options.sound_fonts = {"timgm6mb"};
  options.drum_fonts = {};
  return options;
}
inline ComposeSong small_bands() {
  return [](Split, uint64_t, uint64_t) { return small_band(); };
}

}  // namespace hum::data::testing
