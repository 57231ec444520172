#include "audio/resample.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace hum::audio {
namespace {

std::vector<float> resample_interleaved(std::span<const float> samples, int channels, int from_hz,
                                        int to_hz) {
  HUM_REQUIRE(from_hz > 0 && to_hz > 0, "resample: rates must be positive, got {} and {} Hz",
              from_hz, to_hz);
  HUM_REQUIRE(channels > 0 && samples.size() % static_cast<size_t>(channels) == 0,
              "resample: {} samples do not fill {} channels", samples.size(), channels);
  if (from_hz == to_hz || samples.empty()) return {samples.begin(), samples.end()};
  // By blocks: soxr keeps a copy of the input that it has not used up.
  constexpr size_t kBlock = 65536;
  const auto block = kBlock * static_cast<size_t>(channels);
  const auto frames = std::ssize(samples) / channels;
  StreamResampler resampler(from_hz, to_hz, channels);
  std::vector<float> result;
  result.reserve(static_cast<size_t>(resampled_frames(frames, from_hz, to_hz) * channels));
  const auto append = [&](std::span<const float> part) {
    result.insert(result.end(), part.begin(), part.end());
  };
  for (size_t first = 0; first < samples.size(); first += block) {
    append(resampler.push(samples.subspan(first, std::min(block, samples.size() - first))));
  }
  append(resampler.finish());
  return result;
}

}  // namespace

int64_t resampled_frames(int64_t frames, int from_hz, int to_hz) {
  const double ratio = static_cast<double>(to_hz) / from_hz;
  return static_cast<int64_t>(std::ceil(static_cast<double>(frames) * ratio));
}

std::vector<float> resample(std::span<const float> samples, int from_hz, int to_hz) {
  return resample_interleaved(samples, 1, from_hz, to_hz);
}

AudioBuffer resample(const AudioBuffer& buffer, int to_hz) {
  return {to_hz, buffer.channels,
          resample_interleaved(buffer.samples, buffer.channels, buffer.rate_hz, to_hz)};
}

struct StreamResampler::State {
  int from_hz, to_hz, channels;
  std::unique_ptr<soxr, decltype(&soxr_delete)> soxr_state{nullptr, soxr_delete};
  int64_t taken = 0, given = 0;  // frames

  std::vector<float> process(std::span<const float> samples, bool is_last) {
    constexpr size_t kBlock = 16384;
    const auto count = static_cast<size_t>(channels), frames = samples.size() / count;
    taken += static_cast<int64_t>(frames);
    std::vector<float> result;
    std::vector<float> block(kBlock * count);
    size_t used = 0, made = 0;
    do {
      size_t used_now = 0;
      const bool ends = is_last && used == frames;
      const soxr_error_t error =
          soxr_process(soxr_state.get(), ends ? nullptr : samples.data() + used * count,
                       frames - used, &used_now, block.data(), kBlock, &made);
      HUM_CHECK(error == nullptr, "soxr: {}", error);
      used += used_now;
      result.insert(result.end(), block.begin(),
                    block.begin() + static_cast<int64_t>(made * count));
    } while (used < frames || made == kBlock);
    given += static_cast<int64_t>(result.size() / count);
    return result;
  }
};

StreamResampler::StreamResampler(int from_hz, int to_hz, int channels)
    : state_(new State{.from_hz = from_hz, .to_hz = to_hz, .channels = channels}) {
  HUM_REQUIRE(from_hz > 0 && to_hz > 0, "resample: rates must be positive, got {} and {} Hz",
              from_hz, to_hz);
  if (from_hz == to_hz) return;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  soxr_error_t error = nullptr;
  state_->soxr_state.reset(soxr_create(from_hz, to_hz, static_cast<unsigned>(channels), &error, &io,
                                       &quality, &runtime));
  HUM_CHECK(error == nullptr, "soxr: {}", error);
}

StreamResampler::~StreamResampler() = default;

std::vector<float> StreamResampler::push(std::span<const float> samples) {
  if (state_->soxr_state == nullptr || samples.empty()) return {samples.begin(), samples.end()};
  return state_->process(samples, false);
}

std::vector<float> StreamResampler::finish() {
  if (state_->soxr_state == nullptr) return {};
  const int64_t before = state_->given;
  auto rest = state_->process({}, true);
  // soxr rounds the length; resample() rounds up.
  const int64_t wanted = resampled_frames(state_->taken, state_->from_hz, state_->to_hz);
  rest.resize(static_cast<size_t>((wanted - before) * state_->channels));
  return rest;
}

}  // namespace hum::audio
