// The interface between models and the code that runs them: train, eval, plan and serve use only
// these types.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/shape.h"
#include "graph/value.h"
#include "nn/blocks.h"
#include "nn/parameters.h"

namespace hum::nn {

// One array of a training batch or of a program's inputs, in call order.
struct Field {
  std::string name;
  graph::Shape shape;
};

// The inputs of a loss besides its batch.
struct StepInputs {
  // i32 scalar, 0 at the first step. Like the key, a program input, never a constant.
  graph::Value step;
  // u32[2]: the key for this step's random numbers.
  graph::Value key;
  BlockOptions blocks = {};
  // False for validation: nothing is left out at random.
  bool is_training = true;
};

struct Loss {
  // f32 scalar to minimise.
  graph::Value total;
  // f32 scalars to log with the loss.
  std::vector<std::pair<std::string, graph::Value>> metrics;
  // New contents of buffers: {placeholder, new value}.
  std::vector<std::pair<graph::Value, graph::Value>> buffer_updates;
};

// Sizes of a training step that the model does not choose. Each model reads those that apply to its
// batch and ignores the others.
struct StepShape {
  int64_t batch = 1;
  int64_t samples = 0;           // of an audio crop
  int64_t frames = 0;            // of a whole item; tokens of a text
  int64_t reference_frames = 0;  // of a timbre reference
  graph::DType compute = graph::DType::kF32;
};

// How a model is trained: its batch and its loss. `parameters` must outlive the spec.
struct TrainSpec {
  std::string name;
  const ParameterList* parameters = nullptr;
  std::vector<Field> batch;
  std::function<Loss(std::span<const graph::Value> batch, const StepInputs& step)> loss;
  // Audio seconds (or tokens) in one batch, for the progress line.
  double units_per_batch = 0;
  std::string unit = "audio s";
  // Prefix of the names of the parameters to train; the others and their buffers do not change.
  // Empty: all are trained.
  std::string train_only;

  bool is_frozen(const Parameter& parameter) const {
    return !parameter.name.starts_with(train_only);
  }
  bool trains(const Parameter& parameter) const {
    return parameter.trainable && !is_frozen(parameter);
  }
};

// A program of a trained model: inputs -> results, with fixed shapes.
struct ProgramSpec {
  std::string name;
  const ParameterList* parameters = nullptr;
  std::vector<Field> inputs;
  std::function<graph::Values(std::span<const graph::Value> inputs)> build;
};

}  // namespace hum::nn
