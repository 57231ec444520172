// The songs that `hum evaluate stems` judges: a folder of estimates beside one of references, both
// with SONG/STEM.wav, or directly with the STEM.wav of one song.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "eval/separation/judge.h"

namespace hum::app {

// The two files of a stem.
struct StemPair {
  std::string stem;
  std::filesystem::path reference, estimate;
};

struct StemSong {
  std::string name;
  std::vector<StemPair> stems;    // by name
  std::filesystem::path mixture;  // empty: the sum of the references
};

// Songs by name. Stems are .wav or .flac files; "mixture" is none. Throws, naming the file or song:
// kNoInput when a folder is missing or has no stems, or a song or stem has no estimate; kBadData
// when one has no reference, a stem two files, or a file another rate, length or channel count than
// the song's first reference.
std::vector<StemSong> find_stem_songs(const std::filesystem::path& estimates,
                                      const std::filesystem::path& references);

// Throws: what audio::read_audio throws; kBadData, naming the file, when its rate, channels or
// length are not those of the song's first reference.
eval::SeparatedSong read_stem_song(const StemSong& song);

}  // namespace hum::app
