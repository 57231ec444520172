// Accompaniments by MMA, "Musical MIDI Accompaniment": a program that plays chords in one of its
// styles, which it calls grooves, with tracks named after what they play (TrackNames::kMma).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "audio/midi.h"

namespace hum::data {

struct MmaGroove {
  std::string file;  // of MMA's library, without its extension: "stdlib/50srock"
  std::string name;  // "50sRockSus"
};

// All grooves of the package, by file and place in it, without introductions and endings.
std::vector<MmaGroove> mma_grooves(const std::filesystem::path& package);

struct MmaSong {
  MmaGroove groove;
  double tempo_bpm = 120;
  std::vector<std::string> bars;  // the chords of each, as MMA spells them: "Am", "Dm7 / G7"
  uint64_t seed = 0;              // of MMA's own variations
  int key = 0;                    // pitch class of the tonic, for a melody over it
  bool is_minor = false;
};

// Draws a groove, a tempo and 32 bars of a common progression in any key, with another one in the
// third group of eight. The same arguments give the same song on every machine.
MmaSong draw_mma_song(std::span<const MmaGroove> grooves, uint64_t seed, uint64_t index);

// Runs the package's program with Debian's Python. The same song gives the same MIDI.
// Throws: kUnavailable without Python; kBadData with MMA's message if it rejects the song, as it
// does on every machine; kTemporary if it takes longer than `limit`, a signal ends it or the
// machine lacks memory or a writable disk.
inline constexpr std::chrono::seconds kMmaLimit{300};  // far more than a song takes
audio::MidiSong play_mma(const std::filesystem::path& package, const MmaSong& song,
                         std::chrono::milliseconds limit = kMmaLimit);

}  // namespace hum::data
