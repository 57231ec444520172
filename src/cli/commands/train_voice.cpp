// hum train voice
#include "cli/commands/train.h"
#include "cli/session.h"
#include "cli/training.h"
#include "data/synthesis/features.h"
#include "models/humming/voice.h"

namespace hum::cli {
namespace {

using runtime::HostTensor;

int run(TrainArgs& args) {
  auto config = read_train_config<models::humming::VoiceConfig>(args);
  const StageConfig& stage = config.stage;
  runtime::Session session(session_options());
  const TokenData data = open_tokens(session, stage);
  const models::humming::Voice model(config.model);
  const int64_t batch = stage.batch, frames = stage.frames;
  const int64_t samples = frames * models::codec::kHopSamples;
  const auto spec = model.train_spec(batch, samples, dtype_of(stage.compute),
                                     models::codec::training_mel_scales());
  auto batches = [&](int64_t step) {
    const auto arrays =
        data::voice_batch(data.items, data.tokens, data.order,
                          static_cast<uint64_t>(stage.loop.seed), step, batch, frames);
    return std::vector{HostTensor::of({batch, samples}, std::span<const float>(arrays.audio)),
                       HostTensor::of({batch, frames, data.tokens.latent()},
                                      std::span<const float>(arrays.latents)),
                       HostTensor::of({batch, frames, data::kMelodyFeatures},
                                      std::span<const float>(arrays.melody)),
                       HostTensor::of({batch, samples}, std::span<const float>(arrays.excitation))};
  };
  return run_stage(session, spec, stage, to_json(config.model), args, batches);
}

}  // namespace

const Command kTrainVoice = {"train voice", "train the guided decoder",
                             "hum train voice --config configs/voice.yaml",
                             make_command<TrainArgs, run>};

}  // namespace hum::cli
