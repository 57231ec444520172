#include "app/extraction/features.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "audio/channels.h"
#include "base/error.h"
#include "base/rng.h"
#include "data/shards/array_files.h"
#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"

namespace hum::app {
namespace {

using data::FeatureSample;
using data::kItemFrames;
using data::kItemSamples;

// Peaks below -80 dBFS are the noise of a muted track.
constexpr float kSilentPeak = 1e-4F;
// 1 s, the shortest timbre reference.
constexpr int64_t kFewestReferenceFrames = 50;

// The window that starts at `start`; zeros after the end.
std::vector<float> cut(std::span<const float> samples, int64_t start) {
  std::vector<float> window(kItemSamples);
  const auto rest = samples.subspan(static_cast<size_t>(start));
  std::ranges::copy(rest.first(std::min<size_t>(rest.size(), kItemSamples)), window.begin());
  return window;
}

// All channels at the models' level. Returns the gain.
double level(std::vector<std::vector<float>>& channels) {
  std::vector<float> together;  // interleaved
  for (size_t i = 0; i < channels.front().size(); ++i) {
    for (const auto& channel : channels) together.push_back(channel[i]);
  }
  const double gain = data::normalise_level(together, static_cast<int>(channels.size()));
  for (size_t i = 0; i < together.size(); ++i) {
    channels[i % channels.size()][i / channels.size()] = together[i];
  }
  return gain;
}

bool is_silent(const std::vector<float>& samples) {
  return std::ranges::all_of(samples, [](float x) { return std::fabs(x) < kSilentPeak; });
}

// The notes that sound in [0, end_s), and those of up to one window before: their releases and
// counts reach into it.
std::vector<audio::Note> around(std::vector<audio::Note> notes, double end_s) {
  std::erase_if(notes, [&](const audio::Note& note) {
    return note.end_s <= -data::kItemSeconds || note.start_s >= end_s;
  });
  return notes;
}

bool any_sounds(std::span<const audio::Note> notes) {
  return std::ranges::any_of(notes, [](const audio::Note& note) { return note.end_s > 0; });
}

// Equal signals, those of mono sound, are encoded once. `reference`: empty for the mean.
void add_signals(FeatureSample& sample, const std::vector<std::vector<float>>& channels,
                 const std::vector<float>& reference, const std::vector<float>& sine,
                 CodePool& pool) {
  const bool is_mono = channels.size() == 1 || channels[0] == channels[1];
  if (is_mono && reference.empty()) {
    pool.add(channels[0], {&sample.left, &sample.right, &sample.mono});
  } else if (is_mono) {
    pool.add(channels[0], {&sample.left, &sample.right});
    pool.add(reference, {&sample.mono});
  } else {
    pool.add(channels[0], {&sample.left});
    pool.add(channels[1], {&sample.right});
    pool.add(reference.empty() ? mean_of(channels) : reference, {&sample.mono});
  }
  pool.add(sine, {&sample.sine});
}

// What the features of a window do not show.
Json meta_of(const RecordingSound& sound, const FeatureTools& tools) {
  Json meta = {{"recording", sound.sha256},
               {"channels", sound.channels.size()},
               {"codec", tools.encoder.fingerprint},
               {"heard_by", tools.heard_by},
               {"hum", HUM_VERSION}};
  if (!sound.licence.empty()) meta["licence"] = sound.licence;
  if (!sound.reference_sha256.empty()) meta["mono_reference"] = sound.reference_sha256;
  return meta;
}

// Interleaved, in 16 bits.
std::vector<int16_t> stored(const std::vector<std::vector<float>>& channels) {
  return data::to_int16(audio::heard_channels(
      channels, channels.size() == 1 ? audio::Channels::kMono : audio::Channels::kLeftRight));
}

uint64_t seed_of(const std::string& sha256) {
  uint64_t seed = 0;
  std::from_chars(sha256.data(), sha256.data() + std::min<size_t>(sha256.size(), 16), seed, 16);
  return seed;
}

}  // namespace

void CodePool::add(std::span<const float> window, std::vector<std::vector<uint16_t>*> places) {
  HUM_REQUIRE(std::ssize(window) == kItemSamples, "CodePool: a window of {} samples",
              window.size());
  windows_.insert(windows_.end(), window.begin(), window.end());
  places_.push_back(std::move(places));
  if (std::ssize(places_) == kEncodedTogether) flush();
}

void CodePool::flush() {
  if (places_.empty()) return;
  windows_.resize(static_cast<size_t>(kEncodedTogether * kItemSamples));
  const std::vector<int32_t> codes = encoder_.encode(windows_);
  const int64_t size = kItemFrames * encoder_.books;
  HUM_CHECK(std::ssize(codes) == kEncodedTogether * size, "{} codes", codes.size());
  auto at = codes.begin();
  for (const auto& places : places_) {
    for (std::vector<uint16_t>* place : places) place->assign(at, at + size);
    at += size;
  }
  windows_.clear();
  places_.clear();
}

RecordingFeatures begin_features(const RecordingSound& sound, const FeatureTools& tools,
                                 CodePool& pool) {
  const auto& channels = sound.channels;
  const std::vector<float> mono = sound.reference.empty() ? mean_of(channels) : sound.reference;
  const auto samples = std::ssize(mono);
  // Loudness as amplitude, as in training items.
  const auto notes = data::velocity_from_rms(mono, tools.transcribe(mono));
  const auto sine = data::render_sine(notes, samples);
  const Json meta = meta_of(sound, tools);
  const int64_t own_samples =
      std::min(samples - sound.lead_windows * kItemSamples, sound.windows * kItemSamples);
  RecordingFeatures features{.seconds = static_cast<double>(own_samples) / data::kSampleRate};
  for (int64_t i = 0; i < sound.windows; ++i) {
    const int64_t start = (sound.lead_windows + i) * kItemSamples;  // in the part
    std::vector<std::vector<float>> window;
    for (const auto& channel : channels) window.push_back(cut(channel, start));
    const double start_s = static_cast<double>(start) / data::kSampleRate;
    auto own = around(data::shifted(notes, -start_s), data::kItemSeconds);
    if (std::ranges::all_of(window, is_silent)) {
      ++features.windows.silent;
      continue;
    }
    if (!any_sounds(own)) {
      ++features.windows.without_notes;
      continue;
    }
    ++features.windows.kept;
    FeatureSample& sample = features.samples.emplace_back();
    sample.recording = sound.sha256;
    sample.window = sound.first_window + i;
    sample.features = data::melody_features(own, kItemFrames);
    sample.notes = std::move(own);
    sample.meta = meta;
    sample.meta.update({{"window", sample.window},
                        {"start", static_cast<double>(sample.window * data::kItemSeconds)},
                        {"gain_db", 20 * std::log10(level(window))}});
    const auto reference =
        sound.reference.empty() ? std::vector<float>() : data::levelled(cut(mono, start));
    if (tools.keep_audio) {
      sample.sound = stored(window);
      sample.mono_sound = data::to_int16(reference);
    }
    add_signals(sample, window, reference, data::levelled(cut(sine, start)), pool);
  }
  return features;
}

void add_references(RecordingFeatures& features) {
  const auto count = std::ssize(features.samples);
  for (int64_t i = 0; i < count; ++i) {
    FeatureSample& sample = features.samples[static_cast<size_t>(i)];
    Rng rng(seed_of(sample.recording), "reference", static_cast<uint64_t>(sample.window));
    // Any but the i-th.
    const int64_t other = count == 1 ? i : (i + rng.integer(1, count - 1)) % count;
    const FeatureSample& source = features.samples[static_cast<size_t>(other)];
    const int64_t frames = rng.integer(kFewestReferenceFrames, data::kReferenceFrames);
    const int64_t first = rng.integer(0, kItemFrames - frames);
    const int64_t books = std::ssize(source.mono) / kItemFrames;
    const auto codes = source.mono.begin() + first * books;
    sample.reference.assign(codes, codes + frames * books);
    const double start_s = static_cast<double>(first) / data::kFramesPerSecond;
    const double length_s = static_cast<double>(frames) / data::kFramesPerSecond;
    sample.reference_notes = around(data::shifted(source.notes, -start_s), length_s);
    sample.meta["reference"] = {
        {"window", source.window}, {"start", start_s}, {"seconds", length_s}};
  }
}

}  // namespace hum::app
