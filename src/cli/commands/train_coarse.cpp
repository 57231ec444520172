// hum train coarse
#include <optional>

#include "app/session_options.h"
#include "app/training/stage.h"
#include "cli/commands/train.h"
#include "data/synthesis/features.h"
#include "models/humming/coarse.h"
#include "models/humming/latent_predictor.h"
#include "models/weights_folder.h"

namespace hum::cli {
namespace {

// models do not see data: the columns that conditioning reads are named on both sides.
static_assert(models::humming::kMelodyPitch == static_cast<int64_t>(data::MelodyFeature::kPitch));
static_assert(models::humming::kMelodySounding ==
              static_cast<int64_t>(data::MelodyFeature::kSounding));
static_assert(models::humming::kMelodyOnset == static_cast<int64_t>(data::MelodyFeature::kOnset));

int run(app::TrainArgs& args) {
  auto config = app::read_train_config<models::humming::CoarseConfig>(args);
  const app::StageConfig& stage = config.stage;
  runtime::Session session(app::session_options());
  const app::TokenData data = app::open_tokens(session, stage);
  app::require_fits(data, config.model.common, args.config);
  const models::humming::Coarse model(config.model);
  std::optional<models::humming::LatentPredictor> upsampler;
  if (model.uses_draft()) {
    const auto weights = models::weights_part(stage.weights, "upsampler");
    upsampler.emplace(session, weights, stage.batch, data::kItemFrames, data::kReferenceFrames);
    app::require_fits(data, upsampler->common(), weights.string());
  }
  const runtime::HostTensor draft_stage({graph::DType::kI32, {stage.batch}});
  const auto spec = model.train_spec(stage.batch, data::kItemFrames, data::kReferenceFrames,
                                     app::dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    // As the upsampler's batch, but with the draft in place of the true latents.
    const auto arrays = app::token_tensors(app::stage_tokens(data, stage, step));
    std::vector result{arrays[0], arrays[2], arrays[3], arrays[4]};
    if (upsampler) {
      result.push_back(upsampler->predict(draft_stage, arrays[0], arrays[2], arrays[3], arrays[4]));
    }
    return result;
  };
  return app::run_stage(session, spec, stage, to_json(config.model), args, batches,
                        {"codec", "upsampler"}, {{"codebooks", data.codebooks}});
}

}  // namespace

const Command kTrainCoarse = {"train coarse", "train the coarse language model",
                              "hum train coarse --config configs/coarse.yaml",
                              make_command<app::TrainArgs, run>};

}  // namespace hum::cli
