// hum train upsampler
#include "cli/commands/train.h"
#include "cli/session.h"
#include "cli/training.h"
#include "models/humming/upsampler.h"

namespace hum::cli {
namespace {

int run(TrainArgs& args) {
  auto config = read_train_config<models::humming::UpsamplerConfig>(args);
  const StageConfig& stage = config.stage;
  runtime::Session session(session_options());
  const TokenData data = open_tokens(session, stage);
  require_fits(data, config.model.common, args.config);
  const models::humming::Upsampler model(config.model);
  const auto spec = model.train_spec(stage.batch, data::kItemFrames, data::kReferenceFrames,
                                     dtype_of(stage.compute));
  auto batches = [&](int64_t step) { return token_tensors(stage_tokens(data, stage, step)); };
  return run_stage(session, spec, stage, to_json(config.model), args, batches, {"codec"},
                   {{"codebooks", data.codebooks}});
}

}  // namespace

const Command kTrainUpsampler = {
    "train upsampler", "train the upsampler: fine tokens and the draft",
    "hum train upsampler --config configs/upsampler.yaml", make_command<TrainArgs, run>};

}  // namespace hum::cli
