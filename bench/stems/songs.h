// Songs that no training has, rendered as stems.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "audio/buffer.h"
#include "audio/notes.h"
#include "bench/scale.h"
#include "data/stems/render.h"
#include "data/stems/stem_shards.h"
#include "eval/metrics/bootstrap.h"

namespace hum::bench::stems {

// Sound fonts and drums: those that training has (configs/stems.yaml), or others
// (configs/stems-held-out.yaml). Songs, grooves, instruments and presets are held out in both.
enum class Fonts { kSeen, kHeldOut };
const char* name_of(Fonts fonts);

struct RenderedSong {
  std::string song;  // its hash; several windows may be of one song
  audio::AudioBuffer mixture;
  std::vector<audio::AudioBuffer> stems;  // in the order of data::kStems
  std::vector<audio::Note> lead;          // of the score
};

// The same windows of 20 s each time, from the first; the smoke form has shorter ones, of what
// `make fetch` gets.
class RenderedSongs {
 public:
  RenderedSongs(Fonts fonts, const Scale& scale, uint64_t first = 0);
  RenderedSong next();

 private:
  data::StemOptions options_;
  std::unique_ptr<const data::SongSource> source_;
  data::StemRenderer renderer_;
  uint64_t index_;
};

// A stem of a window; without samples if it is silent.
audio::AudioBuffer sound_of(const data::StemWindow& window, data::Stem stem);

// The stems that a configuration describes, by its path in the repository.
data::MakeStemsOptions configured(const char* path);
inline constexpr const char *kTraining = "configs/stems.yaml",
                            *kHeldOut = "configs/stems-held-out.yaml";

// What RenderedSongs needs and is not fetched, in a sentence; empty: nothing.
std::string missing_material(const Scale& scale);

// The mean of the songs' values, with an interval over songs: the windows of one song count as one.
// `songs`: the song of each value; NaN values do not count.
eval::Interval mean_by_song(const std::vector<std::string>& songs,
                            const std::vector<double>& values);

}  // namespace hum::bench::stems
