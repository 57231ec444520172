#include "train/step.h"

#include <algorithm>

#include "base/error.h"
#include "base/rng.h"
#include "base/threads.h"
#include "graph/ops.h"

namespace hum::train {

using graph::DType;
using graph::Value;
using runtime::HostTensor;

namespace {

std::vector<std::string> names_of_state(const nn::TrainSpec& spec) {
  std::vector<std::string> names;
  for (const auto& parameter : spec.parameters->all()) names.push_back("p." + parameter.name);
  for (const char* prefix : {"m.", "v."}) {
    for (const auto& parameter : spec.parameters->all()) {
      if (spec.trains(parameter)) names.push_back(prefix + parameter.name);
    }
  }
  return names;
}

// The parameter's value after the step: the optimizer's, the loss's buffer update, or unchanged.
Value updated_parameter(const nn::TrainSpec& spec, const nn::Parameter& parameter,
                        const nn::Loss& loss, const graph::Values& trained, size_t& next_trained) {
  if (spec.trains(parameter)) return trained[next_trained++];
  if (spec.is_frozen(parameter)) return parameter.value;
  for (const auto& [buffer, value] : loss.buffer_updates) {
    if (buffer == parameter.value) return value;
  }
  return parameter.value;
}

}  // namespace

StepFunction step_function(const nn::TrainSpec& spec, const OptimizerConfig& config) {
  const auto& all = spec.parameters->all();
  if (std::ranges::none_of(all, [&](const auto& parameter) { return spec.trains(parameter); })) {
    fail(ExitCode::kConfig,
         fmt::format("no parameter of {} begins with '{}'", spec.name, spec.train_only),
         "train_only takes the beginning of a dotted name, such as decoder.");
  }
  StepFunction result;
  graph::Function& function = result.function;
  function.name = spec.name + "/train";
  OptimizerState state;
  for (const auto& parameter : spec.parameters->all()) {
    if (!spec.trains(parameter)) continue;
    state.parameters.push_back(parameter.value);
    state.means.push_back(graph::parameter("m." + parameter.name, parameter.shape));
    state.squares.push_back(graph::parameter("v." + parameter.name, parameter.shape));
  }
  graph::Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  const Value step = graph::parameter("step", {DType::kI32, {}});
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  const Value rate = graph::parameter("learning_rate", {DType::kF32, {}});

  const nn::Loss loss = spec.loss(batch, {.step = step, .key = key});
  const graph::Values gradients = graph::gradients(loss.total, state.parameters);
  const Value count = convert(step, DType::kF32) + 1;
  const Update update = adamw(config, state, gradients, count, rate);

  function.parameters = spec.parameters->values();
  auto append = [](graph::Values& to, const graph::Values& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(function.parameters, state.means);
  append(function.parameters, state.squares);
  result.state_size = static_cast<int64_t>(function.parameters.size());
  append(function.parameters, batch);
  append(function.parameters, {step, key, rate});

  size_t next_trained = 0;
  for (const auto& parameter : spec.parameters->all()) {
    function.results.push_back(
        updated_parameter(spec, parameter, loss, update.state.parameters, next_trained));
  }
  append(function.results, update.state.means);
  append(function.results, update.state.squares);
  for (int i = 0; i < static_cast<int>(result.state_size); ++i) {
    function.donations.push_back({i, i});
  }
  result.scalars = {"loss", "gradient_norm"};
  append(function.results, {loss.total, update.gradient_norm});
  for (const auto& [name, value] : loss.metrics) {
    result.scalars.push_back(name);
    function.results.push_back(convert(value, DType::kF32));
  }
  return result;
}

Trainer::Trainer(runtime::Session& session, const nn::TrainSpec& spec,
                 const OptimizerConfig& config, int64_t total_steps, uint64_t seed)
    : session_(session),
      spec_(spec),
      config_(config),
      total_steps_(total_steps),
      seed_(seed),
      step_(step_function(spec, config)),
      executable_(session.compile(step_.function.name, step_.function, {.optimize_memory = true})),
      state_names_(names_of_state(spec)) {
  const auto& all = spec.parameters->all();
  std::vector<std::optional<runtime::Tensor>> initial(all.size());
  parallel_for(static_cast<int64_t>(all.size()), compute_threads(), [&](int64_t i) {
    const auto& parameter = all[static_cast<size_t>(i)];
    const std::vector<float> values = nn::initial_elements(parameter, seed);
    initial[static_cast<size_t>(i)] =
        session.to_device(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  });
  for (auto& tensor : initial) state_.push_back(std::move(*tensor));
  for (int copy = 0; copy < 2; ++copy) {
    for (const auto& parameter : spec.parameters->all()) {
      if (spec.trains(parameter)) state_.push_back(session.to_device(HostTensor(parameter.shape)));
    }
  }
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
  for (auto i = static_cast<size_t>(step_.state_size); i < results.size(); ++i) {
    result.scalars.push_back(session_.to_host(results[i]).as<float>()[0]);
  }
  results.resize(static_cast<size_t>(step_.state_size));
  state_ = std::move(results);
  return result;
}

std::vector<NamedTensor> Trainer::state() const {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < state_.size(); ++i) {
    tensors.push_back({state_names_[i], session_.to_host(state_[i])});
  }
  return tensors;
}

std::vector<NamedTensor> Trainer::parameters() const {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < spec_.parameters->all().size(); ++i) {
    tensors.push_back({state_names_[i].substr(2), session_.to_host(state_[i])});
  }
  return tensors;
}

void Trainer::load(std::span<const NamedTensor> tensors, bool whole) {
  size_t found = 0;
  for (const auto& [name, tensor] : tensors) {
    auto at = std::ranges::find(state_names_, whole ? name : "p." + name);
    if (at == state_names_.end()) {
      fail(ExitCode::kBadData, fmt::format("{} has no tensor '{}'", spec_.name, name),
           "the file belongs to another model or another configuration");
    }
    runtime::Tensor& slot = state_[static_cast<size_t>(at - state_names_.begin())];
    if (slot.shape().dims != tensor.shape().dims) {
      fail(ExitCode::kBadData,
           fmt::format("tensor '{}' is {}, the model wants {}", name, tensor.shape(), slot.shape()),
           "train with the configuration that the file was made with");
    }
    const std::vector<float> values = tensor.to_floats();
    slot = session_.to_device(HostTensor::of(tensor.shape().dims, std::span<const float>(values)));
    ++found;
  }
  if (whole && found != state_.size()) {
    fail(ExitCode::kBadData,
         fmt::format("the checkpoint has {} of {} tensors", found, state_.size()));
  }
}

}  // namespace hum::train
