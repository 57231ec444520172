#include "app/training/train.h"

#include <cmath>
#include <fstream>

#include "app/session_options.h"
#include "app/stop.h"
#include "app/training/inputs.h"
#include "base/fields_json.h"
#include "base/log.h"
#include "base/names.h"
#include "data/shards/item_folder.h"
#include "data/synthesis/excitation.h"
#include "kernels/cpu_features.h"
#include "models/humming/melody_columns.h"
#include "models/weights_folder.h"
#include "runtime/weights.h"

namespace hum::app {

namespace fs = std::filesystem;

namespace {

// Applies the options to the configuration. Throws what train() throws.
void apply(const TrainOptions& options, ModelConfiguration& configuration) {
  const models::ModelRow& row = *configuration.row;
  if (row.input == models::TrainingInput::kNone) {
    fail(ExitCode::kUsage, fmt::format("hum does not train {}", row.name),
         "use one of " + models::trained_models());
  }
  StageConfig& stage = configuration.stage;
  if (!options.run.empty()) stage.run = options.run;
  if (!options.output.empty()) stage.output = options.output;
  if (!options.data.empty()) stage.data = options.data;
  if (!options.compute.empty()) {
    stage.compute = parse_name<Compute>(options.compute, ExitCode::kUsage, "--compute");
  }
  if (!options.memory_limit.empty()) stage.loop.memory_limit = options.memory_limit;
  if (stage.run.empty() || stage.output.empty()) {
    fail(ExitCode::kConfig,
         configuration.path.string() + ": stage.run and stage.output must be set",
         "--run runs/my-run --output weights/my-weights");
  }
  if (!stage.train_only.empty() && options.init.empty()) {
    fail(ExitCode::kUsage, "stage.train_only needs weights for the other parameters",
         "--init weights/");
  }
}

// The fields of a stage that identify a run in its checkpoints. Fields that no value depends on are
// left out, so they may change when a run resumes.
Json recorded(StageConfig stage) {
  Json result = to_json(stage);
  for (const char* field : {"run", "output"}) result.erase(field);
  for (const char* field :
       {"recompute", "recompute_every", "memory_limit", "max_minutes", "log_every",
        "checkpoint_every", "validate_every", "validation_batches"}) {
    result["loop"].erase(field);
  }
  if (stage.weights.empty()) result["weights"] = "weights";  // as earlier releases recorded it
  if (stage.targets == Targets::kTokens) result.erase("targets");
  if (!stage.loop.stack_layers) result["loop"].erase("stack_layers");
  // Earlier releases had none of these.
  const auto& used = stage.loop.optimizer;
  Json& optimizer = result["loop"]["optimizer"];
  if (used.weights == train::WeightsType::kF32) optimizer.erase("weights");
  if (used.kind == train::OptimizerKind::kAdamW) {
    for (const char* field : {"kind", "muon"}) optimizer.erase(field);
  }
  if (used.schedule == train::Schedule::kCosine) {
    for (const char* field : {"schedule", "decay_share"}) optimizer.erase(field);
  }
  if (used.ema == 0) optimizer.erase("ema");
  return result;
}

// Leaves out what configurations of earlier releases, in which it was always so, did not have.
Json recorded_model(Json config) {
  const bool is_mono = config.contains("common") && config["common"]["channels"] == "mono";
  if (is_mono) config["common"].erase("channels");
  if (config.value("timbre", "") == "pooled") config.erase("timbre");
  if (config.value("phase_latent", -1) == 0) {
    for (const char* field : {"phase_latent", "phase_books", "phase_width", "phase_blocks"}) {
      config.erase(field);
    }
  }
  const Json earlier = {{"consistency_weight", 0.0},
                        {"floor_db", 60.0},
                        {"excitation_tail_s", data::kExcitationTail_s},
                        {"free_branch", false},
                        {"free_low_bins", 0},
                        {"onset_weight", 0.0},
                        {"draft_follows_timbre", false}};
  for (const auto& [field, value] : earlier.items()) {
    if (config.contains(field) && config[field] == value) config.erase(field);
  }
  return config;
}

// Identifies the data of a run: it must not resume with other items or other weights.
Json learned_from(const StageConfig& stage, const std::vector<std::string>& builds_on) {
  const data::ItemFolder items(stage.data);
  Json result = {{"items", items.fingerprint()}, {"count", items.size()}};
  for (const std::string& part : builds_on) {
    const auto folder = models::weights_part(weights_of(stage), part);
    if (std::filesystem::exists(folder)) result[part] = runtime::shards_sha256(folder);
  }
  return result;
}

void say_if_not_validated(const StageConfig& stage) {
  if (stage.loop.validate_every == 0 || stage.held_out > 0) return;
  spdlog::info(
      "stage.held_out is 0: there are no items to validate on, so the log has no "
      "validation loss");
}

// A processor without bf16 products converts the operands of each product.
void advise_on_compute(const runtime::Session& session, Compute compute) {
  const bool converts =
      session.platform() == "cpu" && kernels::chosen_isa() < kernels::Isa::kAvx512Bf16;
  if (converts && compute == Compute::kBf16) {
    spdlog::info("this processor has no bf16 products: --compute f32 is faster here");
  }
}

// The weights in `init` that a training of the model starts from.
runtime::Weights weights_to_start_from(const fs::path& init, const models::ModelRow& row,
                                       const models::AnyModel& model) {
  if (!row.starts_from || fs::exists(init / row.name) || !fs::exists(init / *row.starts_from)) {
    return runtime::read_weights(init / row.name);
  }
  spdlog::info("{} has no {}: starting from its {}", init.string(), row.name, *row.starts_from);
  auto weights = runtime::read_weights(init / *row.starts_from);
  const auto& own = model.parameters().all();
  std::erase_if(weights.tensors, [&](const auto& tensor) {
    return std::ranges::find(own, tensor.first, &nn::Parameter::name) == own.end();
  });
  return weights;
}

// The weights to start from, and the buffers that other models supply in any case.
std::vector<train::NamedTensor> initial_tensors(const TrainOptions& options,
                                                const models::ModelRow& row,
                                                const models::AnyModel& model,
                                                std::vector<train::NamedTensor> frozen) {
  std::vector<train::NamedTensor> initial;
  if (!options.init.empty()) {
    auto weights = weights_to_start_from(options.init, row, model);
    const Json config = model.config();
    if (config.contains("common")) {
      models::humming::widen_for_features(weights, config.at("common").at("melody_features"));
    }
    for (auto& [name, tensor] : weights.tensors) initial.push_back({name, std::move(tensor)});
  }
  for (auto& tensor : frozen) initial.push_back(std::move(tensor));
  return initial;
}

// Writes the weights, and adds their SHA-256 to the run's log.
TrainReport write_trained(const models::ModelRow& row, const StageConfig& stage,
                          const Json& model_config, const train::LoopResult& result) {
  runtime::Weights weights{
      {{"model_type", fmt::format("hum-{}", row.name)}, {"model", model_config}}, {}};
  for (const auto& [name, tensor] : result.parameters) weights.tensors.emplace_back(name, tensor);
  runtime::write_weights(stage.output, weights);
  const std::string sha256 = runtime::shards_sha256(stage.output);
  std::ofstream(std::filesystem::path(stage.run) / "log.jsonl", std::ios::app)
      << to_text({{"weights", stage.output}, {"sha256", sha256}, {"steps", result.steps_done}})
      << '\n';
  return {.summary = {{"model", row.name},
                      {"steps", result.steps_done},
                      {"finished", result.finished},
                      {"loss", result.final_loss},
                      {"validation_loss", result.validation_loss},
                      {"seconds", result.seconds},
                      {"output", stage.output},
                      {"sha256", sha256}}};
}

}  // namespace

TrainReport train(ModelConfiguration configuration, const TrainOptions& options) {
  apply(options, configuration);
  const models::ModelRow& row = *configuration.row;
  const Json identity = recorded(configuration.stage);
  // A run may move with HUM_RUNS, so its folder is not part of what it is.
  expand_paths(configuration.stage);
  const StageConfig& stage = configuration.stage;
  validate(stage);
  fill_in_classes(configuration, [&] { return item_presets(stage.data); });
  runtime::Session session(session_options());
  const auto model = configuration.make();
  auto spec = model->train_spec(configuration.step_shape());
  spec.train_only = stage.train_only;
  auto input = open_input({session, configuration, *model, spec});
  advise_on_compute(session, stage.compute);
  say_if_not_validated(stage);
  const Json model_config = recorded_model(model->config());
  const auto result = train::run_training(
      session, spec, stage.loop, input.batches,
      {.run = stage.run,
       .initial = initial_tensors(options, row, *model, std::move(input.frozen)),
       .config = {{"stage", identity},
                  {"model", model_config},
                  {"learned_from", learned_from(stage, input.builds_on)}},
       .should_stop = [] { return stop_signal() != 0; },
       .held_out = std::move(input.held_out)});
  if (stop_signal() != 0) {
    spdlog::warn("stopped at step {}; to resume, repeat the command", result.steps_done);
    return {.stop_signal = stop_signal()};
  }
  if (!result.finished) {
    fail(ExitCode::kTemporary,
         fmt::format("loop.max_minutes passed at step {} of {}; no weights were written",
                     result.steps_done, stage.loop.steps),
         "to resume, repeat the command");
  }
  return write_trained(row, stage, model_config, result);
}

}  // namespace hum::app
