// stems-sum: do the stems that `hum separate` writes add up to the song? At several rates, in mono
// and stereo, with Spleeter's vocals and with our own, in float files. And how much did it move
// into `other`, because no stem had it?
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>

#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "bench/bars.h"
#include "bench/program.h"
#include "bench/stems/separated.h"
#include "models/separator/config.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;
using audio::AudioBuffer;

constexpr double kMostDifference = 1e-6, kMostMoved_db = -60;
constexpr int kModelRateHz = models::separator::kSampleRateHz;
constexpr double kSeconds = 20, kSmokeSeconds = 2;
// The hop of both models, and a length that is no multiple of it.
constexpr int64_t kHopSamples = 1024, kOddSamples = 389;

struct Input {
  const char* name;
  int rate_hz = kModelRateHz;
  int channels = 2;
  int64_t fewer_samples = 0;  // than whole hops
};
constexpr Input kInputs[] = {{"44.1 kHz stereo"},
                             {"no multiple of the hop", kModelRateHz, 2, kOddSamples},
                             {"mono", kModelRateHz, 1},
                             {"48 kHz stereo", 48000},
                             {"8 kHz stereo", 8000}};

// Writes a song whose peak is full scale, as far as 16 bits hold it, and returns the path.
fs::path write_song(const Input& input, double seconds, const fs::path& folder) {
  AudioBuffer song = audio::resample(repeated(sung_song().mixture, seconds), input.rate_hz);
  if (input.channels == 1) song = audio::to_mono(song);
  const int64_t frames = song.frames() / kHopSamples * kHopSamples - input.fewer_samples;
  song.samples.resize(static_cast<size_t>(frames * song.channels));
  float peak = 0;
  for (const float sample : song.samples) peak = std::max(peak, std::abs(sample));
  for (float& sample : song.samples) sample /= peak;
  const fs::path path = folder / fmt::format("{}.flac", input.name);
  audio::write_audio(path, song);
  return path;
}

struct Sum {
  double difference = 0;  // the largest, of any sample
  Json moved_db;          // null: there is no `other`
};

// The files and what they are called must be those of the mode, too.
Sum separate(const fs::path& song, const StemMode& mode, const fs::path& folder) {
  std::vector<std::string> arguments = {"separate", song, "-o", folder, "--float32", "--json"};
  const auto of_mode = mode.arguments();
  arguments.insert(arguments.end(), of_mode.begin(), of_mode.end());
  const Json report = parse_json(run_hum(arguments).out);
  const size_t stems = mode.six ? static_cast<size_t>(models::separator::kStemCount) : 2;
  HUM_REQUIRE(report.at("stems").size() == stems && report.at("stems").contains("vocals") &&
                  report.at("stems").contains("other") == mode.six &&
                  (!mode.six || report.at("moved_to_other_db").is_number()),
              "{}: {}", mode.name, report.dump());
  const AudioBuffer input = audio::read_audio(song);
  std::vector<double> left(input.samples.begin(), input.samples.end());
  for (const auto& [name, stem] : report.at("stems").items()) {
    const AudioBuffer sound = audio::read_audio(stem.at("file").get<std::string>());
    HUM_REQUIRE(sound.rate_hz == input.rate_hz && sound.channels == input.channels &&
                    sound.samples.size() == left.size(),
                "{}, {}: {} samples of {}", mode.name, name, sound.samples.size(), left.size());
    for (size_t i = 0; i < left.size(); ++i) left[i] -= sound.samples[i];
  }
  Sum sum{.moved_db = report.at("moved_to_other_db")};
  for (const double sample : left) sum.difference = std::max(sum.difference, std::abs(sample));
  return sum;
}

// The smoke form takes one at the models' rate and one at another.
std::vector<Input> inputs(bool smoke) {
  if (smoke) return {kInputs[2], kInputs[4]};
  return {std::begin(kInputs), std::end(kInputs)};
}

double measure(const StemMode& mode, const std::vector<fs::path>& songs,
               const std::vector<Input>& inputs, const fs::path& folder, eval::Bar& bar,
               eval::TextTable& table) {
  double worst = 0, most_moved_db = -std::numeric_limits<double>::infinity();
  bool has_other = false;
  for (size_t i = 0; i < songs.size(); ++i) {
    const Sum sum = separate(songs[i], mode, folder / mode.name);
    const bool moved = !sum.moved_db.is_null();
    worst = std::max(worst, sum.difference);
    has_other = has_other || moved;
    if (moved && inputs[i].rate_hz == kModelRateHz) {
      most_moved_db = std::max(most_moved_db, sum.moved_db.get<double>());
    }
    bar.ours[mode.name][inputs[i].name] = {{"difference", sum.difference},
                                           {"moved_to_other_db", sum.moved_db}};
    table.row({mode.name, inputs[i].name, fmt::format("{:.1e}", sum.difference),
               moved ? fmt::format("{:.1f} dB", sum.moved_db.get<double>()) : "-"});
  }
  bar.checks.at_most(mode.name + ": difference", worst, kMostDifference);
  if (mode.six) {
    bar.checks.at_most(mode.name + ": moved_to_other_db", most_moved_db, kMostMoved_db);
  } else {
    bar.checks.holds(mode.name + ": there is no other", !has_other);
  }
  return worst;
}

}  // namespace

eval::Bar stems_sum(const Scale& scale) {
  eval::Bar bar{.name = "stems-sum",
                .unit = "largest difference of the stems' sum to the song, whose peak is 1",
                .bar = fmt::format("stems in float files add up to the decoded song within {}; "
                                   "moved into other at 44.1 kHz: at most {} dB of the song; two "
                                   "stems and no other with Spleeter alone",
                                   kMostDifference, kMostMoved_db)};
  const StemWeights weights(scale);
  weights.check(bar);
  const ScratchFolder folder;
  const std::vector<Input> all = inputs(scale.smoke);
  std::vector<fs::path> songs;
  for (const Input& input : all) {
    songs.push_back(write_song(input, scale.smoke ? kSmokeSeconds : kSeconds, folder.path()));
  }
  eval::TextTable table({"vocals", "input", "difference", "moved into other"});
  double worst = 0;
  for (const StemMode& mode : weights.modes()) {
    worst = std::max(worst, measure(mode, songs, all, folder.path(), bar, table));
  }
  std::cerr << table.text();
  if (!weights.modes().empty()) bar.value = worst;
  return bar;
}

}  // namespace hum::bench
