// hum train voice
#include <cmath>
#include <optional>

#include "app/session_options.h"
#include "app/training/stage.h"
#include "base/error.h"
#include "base/rng.h"
#include "cli/commands/train.h"
#include "data/synthesis/features.h"
#include "models/humming/latent_predictor.h"
#include "models/humming/voice.h"
#include "models/weights_folder.h"

namespace hum::cli {
namespace {

using runtime::HostTensor;

// In the first items of a batch, the upsampler's latents in place of the codec's: what the decoder
// is given at generation. How many true books the upsampler knows is drawn for each item.
class PredictedLatents {
 public:
  PredictedLatents(runtime::Session& session, const app::StageConfig& stage,
                   const app::TokenData& data)
      : stage_(stage),
        data_(data),
        items_(std::lround(stage.predicted_share * static_cast<double>(stage.batch))) {
    if (items_ < 0 || items_ > stage.batch) {
      fail(ExitCode::kConfig,
           fmt::format("stage.predicted_share {} is outside 0..1", stage.predicted_share));
    }
    if (items_ == 0) return;
    const auto weights = models::weights_part(stage.weights, "upsampler");
    upsampler_.emplace(session, weights, items_, data::kItemFrames, data::kReferenceFrames);
    app::require_fits(data, upsampler_->common(), weights.string());
  }

  void replace(int64_t step, data::VoiceBatch& batch) const {
    if (!upsampler_) return;
    Rng rng(static_cast<uint64_t>(stage_.loop.seed), "predicted latents",
            static_cast<uint64_t>(step));
    std::vector<int32_t> stages;
    for (int64_t b = 0; b < items_; ++b) {
      stages.push_back(static_cast<int32_t>(rng.integer(0, upsampler_->last_stage())));
    }
    const auto arrays = app::token_tensors(
        data::token_batch(data_.items, data_.tokens, data_.order, step, stage_.batch, items_));
    const auto predicted =
        upsampler_->predict(HostTensor::of({items_}, std::span<const int32_t>(stages)), arrays[0],
                            arrays[2], arrays[3], arrays[4]);
    data::replace_latents(batch, predicted.as<float>(), items_, data_.tokens.channels());
  }

 private:
  const app::StageConfig& stage_;
  const app::TokenData& data_;
  int64_t items_;
  std::optional<models::humming::LatentPredictor> upsampler_;
};

int run(app::TrainArgs& args) {
  auto config = app::read_train_config<models::humming::VoiceConfig>(args);
  const app::StageConfig& stage = config.stage;
  runtime::Session session(app::session_options());
  const app::TokenData data = app::open_tokens(session, stage);
  const int64_t latent = data.tokens.latent() / audio::channel_count(data.tokens.channels());
  if (config.model.common.channels != audio::Channels::kMono ||
      config.model.common.latent != latent) {
    fail(
        ExitCode::kConfig,
        fmt::format("{}: the voice plays one channel at a time, whose latents here have {} numbers",
                    args.config, latent),
        fmt::format("model: {{common: {{latent: {}}}}}, without channels", latent));
  }
  const PredictedLatents predicted(session, stage, data);
  const models::humming::Voice model(config.model);
  const int64_t batch = stage.batch, frames = stage.frames;
  const int64_t samples = frames * models::codec::kHopSamples;
  const auto spec = model.train_spec(batch, samples, app::dtype_of(stage.compute),
                                     models::codec::training_mel_scales());
  auto batches = [&](int64_t step) {
    auto arrays = data::voice_batch(data.items, data.tokens, data.order,
                                    static_cast<uint64_t>(stage.loop.seed), step, batch, frames);
    predicted.replace(step, arrays);
    return std::vector{
        HostTensor::of({batch, samples}, std::span<const float>(arrays.audio)),
        HostTensor::of({batch, frames, latent}, std::span<const float>(arrays.latents)),
        HostTensor::of({batch, frames, data::kMelodyFeatures},
                       std::span<const float>(arrays.melody)),
        HostTensor::of({batch, samples}, std::span<const float>(arrays.excitation))};
  };
  return app::run_stage(session, spec, stage, to_json(config.model), args, batches,
                        {"codec", "upsampler"});
}

}  // namespace

const Command kTrainVoice = {"train voice", "train the guided decoder",
                             "hum train voice --config configs/voice.yaml",
                             make_command<app::TrainArgs, run>};

}  // namespace hum::cli
