// stems-melody: people who sing in a band, separated, then heard. The bands are synthetic, of
// songs, grooves and a sound font that no training has, each as loud as its singer. What is heard
// is judged against the notes that people wrote down, or else those that the ear hears of the
// singer alone.
#include <algorithm>
#include <iostream>

#include "app/training/own_songs.h"
#include "audio/io.h"
#include "audio/mix.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/hear/recordings.h"
#include "bench/hear/scores.h"
#include "bench/stems/separated.h"
#include "bench/stems/songs.h"
#include "data/stems/render.h"
#include "eval/harness/annotation.h"
#include "eval/metrics/stem_figures.h"

namespace hum::bench {
namespace {

using audio::AudioBuffer;
using hear::Sound;

constexpr double kLeastSpleeter = 0.80, kLeastOwn = 0.50;
constexpr double kLongest_s = 20, kSmokeLongest_s = 3;
constexpr double kSilent_dbfs = -60;
constexpr const char* kPackages[] = {"openttd-openmsx", "planetblupi-music-midi", "mma"};
constexpr int kMostDraws = 20;
constexpr size_t kBands = 3;  // each singer sings with so many
constexpr const char *kMixture = "mixture", *kAlone = "alone";

using Known = std::vector<std::vector<eval::PitchedNote>>;  // by annotator

struct Singer {
  std::string name;
  AudioBuffer voice;  // stereo, data::kStemRate
  Known notes;        // empty: nobody wrote them down
};

double longest_s(const Scale& scale) { return scale.smoke ? kSmokeLongest_s : kLongest_s; }

// The notes that end in the part of a recording that is used.
Known annotations_of(const std::filesystem::path& sound, double seconds) {
  Known notes;
  for (const auto& recording : eval::annotated_recordings(sound.parent_path())) {
    if (recording.sound.filename() != sound.filename()) continue;
    for (const auto& path : recording.annotations) {
      notes.push_back(eval::read_annotation(path));
      std::erase_if(notes.back(), [&](const auto& note) { return note.end_s > seconds; });
    }
  }
  return notes;
}

bool has_annotations(const std::filesystem::path& folder) {
  return std::ranges::any_of(std::filesystem::directory_iterator(folder),
                             [](const auto& entry) { return eval::is_annotation(entry.path()); });
}

std::vector<Singer> read_singers(const Scale& scale) {
  auto paths = scale.singing.empty() ? hear::all_recordings() : hear::sounds_below(scale.singing);
  // Not by path, which depends on where the repository is.
  std::ranges::sort(paths, {}, [](const auto& path) { return path.filename(); });
  if (scale.smoke) paths.resize(1);
  std::vector<Singer> singers;
  for (const auto& path : paths) {
    AudioBuffer voice = audio::resample(audio::read_mono(path), data::kStemRate);
    const auto most = static_cast<size_t>(longest_s(scale) * data::kStemRate);
    voice.samples.resize(std::min(voice.samples.size(), most));
    const auto seconds = voice.seconds();
    singers.push_back(
        {path.filename().string(), audio::widened(voice, 2),
         has_annotations(path.parent_path()) ? annotations_of(path, seconds) : Known{}});
  }
  return singers;
}

// Songs without their sung lead.
class Bands {
 public:
  explicit Bands(double seconds)
      : options_(options(seconds)),
        source_(options_, app::compose_song),
        renderer_(options_, source_) {}

  // As loud as the voice, and as long.
  AudioBuffer beside(const AudioBuffer& voice) {
    for (int draw = 0; draw < kMostDraws; ++draw) {
      AudioBuffer band = next();
      band.samples.resize(voice.samples.size());
      const double level_dbfs = eval::level_dbfs(band.samples);
      if (level_dbfs < kSilent_dbfs) continue;
      audio::apply_gain(band, eval::level_dbfs(voice.samples) - level_dbfs);
      return band;
    }
    fail(ExitCode::kFailure, "stems-melody: all bands are silent");
  }

 private:
  static data::StemOptions options(double seconds) {
    data::StemOptions result;
    result.seed = 20261126;
    result.split = data::Split::kHeldOut;
    result.seconds = seconds;
    result.packages = {"openttd-openmsx", "planetblupi-music-midi"};
    result.sound_fonts = {"timgm6mb"};
    result.drum_fonts = {};
    result.sung_share = 1;
    return result;
  }
  AudioBuffer next() {
    const data::StemWindow window = renderer_.render(index_++);
    AudioBuffer band{data::kStemRate, 2, {}};
    for (const data::Stem stem : data::kStems) {
      if (stem == data::Stem::kVocals) continue;
      band = audio::mix(band, stems::sound_of(window, stem));
    }
    return band;
  }

  data::StemOptions options_;
  data::SongSource source_;
  data::StemRenderer renderer_;
  uint64_t index_ = 0;
};

// What is heard: a sound of each singer; with bands, of each with the first, then with the others.
struct Contender {
  std::string name;
  std::vector<Sound> sounds = {};
  std::vector<double> f1 = {};  // by singer, mean of the bands
};

// The singers alone, the mixtures, and the vocals of each of hum's models that is here.
std::vector<Contender> contenders(const std::vector<Singer>& singers, const StemWeights& weights,
                                  const Scale& scale) {
  std::vector<Contender> all = {{kAlone}, {kMixture}};
  std::vector<AudioBuffer> mixtures;
  Bands bands(longest_s(scale));
  for (const Singer& singer : singers) all[0].sounds.push_back(as_heard(singer.voice));
  for (size_t band = 0; band < kBands; ++band) {
    for (const Singer& singer : singers) {
      mixtures.push_back(audio::mix(singer.voice, bands.beside(singer.voice)));
      all[1].sounds.push_back(as_heard(mixtures.back()));
    }
  }
  for (const auto& [name, mode] : {std::pair("spleeter", kSpleeterAlone), {"own", kOwn}}) {
    if (weights.find(mode) == nullptr) continue;
    const app::StemModels models = weights.find(mode)->models();
    Contender& found = all.emplace_back(name);
    spdlog::info("stems-melody: {} separates {} songs", name, mixtures.size());
    for (const AudioBuffer& mixture : mixtures) {
      found.sounds.push_back(as_heard(separated(mixture, models).at("vocals")));
    }
  }
  return all;
}

// Fills in the scores. Singers of whom nothing is known are left out.
eval::TextTable judge(const std::vector<Singer>& singers, std::vector<Contender>& all,
                      const hear::Listener& ear) {
  std::vector<std::string> header = {"recording", "notes of"};
  std::vector<std::vector<hear::Notes>> heard;
  for (const Contender& contender : all) {
    header.push_back(contender.name);
    heard.push_back(ear.listen(contender.sounds));
  }
  eval::TextTable table(header);
  for (size_t i = 0; i < singers.size(); ++i) {
    const bool is_annotated = !singers[i].notes.empty();
    const Known known = is_annotated ? singers[i].notes : Known{hear::pitched(heard[0][i])};
    if (known[0].empty()) continue;
    std::vector<std::string> row = {singers[i].name, is_annotated ? "people" : "the ear"};
    for (size_t c = 0; c < all.size(); ++c) {
      hear::Tally tally;
      for (size_t at = i; at < heard[c].size(); at += singers.size()) {
        for (const auto& notes : known) tally.add(notes, heard[c][at]);
      }
      all[c].f1.push_back(tally.f1());
      row.push_back(fmt::format("{:.3f}", tally.f1()));
    }
    table.row(row);
  }
  return table;
}

const Contender* find(const std::vector<Contender>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Contender::name);
  return found == all.end() ? nullptr : &*found;
}

void check(const std::vector<Contender>& all, eval::Bar& bar) {
  const Contender &alone = all[0], &mixture = all[1];
  bar.peer[kMixture] = figures_of(mean_over_songs(mixture.f1));
  bar.peer[kAlone] = figures_of(mean_over_songs(alone.f1));
  for (const auto& [name, least] : {std::pair("spleeter", kLeastSpleeter), {"own", kLeastOwn}}) {
    const Contender* separated = find(all, name);
    if (separated == nullptr) continue;
    std::vector<double> above;
    for (size_t i = 0; i < mixture.f1.size(); ++i) {
      above.push_back(separated->f1[i] - mixture.f1[i]);
    }
    const auto f1 = mean_over_songs(separated->f1), gain = mean_over_songs(above);
    bar.ours[name] = {{"f1", figures_of(f1)}, {"above the mixture", figures_of(gain)}};
    bar.checks.at_least(name, f1.value, least);
    bar.checks.holds(fmt::format("{}: above the mixture", name), gain.low > 0);
    if (name == std::string_view("spleeter")) bar.value = f1.value;
  }
}

}  // namespace

eval::Bar stems_melody(const Scale& scale) {
  eval::Bar bar{.name = "stems-melody",
                .unit = "note F1 of a singer in a band, separated by Spleeter",
                .bar = fmt::format("note F1 (50 ms, 50 cents), mean of the recordings: with "
                                   "Spleeter's vocals >= {:.2f}, with our own >= {:.2f}, both "
                                   "above the mixture's, interval excluding 0",
                                   kLeastSpleeter, kLeastOwn)};
  if (scale.singing.empty()) bar.reason = hear::recordings_missing();
  for (const char* package : kPackages) {
    if (!data::fetched_package(package)) bar.reason = fmt::format("{} needs make fetch", package);
  }
  if (!bar.reason.empty()) return bar;
  const auto singers = read_singers(scale);
  const StemWeights weights(scale);
  auto all = contenders(singers, weights, scale);
  const hear::Ears ears(scale);
  const auto table = judge(singers, all, ears.ours());
  std::cerr << table.text();
  bar.ours["recordings"] = all[0].f1.size();
  weights.check(bar);
  check(all, bar);
  return bar;
}

}  // namespace hum::bench
