// Recordings of real instruments, which only judge. They lie beside the repository, not in it;
// bench/real_instruments.json lists their files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/scale.h"

namespace hum::bench {

struct InstrumentClip {
  std::string name;  // below the folder, with '/'
  std::filesystem::path path;
  std::string instrument;  // clips of one instrument are no rivals
  std::string preset;      // data::find_preset: one of its kind
  bool dies_away = false;  // it is plucked or struck
};

// ../shared/data/instruments as seen from the repository, or the one that `scale` names.
std::filesystem::path instruments_folder(const Scale& scale);
// Why it cannot be used; empty if it is there.
std::string instruments_missing(const Scale& scale);

// The listed clips that are in the folder, in order of the list: instruments.json in the folder, or
// bench/real_instruments.json. Throws: kBadData, naming the list, for a recording that it lacks.
std::vector<InstrumentClip> instrument_clips(const Scale& scale);

}  // namespace hum::bench
