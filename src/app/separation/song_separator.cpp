#include "app/separation/song_separator.h"

#include <algorithm>
#include <cmath>

#include "audio/resample.h"
#include "base/error.h"
#include "base/names.h"
#include "models/separator/config.h"

namespace hum::app {
namespace {

constexpr int kModelRateHz = models::separator::kSampleRateHz;
constexpr double kLeast_db = -200;
// Of songs. Memory grows with channels, and with the samples that resampling makes of one.
constexpr int kLeastRate_hz = 1000, kMostChannels = 64;

void require_song(int rate_hz, int channels) {
  if (rate_hz >= kLeastRate_hz && channels <= kMostChannels) return;
  fail(ExitCode::kBadData,
       fmt::format("cannot separate {} at {} Hz", counted(channels, "channel"), rate_hz),
       fmt::format("use at most {} channels and at least {} Hz", kMostChannels, kLeastRate_hz));
}

}  // namespace

// Two channels on their way through the models.
struct SongSeparator::Pair {
  Pair(const StemModels& models, int rate_hz)
      : in(rate_hz, kModelRateHz, 2), stream(models.stream()), ready(models.stems().size()) {
    for (size_t i = 0; i < ready.size(); ++i) {
      out.push_back(std::make_unique<audio::StreamResampler>(kModelRateHz, rate_hz, 2));
    }
  }

  void push(std::span<const float> samples) { take(stream->push(in.push(samples))); }
  void finish() {
    take(stream->push(in.finish()));
    take(stream->finish());
    for (size_t i = 0; i < ready.size(); ++i) append(i, out[i]->finish());
  }
  void take(const Sounds& sounds) {
    for (size_t i = 0; i < ready.size(); ++i) append(i, out[i]->push(sounds[i]));
  }
  void append(size_t sound, const std::vector<float>& samples) {
    ready[sound].insert(ready[sound].end(), samples.begin(), samples.end());
  }
  size_t frames() const {
    size_t least = ready[0].size() / 2;
    for (const auto& sound : ready) least = std::min(least, sound.size() / 2);
    return least;
  }

  audio::StreamResampler in;
  std::unique_ptr<StemStream> stream;
  std::vector<std::unique_ptr<audio::StreamResampler>> out;
  Sounds ready;  // stereo
};

SongSeparator::SongSeparator(const StemModels& models, int rate_hz, int channels)
    : channels_(static_cast<size_t>(channels)),
      stems_(models.stems()),
      has_other_(stems_.back() == "other") {
  HUM_REQUIRE(channels > 0 && rate_hz > 0, "separate: {} channels at {} Hz", channels, rate_hz);
  require_song(rate_hz, channels);
  if (!has_other_) stems_.emplace_back("rest");
  for (int first = 0; first < channels; first += 2) {
    pairs_.push_back(std::make_unique<Pair>(models, rate_hz));
  }
}

SongSeparator::~SongSeparator() = default;

SongSeparator::Sounds SongSeparator::push(std::span<const float> samples) {
  HUM_REQUIRE(samples.size() % channels_ == 0, "separate: {} samples do not fill {} channels",
              samples.size(), channels_);
  song_.insert(song_.end(), samples.begin(), samples.end());
  size_t ready = song_.size() / channels_;
  std::vector<float> stereo(samples.size() / channels_ * 2);
  for (size_t p = 0; p < pairs_.size(); ++p) {
    const size_t left = 2 * p, right = std::min(left + 1, channels_ - 1);
    for (size_t i = 0; i < stereo.size() / 2; ++i) {
      stereo[2 * i] = samples[i * channels_ + left];
      stereo[2 * i + 1] = samples[i * channels_ + right];
    }
    pairs_[p]->push(stereo);
    ready = std::min(ready, pairs_[p]->frames());
  }
  return take(ready);
}

SongSeparator::Sounds SongSeparator::finish() {
  const size_t frames = song_.size() / channels_;
  for (auto& pair : pairs_) {
    pair->finish();
    HUM_CHECK(pair->frames() >= frames, "{} of {} frames", pair->frames(), frames);
  }
  return take(frames);
}

float SongSeparator::found(size_t sound, size_t channel, size_t frame) const {
  const auto& samples = pairs_[channel / 2]->ready[sound];
  if (channel % 2 == 0 && channel + 1 == channels_) {
    return 0.5F * (samples[2 * frame] + samples[2 * frame + 1]);
  }
  return samples[2 * frame + channel % 2];
}

SongSeparator::Sounds SongSeparator::take(size_t frames) {
  Sounds result(stems_.size(), std::vector<float>(frames * channels_));
  const size_t last = stems_.size() - 1;
  for (size_t i = 0; i < frames * channels_; ++i) {
    const size_t frame = i / channels_, channel = i % channels_;
    double left = song_[i];
    for (size_t stem = 0; stem < last; ++stem) {
      result[stem][i] = found(stem, channel, frame);
      left -= result[stem][i];
    }
    if (!std::isfinite(left)) {
      fail(ExitCode::kFailure, "the models made samples that are not finite",
           "the weights may be damaged, or the song's samples are far beyond full scale");
    }
    result[last][i] = static_cast<float>(left);
    song_energy_ += static_cast<double>(song_[i]) * song_[i];
    if (!has_other_) continue;
    const double moved = left - found(last, channel, frame);
    moved_energy_ += moved * moved;
  }
  song_.erase(song_.begin(), song_.begin() + static_cast<int64_t>(frames * channels_));
  for (auto& pair : pairs_) {
    for (auto& sound : pair->ready) {
      sound.erase(sound.begin(), sound.begin() + static_cast<int64_t>(2 * frames));
    }
  }
  return result;
}

std::optional<double> SongSeparator::moved_db() const {
  if (!has_other_ || song_energy_ == 0) return std::nullopt;
  return std::max(kLeast_db, 10 * std::log10(moved_energy_ / song_energy_));
}

int64_t separate_song(audio::SoundReader& song, SongSeparator& separator,
                      const std::function<void(const SongSeparator::Sounds& stems)>& take,
                      const std::function<void(int64_t frames)>& progress) {
  int64_t frames = 0;
  for (auto block = song.next(); !block.empty(); block = song.next()) {
    take(separator.push(block));
    frames += std::ssize(block) / song.channels();
    progress(frames);
  }
  take(separator.finish());
  return frames;
}

double share_of(int64_t done, int64_t total) {
  return total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 0;
}

std::vector<float> sum_of(const SongSeparator::Sounds& stems, std::span<const size_t> members) {
  std::vector<float> sum = stems[members[0]];
  for (const size_t member : members.subspan(1)) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += stems[member][i];
  }
  return sum;
}

}  // namespace hum::app
