#include "models/spleeter/separator.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/folders.h"
#include "graph/ops/spectral.h"
#include "models/spleeter/model.h"
#include "models/stored_model.h"

namespace hum::models::spleeter {

using audio::AudioBuffer;
using graph::DType;
using runtime::HostTensor;

namespace {

constexpr const char* kName = "spleeter";  // of the folder, and the type in its config.json

const std::filesystem::path& require_weights(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "config.json")) {
    fail(ExitCode::kNoInput, fmt::format("{}: no weights of Spleeter", folder.string()),
         "make fetch-spleeter downloads and converts them");
  }
  return folder;
}

void require_stereo(const AudioBuffer& song) {
  HUM_REQUIRE(song.rate_hz == kSampleRateHz && song.channels == kChannels,
              "spleeter: needs {} channels at {} Hz, not {} at {} Hz", kChannels, kSampleRateHz,
              song.channels, song.rate_hz);
}

// Where frame t of a song begins: it is centred on sample t hop.
int64_t first_sample(int64_t frame, const SpleeterConfig& c) {
  return frame * c.hop_samples - c.window_samples / 2;
}

int64_t frame_count(const AudioBuffer& song, const SpleeterConfig& c) {
  return 1 + song.frames() / c.hop_samples;
}

// The sum of the squared windows at each sample.
std::vector<float> window_sums(const AudioBuffer& song, const SpleeterConfig& c) {
  const std::vector<float> window = graph::hann_window(c.window_samples);
  std::vector<float> sums(static_cast<size_t>(song.frames()));
  for (int64_t t = 0; t < frame_count(song, c); ++t) {
    const int64_t start = first_sample(t, c);
    const int64_t end = std::min(start + c.window_samples, song.frames());
    for (int64_t i = std::max<int64_t>(start, 0); i < end; ++i) {
      const float factor = window[static_cast<size_t>(i - start)];
      sums[static_cast<size_t>(i)] += factor * factor;
    }
  }
  return sums;
}

}  // namespace

struct Separator::State {
  State(runtime::Session& session, const std::filesystem::path& folder)
      : session(session), stored(session, require_weights(folder), kName) {
    const SpleeterConfig& c = config();
    const Value sound = graph::parameter(
                    "sound", {DType::kF32, {kChannels, stored.model().segment_samples()}}),
                live = graph::parameter("live", {DType::kF32, {c.frames}});
    const auto separation = stored.model().separate(sound, live);
    program = stored.compile("spleeter/separate", {sound, live},
                             {separation.sounds_SCN, separation.masks_SCTF});
  }

  const SpleeterConfig& config() const { return stored.model().config(); }
  // The results of the program for the segment that begins with this frame.
  std::vector<runtime::Tensor> run(const AudioBuffer& song, int64_t first_frame) const;
  // Adds a segment's sounds to the stems.
  void add(const HostTensor& sounds_SCN, int64_t first_frame,
           std::vector<AudioBuffer>& stems) const;

  runtime::Session& session;
  StoredModel<Spleeter> stored;
  std::optional<runtime::Executable> program;
};

std::vector<runtime::Tensor> Separator::State::run(const AudioBuffer& song,
                                                   int64_t first_frame) const {
  const int64_t samples = stored.model().segment_samples();
  const int64_t start = first_sample(first_frame, config());
  HostTensor sound({DType::kF32, {kChannels, samples}}), live({DType::kF32, {config().frames}});
  const auto sound_CN = sound.as<float>(), live_T = live.as<float>();
  const int64_t end = std::min(start + samples, song.frames());
  for (int64_t channel = 0; channel < kChannels; ++channel) {
    for (int64_t i = std::max<int64_t>(start, 0); i < end; ++i) {
      sound_CN[static_cast<size_t>(channel * samples + i - start)] =
          song.samples[static_cast<size_t>(i * kChannels + channel)];
    }
  }
  const int64_t rest = frame_count(song, config()) - first_frame;
  std::fill_n(live_T.begin(), std::min(rest, config().frames), 1.0F);
  return stored.run_all(*program, {&sound, &live});
}

void Separator::State::add(const HostTensor& sounds_SCN, int64_t first_frame,
                           std::vector<AudioBuffer>& stems) const {
  const int64_t samples = stored.model().segment_samples();
  const int64_t start = first_sample(first_frame, config());
  auto from = sounds_SCN.as<float>();
  for (AudioBuffer& stem : stems) {
    const int64_t end = std::min(start + samples, stem.frames());
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      for (int64_t i = std::max<int64_t>(start, 0); i < end; ++i) {
        stem.samples[static_cast<size_t>(i * kChannels + channel)] +=
            from[static_cast<size_t>(i - start)];
      }
      from = from.subspan(static_cast<size_t>(samples));
    }
  }
}

std::filesystem::path default_weights_path() {
  return in_wheels(std::filesystem::path(kName) / "config.json").parent_path();
}

bool has_weights() { return std::filesystem::exists(default_weights_path() / "config.json"); }

Separator::Separator(runtime::Session& session, const std::filesystem::path& weights)
    : state_(std::make_unique<State>(session, weights)) {}

Separator::~Separator() = default;

const std::vector<std::string>& Separator::stems() const { return state_->config().stems; }

std::vector<AudioBuffer> Separator::separate(
    const AudioBuffer& song, const std::function<void(double done)>& progress) const {
  require_stereo(song);
  const SpleeterConfig& c = state_->config();
  const AudioBuffer silence{song.rate_hz, kChannels, std::vector<float>(song.samples.size())};
  std::vector<AudioBuffer> stems(c.stems.size(), silence);
  const int64_t frames = frame_count(song, c);
  for (int64_t first = 0; first < frames; first += c.frames) {
    state_->add(state_->session.to_host(state_->run(song, first)[0]), first, stems);
    const int64_t done = std::min(first + c.frames, frames);
    if (progress) progress(static_cast<double>(done) / static_cast<double>(frames));
  }
  const std::vector<float> sums = window_sums(song, c);
  for (AudioBuffer& stem : stems) {
    for (size_t i = 0; i < stem.samples.size(); ++i) stem.samples[i] /= sums[i / kChannels];
  }
  return stems;
}

std::vector<std::vector<audio::Matrix<float>>> Separator::masks(const AudioBuffer& song) const {
  require_stereo(song);
  const SpleeterConfig& c = state_->config();
  const int64_t frames = frame_count(song, c);
  const std::vector<audio::Matrix<float>> empty(kChannels, audio::Matrix<float>(frames, c.bins));
  std::vector<std::vector<audio::Matrix<float>>> masks(c.stems.size(), empty);
  for (int64_t first = 0; first < frames; first += c.frames) {
    const HostTensor segment = state_->session.to_host(state_->run(song, first)[1]);
    auto from_SCTF = segment.as<float>();
    const auto live = static_cast<size_t>(std::min(c.frames, frames - first) * c.bins);
    for (auto& channels : masks) {
      for (audio::Matrix<float>& mask : channels) {
        std::ranges::copy(from_SCTF.first(live), mask.values.begin() + first * c.bins);
        from_SCTF = from_SCTF.subspan(static_cast<size_t>(c.frames * c.bins));
      }
    }
  }
  return masks;
}

}  // namespace hum::models::spleeter
