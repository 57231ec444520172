#include "cli/training.h"

#include <fstream>
#include <iostream>

#include "base/files.h"
#include "base/log.h"
#include "cli/stop.h"
#include "data/shards/manifest.h"

namespace hum::cli {

data::TokenEncoder token_encoder(const models::codec::CodecSession& codec) {
  return {.books = codec.config().quantizer.books,
          .fingerprint = codec.fingerprint(),
          .encode = [codec = &codec](std::span<const float> windows) {
            return codec->encode_windows(windows);
          }};
}

graph::DType dtype_of(Compute compute) {
  return compute == Compute::kBf16 ? graph::DType::kBF16 : graph::DType::kF32;
}

data::ItemOrder training_order(const data::ItemFolder& items, const StageConfig& stage) {
  const int64_t usable = items.size() - stage.held_out;
  if (usable < stage.batch) {
    fail(ExitCode::kBadData,
         fmt::format("{}: {} items leave {} to train on", stage.data, items.size(), usable),
         "make more items (hum data make --count) or lower stage.held_out");
  }
  return {0, usable, static_cast<uint64_t>(stage.loop.seed)};
}

std::vector<std::string> item_presets(const std::filesystem::path& folder) {
  return data::read_manifest(folder).options.at("items").at("presets");
}

TokenData open_tokens(runtime::Session& session, const StageConfig& stage) {
  const models::codec::CodecSession codec(session, stage.weights + "/codec");
  data::ItemFolder items(stage.data);
  data::TokenTable tokens(items, stage.data,
                          {.encoder = token_encoder(codec),
                           .entries = codec.config().quantizer.entries,
                           .latent = codec.config().latent,
                           .codebooks = codec.codebooks().to_floats()});
  auto order = training_order(items, stage);
  return {std::move(items), std::move(tokens), order, codec.codebooks()};
}

data::TokenBatch stage_tokens(const TokenData& data, const StageConfig& stage, int64_t step) {
  return data::token_batch(
      data.items, data.tokens, data.order, step, stage.batch, stage.batch,
      {.share = stage.token_replacement, .seed = static_cast<uint64_t>(stage.loop.seed)});
}

std::vector<runtime::HostTensor> token_tensors(const data::TokenBatch& batch) {
  using runtime::HostTensor;
  const auto items = static_cast<int64_t>(batch.reference_frames.size());
  auto shaped = [&](const auto& values, int64_t frames) {
    const auto width = static_cast<int64_t>(values.size()) / (items * frames);
    return HostTensor::of({items, frames, width}, std::span(values));
  };
  return {shaped(batch.codes, data::kItemFrames), shaped(batch.latents, data::kItemFrames),
          shaped(batch.melody, data::kItemFrames), shaped(batch.reference, data::kReferenceFrames),
          HostTensor::of({items}, std::span(batch.reference_frames))};
}

int run_stage(runtime::Session& session, nn::TrainSpec spec, const StageConfig& stage,
              Json model_config, const TrainArgs& args, const train::BatchSource& batches,
              std::vector<train::NamedTensor> frozen) {
  spec.train_only = stage.train_only;
  if (!spec.train_only.empty() && args.init.empty()) {
    fail(ExitCode::kUsage, "stage.train_only needs weights for what is not trained",
         "--init weights/");
  }
  std::vector<train::NamedTensor> initial;
  if (!args.init.empty()) {
    auto weights = runtime::read_weights(std::filesystem::path(args.init) / spec.name);
    for (auto& [name, tensor] : weights.tensors) initial.push_back({name, std::move(tensor)});
  }
  for (auto& tensor : frozen) initial.push_back(std::move(tensor));
  // What may change from one part of a run to the next, since no value depends on it, is left out.
  StageConfig recorded_stage = stage;
  Json recorded = to_json(recorded_stage);
  for (const char* field : {"recompute", "recompute_every", "memory_limit"}) {
    recorded["loop"].erase(field);
  }
  if (!stage.loop.stack_layers) recorded["loop"].erase("stack_layers");
  if (stage.loop.optimizer.weights == train::WeightsType::kF32) {
    recorded["loop"]["optimizer"].erase("weights");
  }
  const auto result = train::run_training(session, spec, stage.loop, batches,
                                          {.run = stage.run,
                                           .initial = std::move(initial),
                                           .config = {{"stage", recorded}, {"model", model_config}},
                                           .should_stop = [] { return stop_signal() != 0; }});
  if (stop_signal() != 0) {
    spdlog::warn("stopped at step {}; the same command goes on from there", result.steps_done);
    return 128 + stop_signal();
  }
  runtime::Weights weights{{{"model_type", "hum-" + spec.name}, {"model", model_config}}, {}};
  for (const auto& [name, tensor] : result.parameters) weights.tensors.emplace_back(name, tensor);
  runtime::write_weights(stage.output, weights);
  const std::string sha256 = runtime::shards_sha256(stage.output);
  std::ofstream(std::filesystem::path(stage.run) / "log.jsonl", std::ios::app)
      << Json{{"weights", stage.output}, {"sha256", sha256}, {"steps", result.steps_done}}.dump()
      << '\n';
  const Json summary = {
      {"model", spec.name},        {"steps", result.steps_done}, {"finished", result.finished},
      {"loss", result.final_loss}, {"seconds", result.seconds},  {"output", stage.output},
      {"sha256", sha256}};
  if (args.json) {
    std::cout << summary.dump() << std::endl;
  } else {
    std::cout << fmt::format("{}: {} steps, loss {:.4f}, {}; weights in {}\n", spec.name,
                             result.steps_done, result.final_loss, format_duration(result.seconds),
                             stage.output);
  }
  return 0;
}

}  // namespace hum::cli
