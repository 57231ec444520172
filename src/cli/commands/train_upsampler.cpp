// hum train upsampler
#include "app/session_options.h"
#include "app/training/stage.h"
#include "cli/commands/train.h"
#include "models/humming/upsampler.h"

namespace hum::cli {
namespace {

int run(app::TrainArgs& args) {
  auto config = app::read_train_config<models::humming::UpsamplerConfig>(args);
  const app::StageConfig& stage = config.stage;
  runtime::Session session(app::session_options());
  const app::TokenData data = app::open_tokens(session, stage);
  app::require_fits(data, config.model.common, args.config);
  const models::humming::Upsampler model(config.model);
  const auto spec = model.train_spec(stage.batch, data::kItemFrames, data::kReferenceFrames,
                                     app::dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    return app::token_tensors(app::stage_tokens(data, stage, step));
  };
  return app::run_stage(session, spec, stage, to_json(config.model), args, batches, {"codec"},
                        {{"codebooks", data.codebooks}});
}

}  // namespace

const Command kTrainUpsampler = {
    "train upsampler", "train the upsampler: fine tokens and the draft",
    "hum train upsampler --config configs/upsampler.yaml", make_command<app::TrainArgs, run>};

}  // namespace hum::cli
