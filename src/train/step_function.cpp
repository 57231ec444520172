#include "train/step_function.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/rng.h"
#include "graph/ops.h"
#include "train/data_parallel.h"
#include "train/stacking.h"

namespace hum::train {

using graph::DType;
using graph::Value;

namespace {

graph::Shape wide_shape(const ParameterSlot& slot) { return {DType::kF32, slot.value.dims()}; }

bool is_muons(const OptimizerConfig& config, const ParameterSlot& slot) {
  return config.kind == OptimizerKind::kMuon && slot.members[0]->hidden;
}

// The kinds of arrays that a step keeps of a parameter, by the prefix of their names.
std::string prefixes_of(const nn::TrainSpec& spec, const OptimizerConfig& config,
                        const ParameterSlot& slot) {
  if (!spec.trains(*slot.members[0])) return "p";
  return std::string(is_muons(config, slot) ? "pm" : "pmv") + (config.ema > 0 ? "e" : "");
}

// All parameters, then the means, squares and running means of the trained ones.
std::vector<StateSlot> state_slots(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                   const std::vector<ParameterSlot>& parameters) {
  std::vector<StateSlot> slots;
  for (const char prefix : {'p', 'm', 'v', 'e'}) {
    for (const ParameterSlot& slot : parameters) {
      if (prefixes_of(spec, config, slot).find(prefix) == std::string::npos) continue;
      StateSlot& state = slots.emplace_back();
      state.shape = prefix == 'p' ? slot.value.shape() : wide_shape(slot);
      for (const auto* member : slot.members) {
        state.names.push_back(fmt::format("{}.{}", prefix, member->name));
      }
      if (prefix == 'p' || prefix == 'e') state.parameters = slot.members;
    }
  }
  return slots;
}

OptimizerState optimizer_state(const nn::TrainSpec& spec, const OptimizerConfig& config,
                               const std::vector<ParameterSlot>& slots) {
  OptimizerState state;
  for (const ParameterSlot& slot : slots) {
    const nn::Parameter& first = *slot.members[0];
    if (!spec.trains(first)) continue;
    const auto array = [&](const char* prefix) {
      return graph::parameter(prefix + first.name, wide_shape(slot));
    };
    state.parameters.push_back(slot.value);
    state.means.push_back(array("m."));
    state.squares.push_back(is_muons(config, slot) ? Value() : array("v."));
    if (config.ema > 0) state.averages.push_back(array("e."));
    state.stacked.push_back(slot.is_stack() ? 1 : 0);
    auto& streams = state.streams.emplace_back();
    for (const auto* member : slot.members) streams.push_back(stream_key(0, member->name, 0)[0]);
  }
  return state;
}

graph::Values trained_values(const nn::TrainSpec& spec, const std::vector<ParameterSlot>& slots) {
  graph::Values values;
  for (const ParameterSlot& slot : slots) {
    if (spec.trains(*slot.members[0])) values.push_back(slot.read);
  }
  return values;
}

// The parameter's value after the step: from the optimizer, the loss's buffer update, or unchanged.
Value updated_parameter(const nn::TrainSpec& spec, const ParameterSlot& slot, const nn::Loss& loss,
                        const graph::Values& trained, size_t& next_trained) {
  const nn::Parameter& parameter = *slot.members[0];
  if (spec.trains(parameter)) return trained[next_trained++];
  if (spec.is_frozen(parameter)) return parameter.value;
  for (const auto& [buffer, value] : loss.buffer_updates) {
    if (buffer == parameter.value) return value;
  }
  return parameter.value;
}

void require_trained(const nn::TrainSpec& spec, const OptimizerConfig& config) {
  const auto& all = spec.parameters->all();
  const auto trains = [&](const nn::Parameter& parameter) { return spec.trains(parameter); };
  if (std::ranges::none_of(all, trains)) {
    fail(ExitCode::kConfig,
         fmt::format("no parameter of {} begins with '{}'", spec.name, spec.train_only),
         "train_only is the beginning of a dotted name, such as decoder.");
  }
  const auto is_hidden = [&](const nn::Parameter& p) { return trains(p) && p.hidden; };
  if (config.kind == OptimizerKind::kMuon && std::ranges::none_of(all, is_hidden)) {
    fail(ExitCode::kConfig,
         fmt::format("optimizer.kind is muon, but {} trains no hidden matrix", spec.name),
         "use optimizer: {kind: adamw}");
  }
}

// Appends the values that are present: Muon's matrices have no squares.
void append(graph::Values& to, const graph::Values& from) {
  std::ranges::copy_if(from, std::back_inserter(to),
                       [](const Value& value) { return static_cast<bool>(value); });
}

graph::Values batch_parameters(const nn::TrainSpec& spec) {
  graph::Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  return batch;
}

void append_metrics(const nn::Loss& loss, graph::Values& results,
                    std::vector<std::string>& scalars) {
  for (const auto& [name, value] : loss.metrics) {
    scalars.push_back(name);
    results.push_back(convert(value, DType::kF32));
  }
}

}  // namespace

StepFunction step_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                           const nn::BlockOptions& blocks) {
  return data_parallel_step(spec, config, blocks, 1).step;
}

DataParallelStep data_parallel_step(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                    const nn::BlockOptions& blocks, int devices) {
  const graph::Mesh mesh{.data = devices};
  require_trained(spec, config);
  const graph::Values batch = batch_parameters(spec);
  const Value step = graph::parameter("step", {DType::kI32, {}});
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  const Value rate = graph::parameter("learning_rate", {DType::kF32, {}});
  const Value replica = graph::parameter("replica", {DType::kI32, {}});
  const Value own_key = devices > 1 ? graph::fold_in(key, replica) : key;
  StackedLoss stacked =
      stack_parameters(spec, spec.loss(batch, {.step = step, .key = own_key, .blocks = blocks}));
  if (config.weights == WeightsType::kBF16) stacked = narrow_parameters(spec, std::move(stacked));
  const auto& slots = stacked.slots;

  const OptimizerState state = optimizer_state(spec, config, slots);
  graph::Values found = graph::gradients(stacked.loss.total, trained_values(spec, slots));
  const graph::Values gradients = averaged(found, mesh);
  const nn::Loss loss = averaged(spec, stacked.loss, mesh);
  const Value count = convert(step, DType::kF32) + 1;
  const Update update = optimizer_update(config, state, gradients, count, rate, key);

  StepFunction result;
  graph::Function& function = result.function;
  function.name = spec.name + "/train";
  result.state = state_slots(spec, config, slots);
  size_t next_trained = 0;
  for (const ParameterSlot& slot : slots) {
    function.parameters.push_back(slot.value);
    function.results.push_back(
        updated_parameter(spec, slot, loss, update.state.parameters, next_trained));
  }
  for (const auto* values : {&state.means, &state.squares, &state.averages, &batch}) {
    append(function.parameters, *values);
  }
  append(function.parameters, {step, key, rate});
  if (devices > 1) function.parameters.push_back(replica);
  function.mesh = mesh;
  for (const auto* values : {&update.state.means, &update.state.squares, &update.state.averages}) {
    append(function.results, *values);
  }
  for (int i = 0; i < static_cast<int>(result.state.size()); ++i) {
    function.donations.push_back({i, i});
  }
  result.scalars = {"loss", "gradient_norm"};
  append(function.results, {loss.total, update.gradient_norm});
  append_metrics(loss, function.results, result.scalars);
  if (devices > 1) append(found, gradients);
  return {std::move(result), found};
}

ValidationFunction validation_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                       const nn::BlockOptions& blocks) {
  const graph::Values batch = batch_parameters(spec);
  const Value step = graph::parameter("step", {DType::kI32, {}});
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  const nn::BlockOptions forward = {.stack_layers = blocks.stack_layers};
  StackedLoss stacked = stack_parameters(
      spec, spec.loss(batch, {.step = step, .key = key, .blocks = forward, .is_training = false}));
  const bool averages = config.ema > 0;  // f32 whatever the weights' type
  if (config.weights == WeightsType::kBF16 && !averages) {
    stacked = narrow_parameters(spec, std::move(stacked));
  }
  ValidationFunction result;
  graph::Function& function = result.function;
  function.name = spec.name + "/validate";
  for (const ParameterSlot& slot : stacked.slots) {
    const nn::Parameter& first = *slot.members[0];
    function.parameters.push_back(slot.value);
    result.state.push_back((averages && spec.trains(first) ? "e." : "p.") + first.name);
  }
  append(function.parameters, batch);
  append(function.parameters, {step, key});
  result.scalars = {"loss"};
  function.results = {stacked.loss.total};
  append_metrics(stacked.loss, function.results, result.scalars);
  return result;
}

}  // namespace hum::train
