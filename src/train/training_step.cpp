#include "train/training_step.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/rng.h"
#include "base/threads.h"
#include "train/compile_step.h"

namespace hum::train {

using graph::DType;
using runtime::HostTensor;

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

void require_shape(const StateSlot& state, const std::string& name, const HostTensor& tensor) {
  const auto skipped = static_cast<std::ptrdiff_t>(state.names.size() > 1 ? 1 : 0);
  const graph::Dims dims(state.shape.dims.begin() + skipped, state.shape.dims.end());
  if (dims == tensor.shape().dims) return;
  fail(ExitCode::kBadData,
       fmt::format("tensor '{}' is {}, the model needs [{}]", name, tensor.shape(),
                   fmt::join(dims, ",")),
       "use the configuration that the file was made with");
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
      blocks_(options.blocks),
      step_(step_function(spec, config, options.blocks)),
      executable_(compile_step(session, spec, config, step_, options)),
      state_(step_.state.size()) {
  parallel_for(static_cast<int64_t>(state_.size()), compute_threads(), [&](int64_t i) {
    const auto slot = static_cast<size_t>(i);
    state_[slot] = session.to_device(initial_array(step_.state[slot], seed));
  });
}

void Trainer::append_inputs(std::vector<runtime::Tensor>& arguments, int64_t step,
                            std::array<uint32_t, 2> key, std::span<const HostTensor> batch) const {
  HUM_REQUIRE(batch.size() == spec_.batch.size(), "{}: the batch has {} arrays, not {}", spec_.name,
              batch.size(), spec_.batch.size());
  for (const HostTensor& array : batch) arguments.push_back(session_.to_device(array));
  arguments.push_back(session_.to_device(HostTensor::scalar(static_cast<int32_t>(step))));
  arguments.push_back(session_.to_device(HostTensor::of<uint32_t>({2}, {key[0], key[1]})));
}

Trainer::Result Trainer::run(int64_t step, std::span<const HostTensor> batch) {
  Result result;
  result.learning_rate = learning_rate_at(config_, step, total_steps_);
  const auto key = stream_key(seed_, spec_.name + "/step", static_cast<uint64_t>(step));
  std::vector<runtime::Tensor> arguments = state_;
  append_inputs(arguments, step, key, batch);
  arguments.push_back(
      session_.to_device(HostTensor::scalar(static_cast<float>(result.learning_rate))));
  state_.clear();
  std::vector<runtime::Tensor> results = executable_.run(arguments);
  for (auto i = step_.state.size(); i < results.size(); ++i) {
    result.scalars.push_back(session_.to_host(results[i]).as<float>()[0]);
  }
  results.resize(step_.state.size());
  state_ = std::move(results);
  return result;
}

Trainer::Validation Trainer::compile_validation() {
  const ValidationFunction function = validation_function(spec_, config_, blocks_);
  std::vector<size_t> slots;
  for (size_t i = 0; i < function.state.size(); ++i) {
    const auto slot = std::ranges::find(step_.state, function.state[i],
                                        [](const StateSlot& state) { return state.names[0]; });
    HUM_CHECK(slot != step_.state.end() && slot->shape == function.function.parameters[i].shape(),
              "{}: validation needs {} as {}, which the step does not keep", spec_.name,
              function.state[i], function.function.parameters[i].shape());
    slots.push_back(static_cast<size_t>(slot - step_.state.begin()));
  }
  return {session_.compile(function.function.name, function.function), std::move(slots),
          function.scalars};
}

Trainer::Scalars Trainer::validate(int64_t step, int64_t index, std::span<const HostTensor> batch) {
  if (!validation_) validation_ = compile_validation();
  std::vector<runtime::Tensor> arguments;
  for (const size_t slot : validation_->slots) arguments.push_back(state_[slot]);
  const auto key = stream_key(0, spec_.name + "/validation", static_cast<uint64_t>(index));
  append_inputs(arguments, step, key, batch);
  const auto results = validation_->program.run(arguments);
  Scalars scalars;
  for (size_t i = 0; i < results.size(); ++i) {
    scalars.emplace_back(validation_->scalars[i], session_.to_host(results[i]).as<float>()[0]);
  }
  return scalars;
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

std::vector<NamedTensor> Trainer::parameters() const { return parameters_from("p"); }
std::vector<NamedTensor> Trainer::released_parameters() const { return parameters_from("pe"); }

std::vector<NamedTensor> Trainer::parameters_from(std::string_view prefixes) const {
  std::vector<NamedTensor> tensors;
  for (const auto& parameter : spec_.parameters->all()) {
    tensors.push_back({parameter.name, HostTensor()});
  }
  for (size_t i = 0; i < state_.size(); ++i) {
    if (prefixes.find(step_.state[i].names[0][0]) == std::string_view::npos) continue;
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
  const auto put = [&](const std::string& name, const HostTensor& tensor) {
    const auto [slot, place] = places.at(name);
    const StateSlot& state = step_.state[slot];
    require_shape(state, name, tensor);
    if (!arrays.contains(slot)) arrays.emplace(slot, session_.to_host(state_[slot]));
    const auto part =
        HostTensor::from_floats(state.shape.dtype, tensor.shape().dims, tensor.to_floats());
    std::ranges::copy(part.bytes(), arrays.at(slot).bytes().begin() +
                                        static_cast<std::ptrdiff_t>(place * part.bytes().size()));
  };
  for (const auto& [name, tensor] : tensors) {
    const std::string own = whole ? name : "p." + name, mean = "e." + name;
    if (!places.contains(own)) {
      fail(ExitCode::kBadData, fmt::format("{} has no tensor '{}'", spec_.name, name),
           "the file belongs to another model or another configuration");
    }
    put(own, tensor);
    if (!whole && places.contains(mean)) put(mean, tensor);
  }
  for (const auto& [slot, array] : arrays) state_[slot] = session_.to_device(array);
  if (whole && tensors.size() != places.size()) {
    fail(ExitCode::kBadData,
         fmt::format("the checkpoint has {} of {} tensors", tensors.size(), places.size()));
  }
}

}  // namespace hum::train
