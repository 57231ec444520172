// hum train coarse
#include "cli/commands/train.h"
#include "cli/session.h"
#include "cli/training.h"
#include "models/humming/coarse.h"
#include "models/humming/latent_predictor.h"

namespace hum::cli {
namespace {

int run(TrainArgs& args) {
  auto config = read_train_config<models::humming::CoarseConfig>(args);
  const StageConfig& stage = config.stage;
  runtime::Session session(session_options());
  const TokenData data = open_tokens(session, stage);
  const models::humming::LatentPredictor upsampler(session, stage.weights + "/upsampler",
                                                   stage.batch, data::kItemFrames,
                                                   data::kReferenceFrames);
  const runtime::HostTensor draft_stage({graph::DType::kI32, {stage.batch}});
  const models::humming::Coarse model(config.model);
  const auto spec = model.train_spec(stage.batch, data::kItemFrames, data::kReferenceFrames,
                                     dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    // As the upsampler's batch, but with the draft in place of the true latents.
    auto arrays = token_tensors(stage_tokens(data, stage, step));
    auto draft = upsampler.predict(draft_stage, arrays[0], arrays[2], arrays[3], arrays[4]);
    return std::vector{arrays[0], arrays[2], std::move(draft), arrays[3], arrays[4]};
  };
  return run_stage(session, spec, stage, to_json(config.model), args, batches,
                   {{"codebooks", data.codebooks}});
}

}  // namespace

const Command kTrainCoarse = {"train coarse", "train the coarse language model",
                              "hum train coarse --config configs/coarse.yaml",
                              make_command<TrainArgs, run>};

}  // namespace hum::cli
