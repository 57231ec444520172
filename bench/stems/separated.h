// What the bars of separated stems share: the weights that are here, a song, and its stems.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/separation/stem_models.h"
#include "audio/buffer.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "bench/scale.h"
#include "eval/harness/bar.h"
#include "eval/metrics/bootstrap.h"

namespace hum::bench {

// A way to separate a song into stems: who finds the vocals, and whether our own separator finds
// the others.
struct StemMode {
  std::string name;
  app::Vocals vocals = app::Vocals::kOwn;
  bool six = true;      // stems; else the vocals and the rest
  std::string weights;  // the folder of our own separator
  // Of `hum separate`.
  std::vector<std::string> arguments() const;
  app::StemModels models() const;
};
inline constexpr const char *kSpleeterAlone = "spleeter alone", *kSpleeter = "spleeter",
                            *kOwn = "own";

// The weights of our own separator, and Spleeter's. Our own are the released ones; in the smoke
// form untrained ones of a tiny model.
class StemWeights {
 public:
  explicit StemWeights(const Scale& scale);

  // kSpleeterAlone, kSpleeter and kOwn: those whose weights are here.
  const std::vector<StemMode>& modes() const { return modes_; }
  // Null if its weights are not here.
  const StemMode* find(std::string_view mode) const;
  // find(kOwn), and the check "own: its weights are here".
  const StemMode* own(eval::Bar& bar) const;
  // That check, and "spleeter: its weights are here".
  void check(eval::Bar& bar) const;

 private:
  ScratchFolder folder_;
  std::vector<StemMode> modes_;
};

struct StemSong {
  std::string name;
  audio::AudioBuffer mixture;
  std::optional<audio::AudioBuffer> voice = {};
};

// A person who sings with a synthetic band, which is as loud: stereo, 44,100 Hz.
StemSong sung_song();
// The same sound again and again, for so long.
audio::AudioBuffer repeated(const audio::AudioBuffer& sound, double seconds);

using Stems = std::map<std::string, audio::AudioBuffer, std::less<>>;
// By name, each as long as the mixture. They are as `hum separate` writes them.
Stems separated(const audio::AudioBuffer& mixture, const app::StemModels& models);

// As the ear hears it: mono at 22,050 Hz.
std::vector<float> as_heard(const audio::AudioBuffer& sound);

// The mean with its 95 % interval.
eval::Interval mean_over_songs(std::span<const double> values);
// {"value", "low", "high"}; NaN, which JSON writes as null, where there is no interval.
Json figures_of(const eval::Interval& interval);

}  // namespace hum::bench
