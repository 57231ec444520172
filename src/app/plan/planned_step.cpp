#include "app/plan/planned_step.h"

#include <algorithm>
#include <filesystem>

#include "app/training/model_step.h"
#include "base/files.h"
#include "base/names.h"
#include "kernels/table.h"
#include "models/llama/model.h"
#include "plan/named_models.h"
#include "plan/step_memory.h"
#include "train/data_parallel.h"

namespace hum::app {
namespace {

models::llama::LlamaConfig named_llama(const std::string& name) {
  const std::filesystem::path path(name);
  if (is_folder(path)) return models::llama::from_hugging_face(read_json(path / "config.json"));
  if (path.extension() == ".json") return models::llama::from_hugging_face(read_json(path));
  const plan::Transformer shape = plan::named_model(name);
  if (!shape.gated) {
    fail(ExitCode::kUsage, fmt::format("{} is not a Llama, so hum does not train it", name),
         "hum plan --model predicts its memory with other software");
  }
  return llama_of(shape);
}

PlannedModel planned_llama(const std::string& name, const PlannedShape& shape) {
  const auto config = named_llama(name);
  const auto model = std::make_shared<const models::llama::Llama>(config);
  const auto compute = parse_name<Compute>(shape.compute.empty() ? "bf16" : shape.compute,
                                           ExitCode::kUsage, "--compute");
  const int64_t length = shape.seq > 0 ? shape.seq : config.positions;
  return {.model = model,
          .spec = model->train_spec({.batch = shape.batch > 0 ? shape.batch : 1,
                                     .frames = length,
                                     .compute = dtype_of(compute)})};
}

// All others are hum's configurations.
bool names_transformer(const std::string& name) {
  return plan::is_known_model(name) || names_hugging_face(name);
}

PlannedModel planned_configuration(const std::string& name, const PlannedShape& shape) {
  if (shape.seq > 0 || !shape.compute.empty()) {
    fail(ExitCode::kUsage, "--seq and --compute need a Llama",
         name + ": set them in its configuration (stage.frames, stage.compute)");
  }
  const auto path = find_configuration(name);
  if (!path) {
    fail(ExitCode::kUsage, fmt::format("no model '{}'", name),
         fmt::format("use one of {}, tiny, 385m, 10b, {}, a YAML file, or a Hugging Face folder",
                     models::trained_models(), plan::known_models()));
  }
  const ModelStep step = read_model_step(*path, shape.batch);
  return {step.model, step.spec, step.loop.optimizer, step.loop.step_options().blocks};
}

}  // namespace

bool names_hugging_face(const std::string& name) {
  return std::filesystem::path(name).extension() == ".json" || is_folder(name);
}

models::llama::LlamaConfig llama_of(const plan::Transformer& shape) {
  const bool gated = shape.gated;
  return {.transformer = {.layers = shape.layers,
                          .width = shape.hidden,
                          .heads = shape.heads,
                          .kv_heads = shape.key_value_heads(),
                          .feed_forward = shape.ffn_width(),
                          .norm = gated ? nn::NormKind::kRms : nn::NormKind::kLayer,
                          .activation = gated ? nn::Activation::kSwiGlu : nn::Activation::kGeluNew,
                          .bias = !gated},
          .vocabulary = shape.vocab,
          .tied = shape.tied_embeddings,
          .positions = shape.sequence};
}

plan::Memory step_memory(const nn::TrainSpec& spec, const train::OptimizerConfig& optimizer,
                         const nn::BlockOptions& blocks, int devices) {
  auto [step, gradients] = train::data_parallel_step(spec, optimizer, blocks, devices);
  const auto is_weight = [](const train::StateSlot& slot) {
    return slot.names[0].starts_with("p.");
  };
  const auto weights = static_cast<size_t>(std::ranges::count_if(step.state, is_weight));
  plan::TracedStep traced{std::move(step.function), weights, step.state.size() - weights,
                          gradients.size()};
  auto& results = traced.function.results;
  results.insert(results.end(), gradients.begin(), gradients.end());
  return plan::memory_per_device(traced, kernels::available);
}

PlannedModel planned_model(const std::string& name, const PlannedShape& shape) {
  PlannedModel planned =
      names_transformer(name) ? planned_llama(name, shape) : planned_configuration(name, shape);
  if (!shape.weights.empty())
    planned.optimizer.weights =
        parse_name<train::WeightsType>(shape.weights, ExitCode::kUsage, "--weights");
  return planned;
}

}  // namespace hum::app
