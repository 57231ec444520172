#include "app/extraction/features.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "audio/channels.h"
#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "data/shards/array_files.h"
#include "data/synthesis/features.h"
#include "data/synthesis/level.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using data::FeatureSample;
using data::kItemFrames;
using data::kItemSamples;

constexpr int64_t kMostBytes = int64_t{1} << 31;
// Peaks below -80 dBFS are the noise of a muted track.
constexpr float kSilentPeak = 1e-4F;
// 1 s, the shortest timbre reference.
constexpr int64_t kFewestReferenceFrames = 50;

struct FileState {
  std::uintmax_t bytes = 0;
  fs::file_time_type changed;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const fs::path& path) {
  std::error_code error;
  FileState state;
  state.bytes = fs::file_size(path, error);
  if (!error) state.changed = fs::last_write_time(path, error);
  if (error) state.bytes = 0;  // reading it says why
  return state;
}

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

std::string read_recording_bytes(const std::string& location) {
  const fs::path path = location;
  if (location.empty()) {
    fail(ExitCode::kBadData, "the recording: has no location", "its row names none");
  }
  if (!path.is_absolute()) {
    const size_t scheme = location.find("://");
    if (scheme == location.npos) {
      fail(ExitCode::kBadData, "the recording: its location is not an absolute path",
           "a path such as /music/a.wav");
    }
    // What follows the scheme may hold a key.
    fail(ExitCode::kBadData,
         fmt::format("the recording: locations {}... are not read", location.substr(0, scheme + 3)),
         "copy it to a folder that all processes see");
  }
  std::error_code missing;  // reading it says why
  if (fs::exists(path, missing) && !fs::is_regular_file(path, missing)) {
    fail(ExitCode::kBadData, "the recording: is not a file", "name a file");
  }
  const FileState before = state_of(path);
  if (before.bytes > static_cast<std::uintmax_t>(kMostBytes)) {
    fail(ExitCode::kBadData, "the recording: is larger than 2 GiB", "split it");
  }
  std::string bytes = read_file(path);
  if (state_of(path) != before || bytes.size() != before.bytes) {
    fail(ExitCode::kBadData, "the recording: changed while it was read",
         "requeue it when it is whole");
  }
  return bytes;
}

std::vector<std::vector<float>> decode_channels(std::string_view bytes, double max_seconds) {
  std::vector<std::vector<float>> channels;
  const auto append = [&](const std::vector<float>& interleaved) {
    for (size_t i = 0; i < interleaved.size(); ++i) {
      channels[i % channels.size()].push_back(interleaved[i]);
    }
  };
  std::optional<audio::StreamResampler> resampler;
  const audio::SoundBytes file{.bytes = bytes,
                               .name = "the recording",
                               .format_hint = "convert it: ffmpeg -i FILE out.wav",
                               .length_hint = "raise --max-seconds, or split it"};
  audio::stream_audio(file, max_seconds, [&](const audio::AudioBuffer& block) {
    const audio::AudioBuffer part = block.channels > 2 ? audio::to_mono(block) : block;
    if (!resampler) {
      resampler.emplace(part.rate_hz, data::kSampleRate, part.channels);
      channels.resize(static_cast<size_t>(part.channels));
    }
    append(resampler->push(part.samples));
  });
  append(resampler->finish());
  const double seconds = static_cast<double>(channels.front().size()) / data::kSampleRate;
  if (seconds < pipeline::kMinRecording_s) {
    fail(ExitCode::kBadData,
         fmt::format("the recording: only {:.3f} s long, too short for a melody", seconds),
         fmt::format("it takes {} s", pipeline::kMinRecording_s));
  }
  return channels;
}

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

std::vector<float> mean_of(const std::vector<std::vector<float>>& channels) {
  std::vector<float> mean = channels.front();
  if (channels.size() == 1) return mean;
  for (size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + channels[1][i]) / 2;
  return mean;
}

RecordingFeatures begin_features(const RecordingSound& sound, const FeatureTools& tools,
                                 CodePool& pool) {
  const auto& channels = sound.channels;
  std::vector<float> mono = sound.reference.empty() ? mean_of(channels) : sound.reference;
  mono.resize(channels.front().size());
  const auto samples = std::ssize(mono);
  // Loudness as amplitude, as in training items.
  const auto notes = data::velocity_from_rms(mono, tools.transcribe(mono));
  const auto sine = data::render_sine(notes, samples);
  const Json meta = meta_of(sound, tools);
  RecordingFeatures features{.seconds = static_cast<double>(samples) / data::kSampleRate};
  for (int64_t start = 0; start < samples; start += kItemSamples) {
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
    sample.window = start / kItemSamples;
    sample.features = data::melody_features(own, kItemFrames);
    sample.notes = std::move(own);
    sample.meta = meta;
    sample.meta.update({{"window", sample.window},
                        {"start", start_s},
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
