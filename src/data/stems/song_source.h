// Draws whole songs for stems: MIDI files of fetched packages, accompaniments by MMA under a
// melody, and songs that hum composes. Not here: which part is which stem (roles.h), how it sounds
// (render.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/json_fwd.h"
#include "data/stems/roles.h"
#include "data/stems/songs.h"
#include "data/stems/stem_options.h"

namespace hum::data {

struct BandSong {
  Song song;            // its hash is that of its parts as MIDI, if there is no file
  std::string package;  // Debian's; "hum" for its own songs
  std::string licence;
  TrackNames names = TrackNames::kIgnored;
};

// Composes song (seed, index) of a split: a melody with an accompaniment.
using ComposeSong = std::function<audio::MidiSong(Split split, uint64_t seed, uint64_t index)>;

// Thread-safe.
class SongSource {
 public:
  // Reads all songs of the packages. Throws: kNoInput for a package that is not fetched, if its
  // share is not 0; kBadData if the split leaves no songs.
  SongSource(const StemOptions& options, ComposeSong compose);
  ~SongSource();

  // Song (seed, index); the same on every machine with these versions of the packages. Grooves that
  // MMA rejects are drawn again. Throws: what play_mma throws, but for these.
  BandSong draw(uint64_t index) const;

  // The version and hash of each package that songs come from, as make fetch-stems pinned them.
  Json packages() const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// Whether a song or groove is held out: the same for any seed, and for more songs than these.
// `name`: what identifies it, such as the hash of a song.
bool is_held_out(std::string_view name, double share);

}  // namespace hum::data
