#include "bench/stems/songs.h"

#include <cmath>
#include <map>
#include <utility>

#include "app/training/own_songs.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "bench/stems/separated.h"
#include "data/shards/array_files.h"
#include "data/stems/songs.h"
#include "eval/separation/masks.h"

namespace hum::bench::stems {
namespace {

using audio::AudioBuffer;

constexpr int64_t kSeed = 20261127;
constexpr double kWindow_s = 20, kSmokeWindow_s = 3;

data::StemOptions options_of(Fonts fonts, const Scale& scale) {
  data::StemOptions options;
  if (scale.smoke) {
    options.packages = {"openttd-openmsx", "planetblupi-music-midi"};
    options.sound_fonts = {"timgm6mb"};
    options.drum_fonts = {};
  } else {
    options = configured(fonts == Fonts::kSeen ? kTraining : kHeldOut).material;
  }
  options.seed = kSeed;
  options.split = data::Split::kHeldOut;
  options.seconds = scale.smoke ? kSmokeWindow_s : kWindow_s;
  return options;
}

}  // namespace

const char* name_of(Fonts fonts) { return fonts == Fonts::kSeen ? "seen fonts" : "held-out fonts"; }

RenderedSongs::RenderedSongs(Fonts fonts, const Scale& scale, uint64_t first)
    : options_(options_of(fonts, scale)),
      source_(std::make_unique<data::SongSource>(options_, app::compose_song)),
      renderer_(options_, *source_),
      index_(first) {}

RenderedSong RenderedSongs::next() {
  data::StemWindow window = renderer_.render(index_++);
  RenderedSong song{.song = window.description.at("sha256"),
                    .lead = std::move(window.notes[static_cast<size_t>(data::Stem::kLead)])};
  const auto samples = 2 * static_cast<size_t>(std::llround(options_.seconds * data::kStemRate));
  for (const data::Stem stem : data::kStems) {
    song.stems.push_back(sound_of(window, stem));
    song.stems.back().samples.resize(samples);
  }
  song.mixture = eval::sum_of(song.stems);
  return song;
}

AudioBuffer sound_of(const data::StemWindow& window, data::Stem stem) {
  const auto& stored = window.stems[static_cast<size_t>(stem)];
  AudioBuffer sound{data::kStemRate, 2, std::vector<float>(stored.size())};
  data::to_float(stored, sound.samples);
  return sound;
}

data::MakeStemsOptions configured(const char* path) {
  data::MakeStemsOptions options;
  from_json(read_yaml(data_folder() / path).at("stems"), options);
  return options;
}

std::string missing_material(const Scale& scale) {
  std::vector<std::string> packages = {"mma"};
  for (const Fonts fonts : {Fonts::kSeen, Fonts::kHeldOut}) {
    const auto options = options_of(fonts, scale);
    packages.insert(packages.end(), options.packages.begin(), options.packages.end());
  }
  for (const std::string& package : packages) {
    if (!data::fetched_package(package)) return package + " needs make fetch-stems";
  }
  return {};
}

eval::Interval mean_by_song(const std::vector<std::string>& songs,
                            const std::vector<double>& values) {
  HUM_CHECK(songs.size() == values.size(), "{} songs, {} values", songs.size(), values.size());
  std::map<std::string, std::pair<double, int>> sums;
  for (size_t i = 0; i < songs.size(); ++i) {
    if (std::isnan(values[i])) continue;
    auto& [sum, count] = sums[songs[i]];
    sum += values[i];
    ++count;
  }
  std::vector<double> means;
  for (const auto& [song, of_song] : sums) means.push_back(of_song.first / of_song.second);
  return mean_over_songs(means);
}

}  // namespace hum::bench::stems
