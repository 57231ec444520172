#include "app/extraction/recording_parts.h"

#include <algorithm>
#include <functional>

#include "audio/resample.h"
#include "base/error.h"
#include "base/hash.h"
#include "data/synthesis/timing.h"
#include "pipeline/recording.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using data::kItemSamples;

fs::path checked_path(const std::string& location) {
  fs::path path = location;
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
  return path;
}

// Names the mono reference in what `read` throws.
void of_reference(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    fail(error.code(), "its mono reference: " + error.message(), error.hint());
  }
}

}  // namespace

std::vector<float> mean_of(const std::vector<std::vector<float>>& channels) {
  std::vector<float> mean = channels.front();
  if (channels.size() == 1) return mean;
  for (size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + channels[1][i]) / 2;
  return mean;
}

RecordingFile::RecordingFile(const std::string& location)
    : path_(checked_path(location)), before_(state()), sha256_(sha256_file(path_)) {
  require_unchanged();
}

RecordingFile::State RecordingFile::state() const {
  std::error_code error;
  State state;
  state.bytes = fs::file_size(path_, error);
  if (!error) state.changed = fs::last_write_time(path_, error);
  if (error) state.bytes = 0;  // reading it says why
  return state;
}

void RecordingFile::require_unchanged() const {
  if (state() == before_) return;
  fail(ExitCode::kBadData, "the recording: changed while it was read",
       "requeue it when it is whole");
}

// A file's channels at 22,050 Hz, as far as they are decoded and not yet dropped.
class RecordingParts::Stream {
 public:
  Stream(const RecordingFile& file, decode::Decoders& decoders, double max_seconds)
      : file_(file), sound_(decoders.open(file.path(), max_seconds)) {}

  // Decodes until there are this many samples of each channel, or to the end.
  void fill(int64_t samples) {
    while (!has_ended_ && size() < samples) {
      const audio::AudioBuffer block = sound_->next();
      has_ended_ = block.samples.empty();
      if (has_ended_) {
        append(resampler_->finish());
        file_.require_unchanged();
      } else {
        append(block.channels > 2 ? audio::to_mono(block) : block);
      }
    }
  }
  int64_t size() const { return channels_.empty() ? 0 : std::ssize(channels_.front()); }
  // The first samples of each channel; fewer if there are fewer.
  std::vector<std::vector<float>> first(int64_t samples) const {
    std::vector<std::vector<float>> result;
    for (const auto& channel : channels_) {
      result.emplace_back(channel.begin(), channel.begin() + std::min(samples, size()));
    }
    return result;
  }
  void drop(int64_t samples) {
    const int64_t count = std::min(samples, size());
    for (auto& channel : channels_) channel.erase(channel.begin(), channel.begin() + count);
  }
  // Decodes the rest, to notice its faults.
  void skip_rest() {
    while (!has_ended_) {
      drop(size());
      fill(kItemSamples);
    }
  }
  void require_long_enough() const {
    const double seconds = static_cast<double>(size()) / data::kSampleRate;
    if (seconds >= pipeline::kMinRecording_s) return;
    fail(ExitCode::kBadData,
         fmt::format("the recording: only {:.3f} s long, too short for a melody", seconds),
         fmt::format("it takes {} s", pipeline::kMinRecording_s));
  }

 private:
  void append(const audio::AudioBuffer& block) {
    if (!resampler_) {
      resampler_.emplace(block.rate_hz, data::kSampleRate, block.channels);
      channels_.resize(static_cast<size_t>(block.channels));
    }
    append(resampler_->push(block.samples));
  }
  void append(const std::vector<float>& interleaved) {
    for (size_t i = 0; i < interleaved.size(); ++i) {
      channels_[i % channels_.size()].push_back(interleaved[i]);
    }
  }

  const RecordingFile& file_;
  std::unique_ptr<decode::SoundStream> sound_;
  std::optional<audio::StreamResampler> resampler_;
  std::vector<std::vector<float>> channels_;
  bool has_ended_ = false;
};

decode::StreamLimits decoding_limits(fs::path program) {
  return {.words = {.bytes = {},
                    .name = "the recording",
                    .format_hint = "convert it: ffmpeg -i FILE out.wav",
                    .length_hint = "raise --max-seconds, or split it"},
          .program = std::move(program)};
}

RecordingParts::RecordingParts(ClaimedRecording recording, decode::Decoders& decoders,
                               double max_seconds, int64_t part_windows)
    : recording_(std::move(recording)),
      decoders_(decoders),
      max_seconds_(max_seconds),
      part_windows_(part_windows),
      most_windows_(part_windows + std::max<int64_t>(1, part_windows / 10)),
      file_(recording_.location) {}

RecordingParts::~RecordingParts() = default;

void RecordingParts::open() {
  sound_ = std::make_unique<Stream>(file_, decoders_, max_seconds_);
  if (recording_.reference.empty()) return;
  of_reference([&] {
    reference_file_.emplace(recording_.reference);
    reference_ = std::make_unique<Stream>(*reference_file_, decoders_, max_seconds_);
  });
}

std::optional<RecordingSound> RecordingParts::next() {
  if (is_over_) return std::nullopt;
  if (sound_ == nullptr) open();
  const int64_t most = (lead_windows_ + most_windows_) * kItemSamples;
  sound_->fill(most + 1);
  const bool is_last = sound_->size() <= most;
  const int64_t samples =
      is_last ? sound_->size() : (lead_windows_ + part_windows_ + 1) * kItemSamples;
  if (first_window_ == 0) sound_->require_long_enough();
  if (reference_ != nullptr) {
    of_reference([&] {
      reference_->fill(samples);
      if (first_window_ == 0) reference_->require_long_enough();
    });
  }
  RecordingSound result = part(samples, is_last);
  is_over_ = is_last;
  if (!is_last) {
    advance();
  } else if (reference_ != nullptr) {
    of_reference([&] { reference_->skip_rest(); });
  }
  return result;
}

RecordingSound RecordingParts::part(int64_t samples, bool is_last) const {
  const int64_t windows = (samples + kItemSamples - 1) / kItemSamples - lead_windows_;
  RecordingSound result{.sha256 = file_.sha256(),
                        .first_window = first_window_,
                        .windows = is_last ? windows : part_windows_,
                        .lead_windows = lead_windows_,
                        .is_last = is_last,
                        .channels = sound_->first(samples),
                        .licence = recording_.licence};
  if (reference_ != nullptr) {
    result.reference = mean_of(reference_->first(samples));
    result.reference.resize(static_cast<size_t>(samples));
    result.reference_sha256 = reference_file_->sha256();
  }
  return result;
}

void RecordingParts::advance() {
  const int64_t over = (lead_windows_ + part_windows_ - 1) * kItemSamples;
  sound_->drop(over);
  if (reference_ != nullptr) {
    of_reference([&] { reference_->fill(over); });
    reference_->drop(over);
  }
  first_window_ += part_windows_;
  lead_windows_ = 1;
}

}  // namespace hum::app
