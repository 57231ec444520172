#include "app/evaluation/codec_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/stop.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/log.h"
#include "data/shards/array_files.h"
#include "data/shards/item_folder.h"
#include "eval/metrics/codebook_use.h"
#include "eval/metrics/mel_distance.h"
#include "eval/metrics/octave_bands.h"
#include "models/codec/code_vectors.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

using models::codec::CodecConfig;
using models::codec::CodecSession;
using models::codec::kWindowFrames;
using models::codec::kWindowSamples;

constexpr int64_t kEdgeFrames = 25;

// A change of the sound that nobody hears.
struct Change {
  const char* key;
  const char* name;
  int64_t shift_samples;  // forwards in time
  float gain;
};
constexpr Change kChanges[] = {{"polarity", "polarity", 0, -1},
                               {"shift_1_ms", "1 ms", 22, 1},
                               {"shift_2_5_ms", "2.5 ms", 55, 1},
                               {"shift_5_ms", "5 ms", 110, 1}};

// Dims of the latents.
struct Part {
  const char* name;
  int64_t first, last;
};

std::vector<Part> parts_of(const CodecConfig& config) {
  if (!config.is_split()) return {{"all", 0, config.latent}};
  return {{"sound", 0, config.sound_latent()}, {"phase", config.sound_latent(), config.latent}};
}

// The mono sound of a target; of stereo the mid.
std::vector<float> target_of(const data::ItemFolder& items, int64_t item) {
  const bool is_mono = items.channels() == audio::Channels::kMono;
  std::vector<float> samples(items[item].target.size());
  data::to_float(items[item].target, samples);
  return std::move(audio::coded_channels(
      samples, is_mono ? audio::Channels::kMono : audio::Channels::kMidSide)[0]);
}

// The sound, then each change of it. Shapes: [kWindowSamples] -> [1 + changes, kWindowSamples].
std::vector<float> with_changes(const std::vector<float>& sound) {
  HUM_REQUIRE(std::ssize(sound) == kWindowSamples, "evaluate codec: a target of {} samples",
              sound.size());
  std::vector<float> windows = sound;
  for (const Change& change : kChanges) {
    for (int64_t i = 0; i < kWindowSamples; ++i) {
      const int64_t from = i - change.shift_samples;
      windows.push_back(from < 0 ? 0 : change.gain * sound[static_cast<size_t>(from)]);
    }
  }
  return windows;
}

// Collects latents of sounds and of their changes.
class Movement {
 public:
  explicit Movement(int64_t latent)
      : latent_(latent), moved_(std::size(kChanges), std::vector<double>(size_of(latent))) {}

  // Shapes: [1 + changes, kWindowFrames, D], as with_changes orders them.
  void add(std::span<const float> latents) {
    const size_t window = size_of(kWindowFrames * latent_);
    const size_t first = size_of(kEdgeFrames * latent_), count = window - 2 * first;
    const auto kept = [&](size_t i) { return latents.subspan(i * window + first, count); };
    const auto still = kept(0);
    still_.insert(still_.end(), still.begin(), still.end());
    for (size_t change = 0; change < moved_.size(); ++change) {
      const auto changed = kept(change + 1);
      for (size_t i = 0; i < count; ++i) {
        moved_[change][i % size_of(latent_)] += std::fabs(changed[i] - still[i]);
      }
    }
  }

  Json figures(const Part& part, const char* of) const {
    Json row = {{"part", part.name}, {"of", of}};
    const double deviation = sum_of(deviations(), part);
    for (size_t change = 0; change < moved_.size(); ++change) {
      row[kChanges[change].key] = sum_of(moved_[change], part) / deviation;
    }
    return row;
  }

 private:
  static size_t size_of(int64_t n) { return static_cast<size_t>(n); }
  static double sum_of(const std::vector<double>& by_dim, const Part& part) {
    double sum = 0;
    for (int64_t dim = part.first; dim < part.last; ++dim) sum += by_dim[size_of(dim)];
    return sum;
  }
  // The sum of each dim's absolute deviations from its mean.
  std::vector<double> deviations() const {
    const size_t width = size_of(latent_);
    const auto rows = static_cast<double>(still_.size() / width);
    std::vector<double> mean(width), result(width);
    for (size_t i = 0; i < still_.size(); ++i) mean[i % width] += still_[i] / rows;
    for (size_t i = 0; i < still_.size(); ++i) {
      result[i % width] += std::fabs(still_[i] - mean[i % width]);
    }
    return result;
  }

  int64_t latent_;
  std::vector<float> still_;                // [frames, D]
  std::vector<std::vector<double>> moved_;  // [changes][D]: sums of absolute differences
};

// Judges a codec item by item.
class Judge {
 public:
  explicit Judge(const CodecSession& codec)
      : codec_(codec), latents_(codec.config().latent), tokens_(codec.config().latent) {}

  void add(const std::vector<float>& sound) {
    const auto windows = with_changes(sound);
    latents_.add(codec_.window_latents(windows));
    const auto codes = codec_.encode_windows(windows);
    const int64_t books = codec_.config().quantizer.books;
    tokens_.add(models::codec::sum_code_vectors(codec_.codebooks(), codes, books));
    const auto own = std::span(codes).first(static_cast<size_t>(kWindowFrames * books));
    codes_.insert(codes_.end(), own.begin(), own.end());
    const auto copy = copy_by(own, books);
    mel_all_ += eval::mel_distance(sound, copy, models::codec::kSampleRateHz);
    if (codec_.config().is_split()) {
      const auto of_sound = copy_by(own, codec_.config().sound_books());
      mel_sound_ += eval::mel_distance(sound, of_sound, models::codec::kSampleRateHz);
    }
    add_octaves(octaves_, sound);
    add_octaves(copied_octaves_, copy);
    ++items_;
  }

  Json report() const {
    const auto items = static_cast<double>(items_);
    Json mel = {{"all", mel_all_ / items}};
    if (codec_.config().is_split()) mel["sound"] = mel_sound_ / items;
    Json movement = Json::array();
    for (const Part& part : parts_of(codec_.config())) {
      movement.push_back(latents_.figures(part, "latents"));
      movement.push_back(tokens_.figures(part, "tokens"));
    }
    return {{"items", items_},
            {"mel_distance", mel},
            {"octaves", octaves()},
            {"movement", movement},
            {"codebooks", codebooks()}};
  }

 private:
  // By the plain decoder, from the first `books` books.
  std::vector<float> copy_by(std::span<const int32_t> codes, int64_t books) const {
    return codec_.decode_latents(models::codec::sum_code_vectors(codec_.codebooks(), codes, books));
  }

  static void add_octaves(std::vector<double>& sum, std::span<const float> sound) {
    const auto powers = eval::octave_powers(sound, models::codec::kSampleRateHz);
    sum.resize(powers.size());
    std::ranges::transform(sum, powers, sum.begin(), std::plus());
  }

  // Of all copies as one sound.
  Json octaves() const {
    Json rows = Json::array();
    for (const auto& band : eval::octave_bands(octaves_, copied_octaves_)) {
      rows.push_back({{"hz", band.center_hz}, {"difference_db", band.difference_db()}});
    }
    return rows;
  }

  Json codebooks() const {
    const auto& quantizer = codec_.config().quantizer;
    Json rows = Json::array();
    for (int64_t book = 0; book < quantizer.books; ++book) {
      const auto tokens = eval::tokens_of_book(codes_, book, quantizer.books);
      const auto entries = static_cast<int>(quantizer.entries);
      rows.push_back({{"book", book + 1},
                      {"entropy_bits", eval::codebook_entropy_bits(tokens, entries)},
                      {"used", eval::codebook_share_used(tokens, entries)}});
    }
    return rows;
  }

  const CodecSession& codec_;
  Movement latents_, tokens_;
  std::vector<int32_t> codes_;                    // of all unchanged sounds: [frames, K]
  std::vector<double> octaves_, copied_octaves_;  // sums of powers
  double mel_all_ = 0, mel_sound_ = 0;
  int64_t items_ = 0;
};

}  // namespace

Json codec_report(const CodecReportOptions& options) {
  const data::ItemFolder items(with_runs_folder(options.data));
  if (options.items < 1 || options.items > items.size()) {
    fail(ExitCode::kUsage, fmt::format("--items {} is out of range", options.items),
         fmt::format("{} has {} items", options.data, items.size()));
  }
  runtime::Session session(session_options());
  const CodecSession codec(session, models::weights_part(weights_folder(options.weights), "codec"));
  Judge judge(codec);
  Progress progress("evaluating", options.items);
  for (int64_t item = 0; item < options.items; ++item) {
    if (stop_signal() != 0) {
      fail(ExitCode::kFailure, "stopped; there is no report", "run the command again");
    }
    judge.add(target_of(items, item));
    progress.update(item + 1);
  }
  return judge.report();
}

std::string codec_text(const Json& report) {
  const Json& mel = report.at("mel_distance");
  std::string text =
      fmt::format("mel distance of the plain decoder {:.3f}", mel.at("all").get<double>());
  if (mel.contains("sound")) {
    text += fmt::format(", of the sound's books alone {:.3f}", mel.at("sound").get<double>());
  }
  text += "\n\noctave, Hz  copies, dB\n";
  for (const Json& row : report.at("octaves")) {
    text += fmt::format("{:10.0f}{:+12.1f}\n", row.at("hz").get<double>(),
                        row.at("difference_db").get<double>());
  }
  text += fmt::format("\n{:16}", "movement");
  for (const Change& change : kChanges) text += fmt::format("{:>10}", change.name);
  for (const Json& row : report.at("movement")) {
    text += fmt::format("\n{:16}", fmt::format("{}, {}", row.at("part").get<std::string>(),
                                               row.at("of").get<std::string>()));
    for (const Change& change : kChanges) {
      text += fmt::format("{:10.3f}", row.at(change.key).get<double>());
    }
  }
  text += "\n\nbook  bits  entries used\n";
  for (const Json& row : report.at("codebooks")) {
    text += fmt::format("{:4}{:6.2f}{:12.0f} %\n", row.at("book").get<int64_t>(),
                        row.at("entropy_bits").get<double>(), 100 * row.at("used").get<double>());
  }
  return text;
}

}  // namespace hum::app
