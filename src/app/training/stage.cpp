#include "app/training/stage.h"

#include <cmath>
#include <fstream>
#include <iostream>

#include "app/stop.h"
#include "base/files.h"
#include "base/log.h"
#include "data/shards/manifest.h"
#include "kernels/cpu_features.h"
#include "models/codec/code_vectors.h"
#include "models/weights_folder.h"

namespace hum::app {

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

void validate(const StageConfig& stage) {
  const std::tuple<const char*, int64_t, int64_t> least_values[] = {
      {"batch", stage.batch, 1}, {"frames", stage.frames, 1}, {"held_out", stage.held_out, 0}};
  for (const auto& [name, value, least] : least_values) {
    if (value >= least) continue;
    fail(ExitCode::kConfig, fmt::format("stage.{} is {}", name, value),
         fmt::format("give {} or more", least));
  }
  if (stage.frames > data::kItemFrames) {
    fail(ExitCode::kConfig, fmt::format("stage.frames {} are longer than an item", stage.frames),
         fmt::format("give {} or less", data::kItemFrames));
  }
  runtime::require_weights_place(stage.output);
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
  const models::codec::CodecSession codec(session, models::weights_part(stage.weights, "codec"));
  data::ItemFolder items(stage.data);
  const int64_t channels = audio::channel_count(items.channels());
  auto codebooks = models::codec::side_by_side(codec.codebooks(), channels);
  data::TokenTable tokens(items, stage.data,
                          {.encoder = token_encoder(codec),
                           .entries = codec.config().quantizer.entries,
                           .latent = channels * codec.config().latent,
                           .codebooks = codebooks.to_floats()});
  auto order = training_order(items, stage);
  return {std::move(items), std::move(tokens), order, std::move(codebooks)};
}

void require_fits(const TokenData& data, const models::humming::CommonConfig& common,
                  const std::string& whose) {
  const auto& tokens = data.tokens;
  if (common.channels == tokens.channels() && common.books == tokens.books() &&
      common.latent == tokens.latent()) {
    return;
  }
  const auto described = [](audio::Channels channels, int64_t books, int64_t latent) {
    return fmt::format("{{channels: {}, books: {}, latent: {}}}", to_name(channels), books, latent);
  };
  const std::string wanted = described(tokens.channels(), tokens.books(), tokens.latent());
  fail(ExitCode::kConfig,
       fmt::format("{} is {}, the items with this codec are {}", whose,
                   described(common.channels, common.books, common.latent), wanted),
       "train on other items, or a model with common: " + wanted);
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

namespace {

// A stage as a run's checkpoints know it: what may change from one part of a run to the next, since
// no value depends on it, is left out.
Json recorded(StageConfig stage) {
  Json result = to_json(stage);
  for (const char* field : {"run", "output"}) result.erase(field);
  for (const char* field : {"recompute", "recompute_every", "memory_limit", "max_minutes",
                            "log_every", "checkpoint_every"}) {
    result["loop"].erase(field);
  }
  if (!stage.loop.stack_layers) result["loop"].erase("stack_layers");
  if (stage.loop.optimizer.weights == train::WeightsType::kF32) {
    result["loop"]["optimizer"].erase("weights");
  }
  return result;
}

// Mono models are those of releases that knew no other.
Json recorded_model(Json config) {
  const bool is_mono = config.contains("common") && config["common"]["channels"] == "mono";
  if (is_mono) config["common"].erase("channels");
  return config;
}

// What a run learns from: a resumed one must not go on with other items or other weights under it.
Json learned_from(const StageConfig& stage, const std::vector<std::string>& builds_on) {
  const data::ItemFolder items(stage.data);
  Json result = {{"items", items.fingerprint()}, {"count", items.size()}};
  for (const std::string& part : builds_on) {
    const auto folder = models::weights_part(stage.weights, part);
    if (std::filesystem::exists(folder)) result[part] = runtime::shards_sha256(folder);
  }
  return result;
}

// A processor that has no bf16 products converts before each of them.
void advise_on_compute(const runtime::Session& session, Compute compute) {
  const bool converts =
      session.platform() == "cpu" && kernels::chosen_isa() < kernels::Isa::kAvx512Bf16;
  if (converts && compute == Compute::kBf16) {
    spdlog::info("this processor does not multiply bf16: --compute f32 is faster here");
  }
}

}  // namespace

int run_stage(runtime::Session& session, nn::TrainSpec spec, const StageConfig& stage,
              Json model_config, const TrainArgs& args, const train::BatchSource& batches,
              const std::vector<std::string>& builds_on, std::vector<train::NamedTensor> frozen) {
  model_config = recorded_model(std::move(model_config));
  advise_on_compute(session, stage.compute);
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
  const auto result =
      train::run_training(session, spec, stage.loop, batches,
                          {.run = stage.run,
                           .initial = std::move(initial),
                           .config = {{"stage", recorded(stage)},
                                      {"model", model_config},
                                      {"learned_from", learned_from(stage, builds_on)}},
                           .should_stop = [] { return stop_signal() != 0; }});
  if (stop_signal() != 0) {
    spdlog::warn("stopped at step {}; the same command goes on from there", result.steps_done);
    return 128 + stop_signal();
  }
  if (!result.finished) {
    fail(ExitCode::kTemporary,
         fmt::format("loop.max_minutes are over at step {} of {}; no weights were written",
                     result.steps_done, stage.loop.steps),
         "the same command goes on from there");
  }
  runtime::Weights weights{{{"model_type", "hum-" + spec.name}, {"model", model_config}}, {}};
  for (const auto& [name, tensor] : result.parameters) weights.tensors.emplace_back(name, tensor);
  runtime::write_weights(stage.output, weights);
  const std::string sha256 = runtime::shards_sha256(stage.output);
  std::ofstream(std::filesystem::path(stage.run) / "log.jsonl", std::ios::app)
      << to_text({{"weights", stage.output}, {"sha256", sha256}, {"steps", result.steps_done}})
      << '\n';
  const Json summary = {
      {"model", spec.name},        {"steps", result.steps_done}, {"finished", result.finished},
      {"loss", result.final_loss}, {"seconds", result.seconds},  {"output", stage.output},
      {"sha256", sha256}};
  if (args.json) {
    print_json(summary);
  } else {
    const std::string loss =
        std::isfinite(result.final_loss) ? fmt::format("loss {:.4f}, ", result.final_loss) : "";
    std::cout << fmt::format("{}: {} steps, {}{}; weights in {}\n", spec.name, result.steps_done,
                             loss, format_duration(result.seconds), stage.output);
  }
  return 0;
}

}  // namespace hum::app
