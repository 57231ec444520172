#include "models/segment_stream.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/ops/spectral.h"

namespace hum::models {

using graph::DType;
using runtime::HostTensor;

SegmentStream::SegmentStream(const SegmentLayout& layout, Run run)
    : layout_(layout),
      run_(std::move(run)),
      window_(graph::hann_window(layout.window_samples)),
      sums_(static_cast<size_t>(layout.sounds)) {
  HUM_REQUIRE(layout.overlap >= 0 && layout.overlap < layout.frames && layout.lead >= 0 &&
                  layout.lead < layout.frames - layout.overlap,
              "SegmentStream: {} frames, of which {} overlap, {} before the start", layout.frames,
              layout.overlap, layout.lead);
}

int64_t SegmentStream::first_frame() const {
  return segment_ * (layout_.frames - layout_.overlap) - layout_.lead;
}

int64_t SegmentStream::first_sample() const {
  return first_frame() * layout_.hop_samples - layout_.window_samples / 2;
}

HostTensor SegmentStream::cut_sound() const {
  const int64_t start = first_sample(), samples = layout_.segment_samples(),
                channels = layout_.channels_in;
  HostTensor sound({DType::kF32, {channels, samples}});
  const auto to = sound.as<float>();
  const int64_t from = std::max(start, input_start_), end = std::min(start + samples, received_);
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = from; i < end; ++i) {
      to[static_cast<size_t>(channel * samples + i - start)] =
          input_[static_cast<size_t>((i - input_start_) * channels + channel)];
    }
  }
  return sound;
}

HostTensor SegmentStream::fades() const {
  HostTensor fade({DType::kF32, {layout_.frames}});
  // Until the sound ends, all frames of a segment that is complete are in it.
  const int64_t first = first_frame(), count = 1 + received_ / layout_.hop_samples;
  const auto width = static_cast<float>(layout_.overlap);
  for (int64_t t = 0; t < layout_.frames; ++t) {
    if (first + t < 0 || first + t >= count) continue;
    const float rising = static_cast<float>(t) + 0.5F,
                falling = static_cast<float>(layout_.frames - t) - 0.5F;
    float weight = 1;
    if (segment_ > 0 && rising < width) weight = rising / width;
    if (falling < width) weight = std::min(weight, falling / width);
    fade.as<float>()[static_cast<size_t>(t)] = weight;
  }
  return fade;
}

void SegmentStream::add(const HostTensor& sounds_SCN, const HostTensor& fade_T) {
  const int64_t start = first_sample(), samples = layout_.segment_samples(),
                channels = layout_.channels_out, end = start + samples;
  const auto size = static_cast<size_t>(end - taken_);
  weights_.resize(std::max(weights_.size(), size));
  auto row = sounds_SCN.as<float>();
  for (auto& sum : sums_) {
    sum.resize(weights_.size() * static_cast<size_t>(channels));
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t i = std::max(start, taken_); i < end; ++i) {
        sum[static_cast<size_t>((i - taken_) * channels + channel)] +=
            row[static_cast<size_t>(i - start)];
      }
      row = row.subspan(static_cast<size_t>(samples));
    }
  }
  for (int64_t t = 0; t < layout_.frames; ++t) {
    const float weight = fade_T.as<float>()[static_cast<size_t>(t)];
    const int64_t at = start + t * layout_.hop_samples;
    for (int64_t i = std::max(at, taken_); i < at + layout_.window_samples; ++i) {
      const float w = window_[static_cast<size_t>(i - at)];
      weights_[static_cast<size_t>(i - taken_)] += weight * w * w;
    }
  }
}

void SegmentStream::run_next() {
  const HostTensor fade = fades();
  add(run_(cut_sound(), fade), fade);
  ++segment_;
}

void SegmentStream::take_until(int64_t sample, Sounds& ready) {
  const auto count = static_cast<size_t>(std::max<int64_t>(0, sample - taken_));
  const auto channels = static_cast<size_t>(layout_.channels_out);
  HUM_CHECK(count <= weights_.size(), "{} of {} samples", count, weights_.size());
  ready.resize(sums_.size());
  for (size_t k = 0; k < sums_.size(); ++k) {
    ready[k].reserve(ready[k].size() + count * channels);
    for (size_t i = 0; i < count * channels; ++i) {
      ready[k].push_back(sums_[k][i] / weights_[i / channels]);
    }
    sums_[k].erase(sums_[k].begin(), sums_[k].begin() + static_cast<int64_t>(count * channels));
  }
  weights_.erase(weights_.begin(), weights_.begin() + static_cast<int64_t>(count));
  taken_ += static_cast<int64_t>(count);
}

SegmentStream::Sounds SegmentStream::push(std::span<const float> samples) {
  HUM_REQUIRE(!ended_ && std::ssize(samples) % layout_.channels_in == 0,
              "SegmentStream: {} samples do not fill {} channels, or it has ended", samples.size(),
              layout_.channels_in);
  Sounds ready(sums_.size());
  // By parts, because what is used is removed from the front of the input.
  const auto most = static_cast<size_t>(layout_.segment_samples() * layout_.channels_in);
  while (!samples.empty()) {
    const auto part = samples.first(std::min(most, samples.size()));
    take_in(part, ready);
    samples = samples.subspan(part.size());
  }
  return ready;
}

void SegmentStream::take_in(std::span<const float> samples, Sounds& ready) {
  input_.insert(input_.end(), samples.begin(), samples.end());
  received_ += std::ssize(samples) / layout_.channels_in;
  while (received_ >= first_sample() + layout_.segment_samples()) {
    run_next();
    take_until(first_sample(), ready);
    const int64_t used = first_sample() - input_start_;
    if (used <= 0) continue;
    input_.erase(input_.begin(), input_.begin() + used * layout_.channels_in);
    input_start_ += used;
  }
}

SegmentStream::Sounds SegmentStream::finish() {
  HUM_REQUIRE(!ended_, "SegmentStream: it has ended");
  ended_ = true;
  Sounds ready(sums_.size());
  if (received_ == 0) return ready;
  const int64_t count = 1 + received_ / layout_.hop_samples;
  // The frames that were faded out need no other segment if they are the last ones.
  while (segment_ == 0 || first_frame() + layout_.overlap < count) {
    run_next();
    take_until(std::min(first_sample(), received_), ready);
  }
  take_until(received_, ready);
  return ready;
}

void append(SegmentStream::Sounds& all, const SegmentStream::Sounds& more) {
  all.resize(std::max(all.size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) {
    all[i].insert(all[i].end(), more[i].begin(), more[i].end());
  }
}

}  // namespace hum::models
