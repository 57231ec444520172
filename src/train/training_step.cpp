#include "train/training_step.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/rng.h"
#include "base/threads.h"
#include "graph/ops.h"
#include "train/compile_step.h"
#include "train/data_parallel.h"
#include "train/stacking.h"

namespace hum::train {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

namespace {

graph::Shape moment_shape(const ParameterSlot& slot) { return {DType::kF32, slot.value.dims()}; }

// All parameters, then the means and the squares of the trained ones.
std::vector<StateSlot> state_slots(const nn::TrainSpec& spec,
                                   const std::vector<ParameterSlot>& parameters) {
  std::vector<StateSlot> slots;
  for (const char* prefix : {"p.", "m.", "v."}) {
    const bool is_parameter = prefix[0] == 'p';
    for (const ParameterSlot& slot : parameters) {
      if (!is_parameter && !spec.trains(*slot.members[0])) continue;
      StateSlot& state = slots.emplace_back();
      state.shape = is_parameter ? slot.value.shape() : moment_shape(slot);
      for (const auto* member : slot.members) state.names.push_back(prefix + member->name);
      if (is_parameter) state.parameters = slot.members;
    }
  }
  return slots;
}

OptimizerState optimizer_state(const nn::TrainSpec& spec, const std::vector<ParameterSlot>& slots) {
  OptimizerState state;
  for (const ParameterSlot& slot : slots) {
    const nn::Parameter& first = *slot.members[0];
    if (!spec.trains(first)) continue;
    state.parameters.push_back(slot.value);
    state.means.push_back(graph::parameter("m." + first.name, moment_shape(slot)));
    state.squares.push_back(graph::parameter("v." + first.name, moment_shape(slot)));
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

}  // namespace

StepFunction step_function(const nn::TrainSpec& spec, const OptimizerConfig& config,
                           const nn::BlockOptions& blocks) {
  return data_parallel_step(spec, config, blocks, 1).step;
}

DataParallelStep data_parallel_step(const nn::TrainSpec& spec, const OptimizerConfig& config,
                                    const nn::BlockOptions& blocks, int devices) {
  const graph::Mesh mesh{.data = devices};
  const auto& all = spec.parameters->all();
  if (std::ranges::none_of(all, [&](const auto& parameter) { return spec.trains(parameter); })) {
    fail(ExitCode::kConfig,
         fmt::format("no parameter of {} begins with '{}'", spec.name, spec.train_only),
         "train_only is the beginning of a dotted name, such as decoder.");
  }
  graph::Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  const Value step = graph::parameter("step", {DType::kI32, {}});
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  const Value rate = graph::parameter("learning_rate", {DType::kF32, {}});
  const Value replica = graph::parameter("replica", {DType::kI32, {}});
  const Value own_key = devices > 1 ? graph::fold_in(key, replica) : key;
  StackedLoss stacked =
      stack_parameters(spec, spec.loss(batch, {.step = step, .key = own_key, .blocks = blocks}));
  if (config.weights == WeightsType::kBF16) stacked = narrow_parameters(spec, std::move(stacked));
  const auto& slots = stacked.slots;

  const OptimizerState state = optimizer_state(spec, slots);
  graph::Values found = graph::gradients(stacked.loss.total, trained_values(spec, slots));
  const graph::Values gradients = averaged(found, mesh);
  const nn::Loss loss = averaged(spec, stacked.loss, mesh);
  const Value count = convert(step, DType::kF32) + 1;
  const Update update = adamw(config, state, gradients, count, rate, key);

  StepFunction result;
  graph::Function& function = result.function;
  function.name = spec.name + "/train";
  result.state = state_slots(spec, slots);
  auto append = [](graph::Values& to, const graph::Values& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  size_t next_trained = 0;
  for (const ParameterSlot& slot : slots) {
    function.parameters.push_back(slot.value);
    function.results.push_back(
        updated_parameter(spec, slot, loss, update.state.parameters, next_trained));
  }
  append(function.parameters, state.means);
  append(function.parameters, state.squares);
  append(function.parameters, batch);
  append(function.parameters, {step, key, rate});
  if (devices > 1) function.parameters.push_back(replica);
  function.mesh = mesh;
  append(function.results, update.state.means);
  append(function.results, update.state.squares);
  for (int i = 0; i < static_cast<int>(result.state.size()); ++i) {
    function.donations.push_back({i, i});
  }
  result.scalars = {"loss", "gradient_norm"};
  append(function.results, {loss.total, update.gradient_norm});
  for (const auto& [name, value] : loss.metrics) {
    result.scalars.push_back(name);
    function.results.push_back(convert(value, DType::kF32));
  }
  if (devices > 1) append(found, gradients);
  return {std::move(result), found};
}

namespace {

// Splits a slot's array into named tensors.
std::vector<NamedTensor> taken_apart(const StateSlot& slot, const HostTensor& array) {
  if (slot.names.size() == 1) return {{slot.names[0], array}};
  std::vector<NamedTensor> parts;
  const graph::Shape shape{slot.shape.dtype, {slot.shape.dims.begin() + 1, slot.shape.dims.end()}};
  const auto size = static_cast<std::ptrdiff_t>(shape.bytes());
  auto begin = array.bytes().begin();
  for (const std::string& name : slot.names) {
    parts.push_back({name, HostTensor(shape, {begin, begin + size})});
    begin += size;
  }
  return parts;
}

HostTensor initial_array(const StateSlot& slot, uint64_t seed) {
  HostTensor array(graph::Shape{DType::kF32, slot.shape.dims});
  std::span<float> rest = array.as<float>();
  for (const auto* parameter : slot.parameters) {
    const auto count = static_cast<size_t>(parameter->shape.elements());
    nn::initial_elements(*parameter, seed, rest.first(count));
    rest = rest.subspan(count);
  }
  if (slot.shape.dtype == DType::kF32) return array;
  return HostTensor::from_floats(slot.shape.dtype, slot.shape.dims, array.as<float>());
}

}  // namespace

Trainer::Trainer(runtime::Session& session, const nn::TrainSpec& spec,
                 const OptimizerConfig& config, int64_t total_steps, uint64_t seed,
                 const StepOptions& options)
    : session_(session),
      spec_(spec),
      config_(config),
      total_steps_(total_steps),
      seed_(seed),
      step_(step_function(spec, config, options.blocks)),
      executable_(compile_step(session, spec, config, step_, options)),
      state_(step_.state.size()) {
  parallel_for(static_cast<int64_t>(state_.size()), compute_threads(), [&](int64_t i) {
    const auto slot = static_cast<size_t>(i);
    state_[slot] = session.to_device(initial_array(step_.state[slot], seed));
  });
}

Trainer::Result Trainer::run(int64_t step, std::span<const HostTensor> batch) {
  HUM_REQUIRE(batch.size() == spec_.batch.size(), "{}: the batch has {} arrays, not {}", spec_.name,
              batch.size(), spec_.batch.size());
  Result result;
  result.learning_rate = learning_rate_at(config_, step, total_steps_);
  const auto key = stream_key(seed_, spec_.name + "/step", static_cast<uint64_t>(step));
  std::vector<runtime::Tensor> arguments = std::move(state_);
  for (const HostTensor& array : batch) arguments.push_back(session_.to_device(array));
  arguments.push_back(session_.to_device(HostTensor::scalar(static_cast<int32_t>(step))));
  arguments.push_back(session_.to_device(HostTensor::of<uint32_t>({2}, {key[0], key[1]})));
  arguments.push_back(
      session_.to_device(HostTensor::scalar(static_cast<float>(result.learning_rate))));
  std::vector<runtime::Tensor> results = executable_.run(arguments);
  for (auto i = step_.state.size(); i < results.size(); ++i) {
    result.scalars.push_back(session_.to_host(results[i]).as<float>()[0]);
  }
  results.resize(step_.state.size());
  state_ = std::move(results);
  return result;
}

std::vector<NamedTensor> Trainer::state() const {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < state_.size(); ++i) {
    for (auto& part : taken_apart(step_.state[i], session_.to_host(state_[i]))) {
      tensors.push_back(std::move(part));
    }
  }
  return tensors;
}

std::vector<NamedTensor> Trainer::parameters() const {
  std::vector<NamedTensor> tensors;
  for (const auto& parameter : spec_.parameters->all()) {
    tensors.push_back({parameter.name, HostTensor()});
  }
  for (size_t i = 0; i < state_.size(); ++i) {
    if (step_.state[i].parameters.empty()) continue;
    for (auto& part : taken_apart(step_.state[i], session_.to_host(state_[i]))) {
      std::ranges::find(tensors, part.name.substr(2), &NamedTensor::name)->tensor =
          std::move(part.tensor);
    }
  }
  return tensors;
}

void Trainer::load(std::span<const NamedTensor> tensors, bool whole) {
  std::unordered_map<std::string, std::pair<size_t, size_t>> places;  // slot, index in it
  for (size_t slot = 0; slot < step_.state.size(); ++slot) {
    const auto& names = step_.state[slot].names;
    for (size_t i = 0; i < names.size(); ++i) places[names[i]] = {slot, i};
  }
  std::map<size_t, HostTensor> arrays;  // those that change
  for (const auto& [name, tensor] : tensors) {
    const auto at = places.find(whole ? name : "p." + name);
    if (at == places.end()) {
      fail(ExitCode::kBadData, fmt::format("{} has no tensor '{}'", spec_.name, name),
           "the file belongs to another model or another configuration");
    }
    const auto [slot, place] = at->second;
    const StateSlot& state = step_.state[slot];
    const auto skipped = static_cast<std::ptrdiff_t>(state.names.size() > 1 ? 1 : 0);
    if (const graph::Dims dims(state.shape.dims.begin() + skipped, state.shape.dims.end());
        dims != tensor.shape().dims) {
      fail(ExitCode::kBadData,
           fmt::format("tensor '{}' is {}, the model needs [{}]", name, tensor.shape(),
                       fmt::join(dims, ",")),
           "use the configuration that the file was made with");
    }
    if (!arrays.contains(slot)) arrays.emplace(slot, session_.to_host(state_[slot]));
    const auto part =
        HostTensor::from_floats(state.shape.dtype, tensor.shape().dims, tensor.to_floats());
    std::ranges::copy(part.bytes(), arrays.at(slot).bytes().begin() +
                                        static_cast<std::ptrdiff_t>(place * part.bytes().size()));
  }
  for (const auto& [slot, array] : arrays) state_[slot] = session_.to_device(array);
  if (whole && tensors.size() != places.size()) {
    fail(ExitCode::kBadData,
         fmt::format("the checkpoint has {} of {} tensors", tensors.size(), places.size()));
  }
}

}  // namespace hum::train
