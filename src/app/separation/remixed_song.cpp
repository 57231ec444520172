#include "app/separation/remixed_song.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "audio/resample.h"
#include "audio/sound_blocks.h"
#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::app {
namespace {

constexpr double kMostTruePeak_dbtp = audio::LoudnessTarget{}.max_true_peak_dbtp;
constexpr int64_t kBlockFrames = 16384;
constexpr const char* kHint = "free some space, or write to another disk";

void append(std::vector<float>& all, const std::vector<float>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// A channel, or the mean of all.
std::vector<float> mono_of(const audio::AudioBuffer& sound, std::optional<int> channel) {
  if (!channel) return audio::to_mono(sound).samples;
  std::vector<float> samples(static_cast<size_t>(sound.frames()));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] =
        sound.samples[i * static_cast<size_t>(sound.channels) + static_cast<size_t>(*channel)];
  }
  return samples;
}

}  // namespace

RemixedSong::RemixedSong(const std::filesystem::path& output, int rate_hz, int channels)
    : rate_hz_(rate_hz),
      channels_(channels),
      song_(output, channels, kHint),
      stem_(output, channels, kHint),
      loudness_(rate_hz, channels),
      cancellation_(channels) {}

void RemixedSong::add(std::span<const float> stem, std::span<const float> rest) {
  HUM_REQUIRE(stem.size() == rest.size(), "remix: {} samples of the stem, {} of the rest",
              stem.size(), rest.size());
  song_.write(rest);
  stem_.write(stem);
  loudness_.add(stem);
  const auto mono = audio::to_mono({rate_hz_, channels_, {stem.begin(), stem.end()}});
  cancellation_.add(stem, mono.samples);
  frames_ += mono.frames();
}

std::vector<float> RemixedSong::heard() {
  const auto channel = cancellation_.channel_to_use();
  audio::StreamResampler resampler(rate_hz_, data::kSampleRate);
  std::vector<float> heard;
  stem_.rewind();
  for (auto block = stem_.read(); !block.empty(); block = stem_.read()) {
    const audio::AudioBuffer sound{rate_hz_, channels_, {block.begin(), block.end()}};
    append(heard, resampler.push(mono_of(sound, channel)));
  }
  append(heard, resampler.finish());
  return heard;
}

void RemixedSong::place(audio::AudioBuffer part, double gain_db) {
  HUM_REQUIRE(part.rate_hz == rate_hz_, "remix: a part at {} Hz for a song at {} Hz", part.rate_hz,
              rate_hz_);
  part_ = part.channels == channels_ ? std::move(part) : audio::to_mono(part);
  const std::vector<double>& energies = cancellation_.energies();
  double sum = 0;
  for (const double energy : energies) sum += energy;
  HUM_REQUIRE(sum > 0, "remix: the stem is silent");
  gains_.clear();
  for (const double energy : energies) {
    gains_.push_back(static_cast<float>(std::sqrt(energy / sum)));
  }
  const double own_lufs = part_lufs();
  if (!std::isfinite(own_lufs)) return;
  const double gain = audio::from_db(stem_lufs() + gain_db - own_lufs);
  for (float& channel : gains_) channel *= static_cast<float>(gain);
}

void RemixedSong::add_part(std::span<float> samples, int64_t first_frame) const {
  const auto channels = static_cast<size_t>(channels_), own = static_cast<size_t>(part_.channels);
  const int64_t rest = std::max<int64_t>(0, part_.frames() - first_frame);
  const size_t frames = std::min(samples.size() / channels, static_cast<size_t>(rest));
  const auto part = std::span(part_.samples).subspan(part_.samples.size() - own * rest);
  for (size_t i = 0; i < frames * channels; ++i) {
    const size_t frame = i / channels, channel = i % channels;
    samples[i] += gains_[channel] * part[frame * own + std::min(channel, own - 1)];
  }
}

double RemixedSong::part_lufs() const {
  audio::LoudnessMeter meter(rate_hz_, channels_);
  for (int64_t at = 0; at < frames_; at += kBlockFrames) {
    const int64_t frames = std::min(kBlockFrames, frames_ - at);
    std::vector<float> block(static_cast<size_t>(frames * channels_));
    add_part(block, at);
    meter.add(block);
  }
  return meter.integrated_lufs();
}

template <typename Use>
void RemixedSong::for_mix(const Use& use) {
  song_.rewind();
  int64_t frame = 0;
  for (auto block = song_.read(); !block.empty(); block = song_.read()) {
    add_part(block, frame);
    frame += std::ssize(block) / channels_;
    use(block);
  }
}

double RemixedSong::write(const std::filesystem::path& path, audio::SampleFormat format,
                          const std::function<void(double done)>& progress) {
  audio::TruePeakMeter peak(rate_hz_, channels_);
  int64_t samples = 0;
  const auto update = [&](std::span<const float> block) {
    samples += std::ssize(block);
    progress(static_cast<double>(samples) / static_cast<double>(2 * frames_ * channels_));
  };
  for_mix([&](std::span<const float> block) {
    peak.add(block);
    update(block);
  });
  const double gain_db = std::min(0.0, kMostTruePeak_dbtp - peak.dbtp());
  const auto gain = static_cast<float>(audio::from_db(gain_db));
  audio::SoundWriter writer(path, rate_hz_, channels_, format);
  for_mix([&](std::span<float> block) {
    for (float& sample : block) sample *= gain;
    writer.write(block);
    update(block);
  });
  writer.commit();
  return gain_db;
}

}  // namespace hum::app
