// stems-real: real songs whose stems are known, which no training and no tuning has. Whole metal
// songs, each a guitar and the rest of the band; and a clip of four stems. Every figure stands
// beside two floors, the mixture and the mixture times its best gain, and a ceiling, the ideal
// ratio mask.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "audio/io.h"
#include "audio/mix.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/program.h"
#include "bench/stems/spleeter.h"
#include "data/stems/songs.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/stem_figures.h"
#include "eval/separation/masks.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
using audio::AudioBuffer;

constexpr const char* kPackage = "fretsonfire-songs-muldjord";
constexpr double kLeastGuitarGain_db = 3, kLeastRhythm_db = 1, kMostBelowTorch_db = 0.1;
constexpr double kSmoke_s = 3;
// The streams of a file of stems, after the mixture.
constexpr const char* kStreams[] = {"drums", "bass", "other", "vocals"};

// What is judged: some of our stems together.
struct Target {
  std::string name;
  std::vector<std::string> parts;
  AudioBuffer reference;
};
struct RealSong {
  std::string name;
  AudioBuffer mixture;
  std::vector<Target> targets;
};

AudioBuffer shortened(AudioBuffer sound, bool smoke) {
  const auto most = static_cast<size_t>(kSmoke_s * sound.rate_hz * sound.channels);
  if (smoke) sound.samples.resize(std::min(sound.samples.size(), most));
  return sound;
}

std::vector<RealSong> guitar_songs(const fs::path& package, bool smoke) {
  std::vector<RealSong> songs;
  for (const auto& entry :
       fs::directory_iterator(package / "usr/share/games/fretsonfire/data/songs/muldjord")) {
    if (!entry.is_directory()) continue;
    AudioBuffer guitar = shortened(audio::read_audio(entry.path() / "guitar.ogg"), smoke),
                rest = shortened(audio::read_audio(entry.path() / "song.ogg"), smoke);
    AudioBuffer mixture = audio::mix(guitar, rest);
    guitar.samples.resize(mixture.samples.size());
    rest.samples.resize(mixture.samples.size());
    songs.push_back({entry.path().filename().string(),
                     std::move(mixture),
                     {{"guitar", {"lead", "chordal"}, std::move(guitar)},
                      {"rest", {"drums", "bass", "vocals", "other"}, std::move(rest)}}});
  }
  std::ranges::sort(songs, {}, &RealSong::name);
  if (smoke) songs.resize(1);
  return songs;
}

// A stream of a file that libsndfile does not read.
AudioBuffer read_stream(const fs::path& file, size_t stream, const ScratchFolder& folder) {
  const std::string sound = folder / fmt::format("{}.wav", stream);
  run_program({"/usr/bin/env", "ffmpeg", "-v", "error", "-y", "-i", file, "-map",
               fmt::format("0:a:{}", stream), "-c:a", "pcm_f32le", sound});
  return audio::read_audio(sound);
}

RealSong clip_of_stems(const fs::path& file, bool smoke) {
  const ScratchFolder folder;
  std::map<std::string, AudioBuffer> stems;
  RealSong song{.name = "Falcon 69"};
  for (size_t i = 0; i < std::size(kStreams); ++i) {
    stems[kStreams[i]] = shortened(read_stream(file, i + 1, folder), smoke);
    const AudioBuffer& stem = stems[kStreams[i]];
    song.mixture = i == 0 ? stem : audio::mix(song.mixture, stem);
  }
  song.targets = {{"drums and bass", {"drums", "bass"}, audio::mix(stems["drums"], stems["bass"])},
                  {"vocals", {"vocals"}, stems["vocals"]}};
  return song;
}

// In dB. si_sdr_gain: above that of the mixture.
struct Score {
  double sdr = 0, si_sdr_gain = 0;
};
// By target, then by row: one per song.
using Scores = std::map<std::string, std::map<std::string, std::vector<Score>>>;
constexpr const char *kMixture = "mixture", *kBestGain = "best gain", *kIdealMask = "IRM",
                     *kTorch = "PyTorch";

Score score(const AudioBuffer& estimate, const Target& target, const AudioBuffer& mixture) {
  const auto &truth = target.reference.samples, &heard = estimate.samples;
  return {eval::sdr_db(truth, heard),
          eval::si_sdr_db(truth, heard) - eval::si_sdr_db(truth, mixture.samples)};
}

void add_bounds(const RealSong& song, Scores& scores) {
  for (const Target& target : song.targets) {
    auto& rows = scores[target.name];
    const auto add = [&](const char* row, const AudioBuffer& estimate) {
      rows[row].push_back(score(estimate, target, song.mixture));
    };
    AudioBuffer others = song.mixture;
    for (size_t i = 0; i < others.samples.size(); ++i) {
      others.samples[i] -= target.reference.samples[i];
    }
    add(kMixture, song.mixture);
    add(kBestGain, eval::best_scaled(song.mixture, target.reference));
    add(kIdealMask,
        eval::ideal_ratio_masks(song.mixture, std::vector{target.reference, others})[0]);
  }
}

// Targets whose parts the mode does not find are left out.
void add_mode(const StemMode& mode, const RealSong& song, const app::StemModels& models,
              Scores& scores) {
  const Stems stems = separated(song.mixture, models);
  for (const Target& target : song.targets) {
    if (!std::ranges::all_of(target.parts, [&](const auto& part) { return stems.contains(part); }))
      continue;
    AudioBuffer estimate = stems.at(target.parts[0]);
    for (size_t i = 1; i < target.parts.size(); ++i) {
      estimate = audio::mix(estimate, stems.at(target.parts[i]));
    }
    scores[target.name][mode.name].push_back(score(estimate, target, song.mixture));
  }
}

void add_torch(const RealSong& clip, Scores& scores, eval::Bar& bar) {
  const std::vector<StemSong> songs = {{.name = "clip", .mixture = clip.mixture}};
  const auto torch = spleeter_in_torch(songs);
  const auto vocals = torch.named("clip.vocals").as<float>();
  for (const Target& target : clip.targets) {
    if (target.name != "vocals") continue;
    const AudioBuffer estimate{
        clip.mixture.rate_hz, clip.mixture.channels, {vocals.begin(), vocals.end()}};
    scores[target.name][kTorch].push_back(score(estimate, target, clip.mixture));
  }
  bar.peer["version"] = torch.printed.at("version");
}

double mean_of(const std::vector<Score>& scores, double Score::*figure) {
  double sum = 0;
  for (const Score& one : scores) sum += one.*figure;
  return sum / static_cast<double>(scores.size());
}

// SDR less that of another row, song by song.
eval::Interval above(const std::vector<Score>& scores, const std::vector<Score>& others) {
  std::vector<double> differences;
  for (size_t i = 0; i < scores.size(); ++i) differences.push_back(scores[i].sdr - others[i].sdr);
  return mean_over_songs(differences);
}

void report(const Scores& scores, const std::vector<StemMode>& modes, eval::Bar& bar) {
  eval::TextTable table({"target", "songs", "", "SDR", "above best gain", "SI-SDRi"});
  for (const auto& [target, rows] : scores) {
    for (const auto& [row, songs] : rows) {
      const bool is_ours = std::ranges::find(modes, row, &StemMode::name) != modes.end();
      const auto gain = above(songs, rows.at(kBestGain));
      Json figures = {{"sdr_db", mean_of(songs, &Score::sdr)},
                      {"above_best_gain_db", figures_of(gain)},
                      {"si_sdri_db", mean_of(songs, &Score::si_sdr_gain)},
                      {"songs_sdr_db", Json::array()}};
      for (const Score& song : songs) figures["songs_sdr_db"].push_back(song.sdr);
      table.row({target, std::to_string(songs.size()), row,
                 fmt::format("{:.2f}", mean_of(songs, &Score::sdr)),
                 fmt::format("{:.2f}", gain.value),
                 fmt::format("{:.2f}", mean_of(songs, &Score::si_sdr_gain))});
      (is_ours ? bar.ours : bar.peer)[row][target] = std::move(figures);
    }
  }
  std::cerr << table.text();
}

void check(const Scores& scores, eval::Bar& bar) {
  const auto find = [&](const char* target, const char* row) -> const std::vector<Score>* {
    const auto rows = scores.find(target);
    if (rows == scores.end() || !rows->second.contains(row)) return nullptr;
    return &rows->second.at(row);
  };
  if (const auto* guitar = find("guitar", kOwn)) {
    const double above_db = above(*guitar, *find("guitar", kBestGain)).value;
    bar.value = mean_of(*guitar, &Score::sdr);
    bar.checks.holds("own: guitar is above the best gain", above_db > 0);
    bar.checks.at_least("own: si_sdri_db of guitar", mean_of(*guitar, &Score::si_sdr_gain),
                        kLeastGuitarGain_db);
  }
  if (const auto* rhythm = find("drums and bass", kOwn)) {
    bar.checks.at_least("own: drums and bass above the best gain, dB",
                        above(*rhythm, *find("drums and bass", kBestGain)).value, kLeastRhythm_db);
  }
  for (const char* mode : {kSpleeterAlone, kSpleeter}) {
    if (find("vocals", mode) == nullptr || find("vocals", kTorch) == nullptr) continue;
    bar.checks.at_least(fmt::format("{}: vocals above PyTorch's, dB", mode),
                        above(*find("vocals", mode), *find("vocals", kTorch)).value,
                        -kMostBelowTorch_db);
  }
}

// Those that are here. Adds what is missing.
std::vector<RealSong> read_songs(bool smoke, std::vector<std::string>& missing) {
  std::vector<RealSong> songs;
  if (const auto package = data::fetched_package(kPackage)) {
    songs = guitar_songs(*package, smoke);
  } else {
    missing.push_back(fmt::format("{} needs bench/peers/install.sh songs", kPackage));
  }
  const fs::path clip = spleeter_wheel().parent_path() /
                        "stempeg/stempeg/data/The Easton Ellises - Falcon 69.stem.mp4";
  if (fs::exists(clip)) {
    songs.push_back(clip_of_stems(clip, smoke));
  } else {
    missing.emplace_back("the clip of stempeg needs bench/peers/install.sh songs");
  }
  return songs;
}

}  // namespace

eval::Bar stems_real(const Scale& scale) {
  eval::Bar bar{.name = "stems-real",
                .unit = "dB, mean SDR of the guitar of whole metal songs, by our own separator",
                .bar = fmt::format(
                    "our own separator: guitar above the mixture times its best gain, SI-SDRi >= "
                    "{} dB; drums and bass of a clip >= {} dB above the mixture times its best "
                    "gain; its vocals by Spleeter >= PyTorch's - {} dB",
                    kLeastGuitarGain_db, kLeastRhythm_db, kMostBelowTorch_db)};
  const StemWeights weights(scale);
  weights.check(bar);
  std::vector<std::string> missing;
  const std::vector<RealSong> songs = read_songs(scale.smoke, missing);
  Scores scores;
  for (const RealSong& song : songs) add_bounds(song, scores);
  for (const StemMode& mode : weights.modes()) {
    const app::StemModels models = mode.models();
    for (const RealSong& song : songs) {
      spdlog::info("stems-real: {} separates {}", mode.name, song.name);
      add_mode(mode, song, models, scores);
    }
  }
  if (const auto needs = spleeter_in_torch_missing(); !needs.empty()) {
    missing.push_back(needs);
  } else if (scores.contains("vocals")) {
    add_torch(songs.back(), scores, bar);
  }
  bar.reason = fmt::format("{}", fmt::join(missing, "; "));
  report(scores, weights.modes(), bar);
  check(scores, bar);
  return bar;
}

}  // namespace hum::bench
