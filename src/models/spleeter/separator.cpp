#include "models/spleeter/separator.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/folders.h"
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

int64_t frame_count(const AudioBuffer& song, const SpleeterConfig& c) {
  return 1 + song.frames() / c.hop_samples;
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
  SegmentLayout layout() const {
    return {.window_samples = config().window_samples,
            .hop_samples = config().hop_samples,
            .frames = config().frames,
            .channels_in = kChannels,
            .channels_out = kChannels,
            .sounds = std::ssize(config().stems)};
  }

  runtime::Session& session;
  StoredModel<Spleeter> stored;
  std::optional<runtime::Executable> program;
};

std::filesystem::path default_weights_path() {
  return in_wheels(std::filesystem::path(kName) / "config.json").parent_path();
}

bool has_weights() { return std::filesystem::exists(default_weights_path() / "config.json"); }

Separator::Separator(runtime::Session& session, const std::filesystem::path& weights)
    : state_(std::make_unique<State>(session, weights)) {}

Separator::~Separator() = default;

const std::vector<std::string>& Separator::stems() const { return state_->config().stems; }

SegmentStream Separator::stream() const {
  return {
      state_->layout(), [state = state_.get()](const HostTensor& sound, const HostTensor& live) {
        return state->session.to_host(state->stored.run_all(*state->program, {&sound, &live})[0]);
      }};
}

std::vector<AudioBuffer> Separator::separate(const AudioBuffer& song) const {
  require_stereo(song);
  SegmentStream segments = stream();
  SegmentStream::Sounds sounds = segments.push(song.samples);
  append(sounds, segments.finish());
  std::vector<AudioBuffer> stems;
  for (size_t i = 0; i < sounds.size(); ++i) {
    stems.push_back({song.rate_hz, kChannels, std::move(sounds[i])});
  }
  return stems;
}

std::vector<std::vector<audio::Matrix<float>>> Separator::masks(const AudioBuffer& song) const {
  require_stereo(song);
  const SpleeterConfig& c = state_->config();
  const int64_t frames = frame_count(song, c);
  const std::vector<audio::Matrix<float>> empty(kChannels, audio::Matrix<float>(frames, c.bins));
  std::vector<std::vector<audio::Matrix<float>>> masks(c.stems.size(), empty);
  int64_t first = 0;
  const auto run = [&](const HostTensor& sound, const HostTensor& live) {
    const auto results = state_->stored.run_all(*state_->program, {&sound, &live});
    const HostTensor segment = state_->session.to_host(results[1]);
    auto from_SCTF = segment.as<float>();
    const auto count = static_cast<size_t>(std::min(c.frames, frames - first) * c.bins);
    for (auto& channels : masks) {
      for (audio::Matrix<float>& mask : channels) {
        std::ranges::copy(from_SCTF.first(count), mask.values.begin() + first * c.bins);
        from_SCTF = from_SCTF.subspan(static_cast<size_t>(c.frames * c.bins));
      }
    }
    first += c.frames;
    return state_->session.to_host(results[0]);
  };
  SegmentStream stream(state_->layout(), run);
  stream.push(song.samples);
  stream.finish();
  return masks;
}

}  // namespace hum::models::spleeter
