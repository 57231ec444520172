#include "app/training/train.h"

#include <cmath>
#include <fstream>
#include <optional>

#include "app/session_options.h"
#include "app/stop.h"
#include "app/training/inputs.h"
#include "app/training/trained_weights.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "base/log.h"
#include "base/names.h"
#include "data/shards/item_folder.h"
#include "kernels/cpu_features.h"
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
       {"recompute", "recompute_every", "memory_limit", "max_minutes", "log_every", "batches_ahead",
        "checkpoint_every", "validate_every", "validation_batches"}) {
    result["loop"].erase(field);
  }
  if (stage.weights.empty()) result["weights"] = "weights";  // as earlier releases recorded it
  if (stage.targets == Targets::kTokens) result.erase("targets");
  if (stage.copied_share == 0) result.erase("copied_share");
  if (stage.recorded_share == 0) result.erase("recorded_share");
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

// Writes the weights, and adds their SHA-256 to the run's log.
TrainReport write_trained(const models::ModelRow& row, const StageConfig& stage,
                          const Json& model_config, const train::LoopResult& result) {
  const std::string sha256 =
      write_model_weights(row, stage.output, model_config, result.parameters);
  std::ofstream(fs::path(stage.run) / "log.jsonl", std::ios::app)
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
  std::optional<EndsAtOnce> nothing_to_save(std::in_place);
  apply(options, configuration);
  const models::ModelRow& row = *configuration.row;
  const Json identity = recorded(configuration.stage);
  // A run may move with HUM_RUNS, so its folder is not part of what it is.
  expand_paths(configuration.stage);
  const StageConfig& stage = configuration.stage;
  validate(stage);
  configuration.check();
  require_places(row, stage.output);
  fill_in_classes(configuration, [&] { return item_presets(stage.data); });
  runtime::Session session(session_options());
  const auto model = configuration.make();
  auto spec = model->train_spec(configuration.step_shape());
  spec.train_only = stage.train_only;
  auto input = open_input({session, configuration, *model, spec});
  advise_on_compute(session, stage.compute);
  say_if_not_validated(stage);
  const Json model_config = recorded_model(row, model->config());
  const std::string init = with_runs_folder(options.init);
  const auto result =
      train::run_training(session, spec, stage.loop, input.batches,
                          {.run = stage.run,
                           .initial = initial_tensors(init, row, *model, std::move(input.frozen)),
                           .config = {{"stage", identity},
                                      {"model", model_config},
                                      {"learned_from", learned_from(stage, input.builds_on)}},
                           .before_first_step = [&] { nothing_to_save.reset(); },
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
