#include "data/stems/batches.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "audio/limiter.h"
#include "audio/loudness.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/threads.h"
#include "data/stems/effects.h"
#include "data/stems/roles.h"

namespace hum::data {
namespace {

constexpr double kGain_db = 9;
constexpr double kWidestBalance = 0.5, kBalanceShare = 0.5;
constexpr double kAmplifiedShare = 0.2;  // of the lead, chordal and bass stems
constexpr double kLimitedShare = 0.3, kMostLimited_db = 9;

// Where the sound of a stem is from; none: absent.
struct StemPlace {
  int64_t window = -1;
  int64_t first_frame = 0;
};
using StemPlaces = std::array<StemPlace, kStemCount>;

class WindowDraw {
 public:
  WindowDraw(const StemMaterial& material, int64_t samples, Rng& rng)
      : material_(material), samples_(samples), rng_(rng) {}

  // `window`: the one to use if all stems are from one song.
  StemPlaces places(int64_t window) {
    StemPlaces places = rng_.chance(kCoherentShare) ? from_one_song(window) : from_several_songs();
    const auto is_absent = [](const StemPlace& place) { return place.window < 0; };
    if (std::ranges::all_of(places, is_absent)) keep_one(window, places);
    return places;
  }

 private:
  int64_t draw_start() { return rng_.integer(0, material_.folder().frames() - samples_); }

  StemPlaces from_one_song(int64_t window) {
    StemPlaces places;
    const StoredStems& stored = material_.folder()[window];
    const int64_t first_frame = draw_start();
    for (const Stem stem : kStems) {
      const auto s = static_cast<size_t>(stem);
      const bool is_dropped = rng_.chance(material_.absence().dropped[s]);
      if (stored.has(stem) && !is_dropped) places[s] = {window, first_frame};
    }
    return places;
  }

  StemPlaces from_several_songs() {
    StemPlaces places;
    for (const Stem stem : kStems) {
      const auto s = static_cast<size_t>(stem);
      const auto& windows = material_.windows_with(stem);
      const bool is_absent = rng_.chance(material_.absence().absent_in_mix[s]);
      const double drawn = rng_.uniform();
      const int64_t first_frame = draw_start();
      if (is_absent || windows.empty()) continue;
      const auto at = static_cast<size_t>(drawn * static_cast<double>(windows.size()));
      places[s] = {windows[at], first_frame};
    }
    return places;
  }

  // A stem that the window has, so that the mixture is not silence.
  void keep_one(int64_t window, StemPlaces& places) {
    const StoredStems& stored = material_.folder()[window];
    std::vector<size_t> present;
    for (const Stem stem : kStems) {
      if (stored.has(stem)) present.push_back(static_cast<size_t>(stem));
    }
    const double drawn = rng_.uniform();
    const int64_t first_frame = draw_start();
    if (present.empty()) return;
    const auto at = static_cast<size_t>(drawn * static_cast<double>(present.size()));
    places[present[at]] = {window, first_frame};
  }

  const StemMaterial& material_;
  int64_t samples_;
  Rng& rng_;
};

// What a mixing desk does to a stem: the gain of each of its channels, perhaps swapped.
struct Channels {
  float left, right;
  bool are_swapped;
};
Channels draw_channels(Rng& rng) {
  const double gain = audio::from_db(rng.uniform(-kGain_db, kGain_db));
  const double sign = rng.chance(0.5) ? -1 : 1;
  const double drawn = rng.uniform(-kWidestBalance, kWidestBalance);
  const double balance = rng.chance(kBalanceShare) ? drawn : 0;
  return {static_cast<float>(sign * gain * std::min(1.0, 1 - balance)),
          static_cast<float>(sign * gain * std::min(1.0, 1 + balance)), rng.chance(0.5)};
}

// Plays a stem that can be an electric guitar or bass through an amplifier, sometimes.
void amplify(Stem stem, Rng& rng, audio::AudioBuffer& sound) {
  const bool is_amplified = rng.chance(kAmplifiedShare);
  const Amplifier amplifier = draw_amplifier(stem, rng);
  const bool can_be = stem == Stem::kLead || stem == Stem::kChordal || stem == Stem::kBass;
  if (is_amplified && can_be) apply(amplifier, sound);
}

// Shapes: interleaved [N, 2] -> stem [2, N].
void place(std::span<const float> interleaved, const Channels& channels, std::span<float> stem) {
  const size_t samples = interleaved.size() / 2;
  const size_t from_left = channels.are_swapped ? 1 : 0;
  for (size_t i = 0; i < samples; ++i) {
    stem[i] = channels.left * interleaved[2 * i + from_left];
    stem[samples + i] = channels.right * interleaved[2 * i + 1 - from_left];
  }
}

// Shapes: stems [6, 2, N] -> mixture [2, N].
void add_up(std::span<const float> stems, std::span<float> mixture) {
  std::ranges::fill(mixture, 0.0F);
  for (size_t first = 0; first < stems.size(); first += mixture.size()) {
    for (size_t i = 0; i < mixture.size(); ++i) mixture[i] += stems[first + i];
  }
}

// Of the louder channel, sample by sample. Shapes: mixture [2, N] -> [N].
std::vector<float> peaks_of(std::span<const float> mixture) {
  const size_t samples = mixture.size() / 2;
  std::vector<float> peaks(samples);
  for (size_t i = 0; i < samples; ++i) {
    peaks[i] = std::max(std::fabs(mixture[i]), std::fabs(mixture[samples + i]));
  }
  return peaks;
}

// Applies to all stems the gains that limit their sum, raised by up to kMostLimited_db over the
// ceiling, or the one gain that brings its peak to 1.
void limit(std::span<const float> mixture, std::span<float> stems, Rng& rng) {
  auto peaks = peaks_of(mixture);
  const float peak = *std::ranges::max_element(peaks);
  const bool is_limited = rng.chance(kLimitedShare);
  const double over = audio::from_db(rng.uniform(0, kMostLimited_db));
  if (peak <= 0 || (!is_limited && peak <= 1)) return;
  const size_t samples = peaks.size();
  std::vector<float> gains(samples, 1 / peak);
  if (is_limited) {
    const auto raised = static_cast<float>(over / peak);
    for (float& value : peaks) value *= raised;
    gains = audio::limiter_gains(peaks, kStemRate, {.ceiling_db = 0});
    for (float& gain : gains) gain *= raised;
  }
  for (size_t first = 0; first < stems.size(); first += samples) {
    for (size_t i = 0; i < samples; ++i) stems[first + i] *= gains[i];
  }
}

}  // namespace

StemAbsence absence_for(const StemShares& silent) {
  StemAbsence absence;
  for (size_t s = 0; s < kStemCount; ++s) {
    if (silent[s] < kAbsentShare) {
      absence.dropped[s] = (kAbsentShare - silent[s]) / (1 - silent[s]);
      absence.absent_in_mix[s] = kAbsentShare;
    } else {  // mixes make up for it
      const double wanted = (kAbsentShare - kCoherentShare * silent[s]) / (1 - kCoherentShare);
      absence.absent_in_mix[s] = std::max(0.0, wanted);
    }
  }
  return absence;
}

SongSplit split_by_song(const StemFolder& folder, int64_t at_least) {
  std::vector<std::pair<std::string, int64_t>> by_song;
  for (int64_t i = 0; i < folder.size(); ++i) {
    const Json meta = folder[i].meta();
    const auto song = meta.find("sha256");
    if (song == meta.end() || !song->is_string()) {
      fail(ExitCode::kBadData, fmt::format("window {} does not name its song", i),
           "make the stems again: hum data stems");
    }
    by_song.emplace_back(song->get<std::string>(), i);
  }
  std::ranges::sort(by_song);
  SongSplit split;
  for (const auto& [song, window] : by_song) split.windows.push_back(window);
  size_t first = by_song.size() - std::min(by_song.size(), static_cast<size_t>(at_least));
  while (first > 0 && first < by_song.size() && by_song[first - 1].first == by_song[first].first) {
    --first;
  }
  split.held_out = static_cast<int64_t>(by_song.size() - first);
  return split;
}

StemMaterial::StemMaterial(const StemFolder& folder, std::vector<int64_t> order, int64_t first,
                           int64_t count)
    : folder_(folder), order_(std::move(order)) {
  for (int64_t place = first; place < first + count; ++place) {
    for (const Stem stem : kStems) {
      if (!folder[window(place)].has(stem)) continue;
      windows_[static_cast<size_t>(stem)].push_back(window(place));
    }
  }
  StemShares silent = {};
  for (size_t s = 0; s < kStemCount; ++s) {
    silent[s] = 1 - static_cast<double>(windows_[s].size()) / static_cast<double>(count);
  }
  absence_ = absence_for(silent);
}

StemBatch stem_batch(const StemMaterial& material, const ItemOrder& order, uint64_t seed,
                     int64_t step, int64_t batch, int64_t samples) {
  const int64_t frames = material.folder().frames();
  if (samples > frames) {
    fail(ExitCode::kConfig,
         fmt::format("crops of {} samples are longer than the windows, {}", samples, frames),
         "make longer windows (stems.seconds), or take shorter crops");
  }
  const auto size = static_cast<size_t>(2 * samples);
  StemBatch result{.stems = std::vector<float>(static_cast<size_t>(batch) * kStemCount * size),
                   .mixture = std::vector<float>(static_cast<size_t>(batch) * size)};
  parallel_for(batch, compute_threads(), [&](int64_t b) {
    const int64_t position = step * batch + b;
    Rng rng(seed, "stem window", static_cast<uint64_t>(position));
    const auto row = static_cast<size_t>(b);
    const auto stems = std::span(result.stems).subspan(row * kStemCount * size, kStemCount * size);
    const auto mixture = std::span(result.mixture).subspan(row * size, size);
    const int64_t window = material.window(order.item(position));
    const StemPlaces places = WindowDraw(material, samples, rng).places(window);
    Rng amplifiers(seed, "stem amplifiers", static_cast<uint64_t>(position));
    audio::AudioBuffer sound{
        .rate_hz = kStemRate, .channels = 2, .samples = std::vector<float>(size)};
    for (const Stem stem : kStems) {
      const auto s = static_cast<size_t>(stem);
      const Channels channels = draw_channels(rng);
      if (places[s].window < 0) continue;
      material.folder()[places[s].window].read(stem, places[s].first_frame, sound.samples);
      amplify(stem, amplifiers, sound);
      place(sound.samples, channels, stems.subspan(s * size, size));
    }
    add_up(stems, mixture);
    limit(mixture, stems, rng);
    add_up(stems, mixture);
  });
  return result;
}

}  // namespace hum::data
