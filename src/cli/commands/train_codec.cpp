// hum train codec
#include "cli/commands/train.h"
#include "cli/session.h"
#include "cli/training.h"

namespace hum::cli {
namespace {

int run(TrainArgs& args) {
  auto config = read_train_config<models::codec::CodecConfig>(args);
  const StageConfig& stage = config.stage;
  const data::ItemFolder items(stage.data);
  const data::ItemOrder order = training_order(items, stage);
  runtime::Session session(session_options());
  const models::codec::Codec model(config.model);
  const int64_t samples = stage.frames * models::codec::kHopSamples;
  const auto spec = model.train_spec(stage.batch, samples, dtype_of(stage.compute));
  auto batches = [&](int64_t step) {
    const auto audio = data::audio_batch(items, order, static_cast<uint64_t>(stage.loop.seed), step,
                                         stage.batch, samples);
    return std::vector{
        runtime::HostTensor::of({stage.batch, samples}, std::span<const float>(audio))};
  };
  return run_stage(session, spec, stage, to_json(config.model), args, batches);
}

}  // namespace

const Command kTrainCodec = {"train codec", "train the codec: encoder, quantizer, plain decoder",
                             "hum train codec --config configs/codec.yaml",
                             make_command<TrainArgs, run>};

}  // namespace hum::cli
