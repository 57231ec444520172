#include "app/separation/stem_models.h"

#include <algorithm>

#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/error.h"
#include "models/separator/config.h"
#include "models/spleeter/config.h"
#include "models/weights_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using models::append;
using models::SegmentStream;
using Sounds = StemStream::Sounds;

constexpr double kSpleeterTop_hz = 11025;  // its stems are silent above
constexpr size_t kChannels = 2;
constexpr const char* kOwnPart = "separator";
static_assert(models::separator::kSampleRateHz == models::spleeter::kSampleRateHz);

class OwnStems : public StemStream {
 public:
  explicit OwnStems(SegmentStream stream) : stream_(std::move(stream)) {}
  Sounds push(std::span<const float> samples) override { return stream_.push(samples); }
  Sounds finish() override { return stream_.finish(); }

 private:
  SegmentStream stream_;
};

class SpleeterVocals : public StemStream {
 public:
  explicit SpleeterVocals(const models::spleeter::Separator& spleeter)
      : stream_(spleeter.stream()) {
    const auto found = std::ranges::find(spleeter.stems(), "vocals");
    HUM_REQUIRE(found != spleeter.stems().end(), "these weights of Spleeter have no vocals");
    vocals_ = static_cast<size_t>(found - spleeter.stems().begin());
  }
  Sounds push(std::span<const float> samples) override { return only(stream_.push(samples)); }
  Sounds finish() override { return only(stream_.finish()); }

 private:
  Sounds only(Sounds sounds) const { return {std::move(sounds.at(vocals_))}; }

  SegmentStream stream_;
  size_t vocals_ = 0;
};

// Spleeter's vocals first; then ours share what they leave.
class StemsBesideVocals : public StemStream {
 public:
  StemsBesideVocals(const models::spleeter::Separator& spleeter, SegmentStream others)
      : vocals_(spleeter), others_(std::move(others)) {}

  Sounds push(std::span<const float> samples) override {
    song_.insert(song_.end(), samples.begin(), samples.end());
    return with_vocals(vocals_.push(samples)[0]);
  }
  Sounds finish() override {
    Sounds sounds = with_vocals(vocals_.finish()[0]);
    append(sounds, others_.finish());
    return sounds;
  }

 private:
  // The song's channels and those of the vocals side by side, as far as there are vocals.
  Sounds with_vocals(const std::vector<float>& vocals) {
    std::vector<float> both;
    both.reserve(2 * vocals.size());
    for (size_t i = 0; i < vocals.size(); i += kChannels) {
      both.insert(both.end(), {song_[i], song_[i + 1], vocals[i], vocals[i + 1]});
    }
    song_.erase(song_.begin(), song_.begin() + std::ssize(vocals));
    return others_.push(both);
  }

  SpleeterVocals vocals_;
  SegmentStream others_;
  std::vector<float> song_;  // whose vocals are not there yet
};

bool has_model(const fs::path& folder) { return fs::exists(folder / "config.json"); }

}  // namespace

InstalledStemModels installed_stem_models(const StemModelOptions& options) {
  return {has_model(models::weights_part(weights_folder(options.weights), kOwnPart)),
          has_model(options.spleeter)};
}

StemModels::StemModels(const StemModelOptions& options) : session_(session_options()) {
  const fs::path weights = weights_folder(options.weights);
  const auto [has_own, has_spleeter] = installed_stem_models(options);
  const bool uses_spleeter =
      options.vocals == Vocals::kSpleeter || (options.vocals == Vocals::kAuto && has_spleeter);
  const bool needs_own = !options.only_vocals || !uses_spleeter;
  if (needs_own && !has_own) {
    fail(ExitCode::kNoInput,
         weights.string() + ": these weights have no separator, the model that finds six stems",
         fmt::format("leave --weights out, or train one with hum train separator; the vocals alone "
                     "need none: {}{}",
                     has_spleeter ? "" : "make fetch-spleeter, then ", options.vocals_command));
  }
  if (has_own) {
    own_weights_ = models::weights_part(weights, kOwnPart);
    own_ = std::make_unique<const models::separator::SeparatorSession>(session_, own_weights_);
    stems_.assign(models::separator::kStems.begin(), models::separator::kStems.end());
  } else {
    stems_ = {"vocals"};
  }
  if (uses_spleeter) {
    spleeter_ = std::make_unique<const models::spleeter::Separator>(session_, options.spleeter);
  }
}

StemConfidences StemModels::confidences() const {
  if (!own_) return {};
  return read_confidence(own_weights_, to_name(vocals()));
}

std::unique_ptr<StemStream> StemModels::stream() const {
  if (!spleeter_) return std::make_unique<OwnStems>(own_->stream());
  if (!own_) return std::make_unique<SpleeterVocals>(*spleeter_);
  return std::make_unique<StemsBesideVocals>(*spleeter_, own_->stream_with_vocals(kSpleeterTop_hz));
}

std::shared_ptr<const StemModels> SharedStemModels::get() {
  const std::scoped_lock lock(mutex_);
  const InstalledStemModels installed = installed_stem_models(options_);
  if (!models_ || installed != installed_) {
    models_ = std::make_shared<const StemModels>(options_);
    installed_ = installed;
  }
  return models_;
}

}  // namespace hum::app
