// hum train codec
#include "app/session_options.h"
#include "app/training/stage.h"
#include "cli/commands/train.h"

namespace hum::cli {
namespace {

int run(app::TrainArgs& args) {
  auto config = app::read_train_config<models::codec::CodecConfig>(args);
  const app::StageConfig& stage = config.stage;
  const data::ItemFolder items(stage.data);
  const data::ItemOrder order = app::training_order(items, stage);
  runtime::Session session(app::session_options());
  const models::codec::Codec model(config.model);
  const int64_t samples = stage.frames * models::codec::kHopSamples;
  const auto spec = model.train_spec(stage.batch, samples, app::dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    const auto audio = data::audio_batch(items, order, static_cast<uint64_t>(stage.loop.seed), step,
                                         stage.batch, samples);
    return std::vector{
        runtime::HostTensor::of({stage.batch, samples}, std::span<const float>(audio))};
  };
  return app::run_stage(session, spec, stage, to_json(config.model), args, batches);
}

}  // namespace

const Command kTrainCodec = {"train codec", "train the codec: encoder, quantizer, plain decoder",
                             "hum train codec --config configs/codec.yaml",
                             make_command<app::TrainArgs, run>};

}  // namespace hum::cli
