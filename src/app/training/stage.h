// What the `hum train` commands share: reading the configuration, data, running the loop,
// writing weights.
#pragma once

#include <filesystem>
#include <string>

#include "base/fields_json.h"
#include "data/features/batches.h"
#include "data/synthesis/timing.h"
#include "models/codec/codec.h"
#include "models/codec/codec_session.h"
#include "models/humming/config.h"
#include "runtime/session.h"
#include "runtime/weights.h"
#include "train/loop.h"

namespace hum::app {

enum class Compute { kF32, kBf16 };
inline EnumNames<Compute> enum_names(Compute) {
  static constexpr std::pair<Compute, std::string_view> kNames[] = {{Compute::kF32, "f32"},
                                                                    {Compute::kBf16, "bf16"}};
  return kNames;
}
graph::DType dtype_of(Compute compute);

// The part of a training configuration that does not depend on the model.
struct StageConfig {
  std::string data = "runs/data";
  std::string run;
  std::string output;
  // Weights of the models this stage builds on: weights/<codec>, ...
  std::string weights = "weights";
  int64_t batch = 16;
  // Frames of a crop; whole items for upsampler and coarse LM.
  int64_t frames = 100;
  // Voice: share of a batch whose latents are the upsampler's, not the codec's.
  double predicted_share = 0;
  // Upsampler, coarse: augmentation.
  double token_replacement = 0.05;
  // Parameters whose names begin so are trained, the others stay as --init has them; empty: all.
  std::string train_only;
  // Items at the end of the data that are never trained on.
  int64_t held_out = 192;
  Compute compute = Compute::kBf16;
  train::LoopConfig loop;

  template <class V>
  void visit_fields(V& v) {
    v("data", data, "folder of training items (hum data make)");
    v("run", run, "folder of checkpoints and log");
    v("output", output, "weights folder to write");
    v("weights", weights, "folder of the weights this stage builds on");
    v("batch", batch, "items in a batch");
    v("frames", frames, "frames of a training crop");
    v("predicted_share", predicted_share,
      "voice: share of a batch whose latents are the upsampler's, not the codec's");
    v("token_replacement", token_replacement,
      "upsampler, coarse: share of melody frames that are replaced by others; 0: off");
    v("train_only", train_only,
      "train the parameters whose names begin so, keep the others; empty: all");
    v("held_out", held_out, "items at the end of the data that are never trained on");
    v("compute", compute, "element type of activations: f32 or bf16");
    v("loop", loop, "steps, schedule, checkpoints");
  }
};

// Flags of `hum train <model>`.
struct TrainArgs {
  std::string config, run, output, init, data, compute, memory_limit;
  bool json = false;
  template <class V>
  void declare(V& v) {
    v("config", config, "YAML configuration (configs/*.yaml)");
    v("run", run, "folder of checkpoints and log, instead of the configuration's");
    v("output", output, "weights folder to write, instead of the configuration's");
    v("init", init, "weights folder to start from, e.g. weights/");
    v("data", data, "folder of training items, instead of the configuration's");
    v("compute", compute, "f32 or bf16, instead of the configuration's");
    v("memory_limit", memory_limit, "refuse a step that needs more memory than this, e.g. 6GB");
    v("json", json, "print the result as JSON");
  }
};

// Throws: kConfig for values that no stage can have, what runtime::require_weights_place throws.
void validate(const StageConfig& stage);

// A model's configuration file: stage settings and the model's own.
template <typename ModelConfig>
struct TrainConfig {
  StageConfig stage;
  ModelConfig model;
  template <class V>
  void visit_fields(V& v) {
    v("stage", stage, "data, batch, schedule");
    v("model", model, "sizes of the model");
  }
};

// Reads --config, then lets the flags replace what they name.
template <typename ModelConfig>
TrainConfig<ModelConfig> read_train_config(const TrainArgs& args) {
  TrainConfig<ModelConfig> config;
  if (args.config.empty()) {
    fail(ExitCode::kUsage, "no configuration was given", "--config configs/codec.yaml");
  }
  read_config(args.config, config);
  if (!args.run.empty()) config.stage.run = args.run;
  if (!args.output.empty()) config.stage.output = args.output;
  if (!args.data.empty()) config.stage.data = args.data;
  if (!args.compute.empty()) config.stage.compute = from_name<Compute>(args.compute);
  if (!args.memory_limit.empty()) config.stage.loop.memory_limit = args.memory_limit;
  if (config.stage.run.empty() || config.stage.output.empty()) {
    fail(ExitCode::kConfig, args.config + ": stage.run and stage.output must be set");
  }
  validate(config.stage);
  return config;
}

// Runs the loop, writes output/config.json and its shards, prints the summary. Returns the exit
// code. `builds_on`: the parts of the weights that the batches are made with. `frozen`: buffers
// that the model takes from elsewhere (codebooks), set whatever --init says.
int run_stage(runtime::Session& session, nn::TrainSpec spec, const StageConfig& stage,
              Json model_config, const TrainArgs& args, const train::BatchSource& batches,
              const std::vector<std::string>& builds_on = {},
              std::vector<train::NamedTensor> frozen = {});

// Names of the presets that a folder of items was made of, in the order they take turns.
// Throws: what data::read_manifest throws.
std::vector<std::string> item_presets(const std::filesystem::path& folder);

// Training items and the codec's tokens of them.
struct TokenData {
  data::ItemFolder items;
  data::TokenTable tokens;
  data::ItemOrder order;
  // [K, E, D] of all channels together, for the models' "codebooks" buffer.
  runtime::HostTensor codebooks;
};
// Refers to the codec.
data::TokenEncoder token_encoder(const models::codec::CodecSession& codec);
TokenData open_tokens(runtime::Session& session, const StageConfig& stage);
// Throws: kConfig when what `whose` says of channels, books and latents is not so in the data.
void require_fits(const TokenData& data, const models::humming::CommonConfig& common,
                  const std::string& whose);
// codes, latents, melody, reference, reference frames as device-ready arrays.
std::vector<runtime::HostTensor> token_tensors(const data::TokenBatch& batch);
// The whole items of a step's batch, with the stage's augmentation.
data::TokenBatch stage_tokens(const TokenData& data, const StageConfig& stage, int64_t step);
data::ItemOrder training_order(const data::ItemFolder& items, const StageConfig& stage);

}  // namespace hum::app
