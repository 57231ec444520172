// Parameters that a loss reads only as one stack (the layers of a scanned transformer) become one
// array of the step's state: the optimizer then has one update a stack, and nothing is copied.
#pragma once

#include <string>
#include <vector>

#include "graph/value.h"
#include "nn/model_spec.h"

namespace hum::train {

// One parameter of the program: a logical parameter, or several along a new first dim.
struct ParameterSlot {
  std::vector<const nn::Parameter*> members;
  graph::Value value;
  // What the loss reads and is differentiated by: `value`, or `value` widened to f32.
  graph::Value read = value;
  bool is_stack() const { return value.rank() > members[0]->value.rank(); }
};

// A loss and the parameters it is a function of, in the order of the spec's (a stack stands where
// its first member did).
struct StackedLoss {
  nn::Loss loss;
  std::vector<ParameterSlot> slots;
};

// Finds concatenate(reshape(p0), reshape(p1), ...) over trained parameters that are read nowhere
// else, and puts a placeholder in its stead.
StackedLoss stack_parameters(const nn::TrainSpec& spec, nn::Loss loss);

// The same loss of trained parameters that are kept in bf16: those of two or more dims (layers of a
// stack not counted).
StackedLoss narrow_parameters(const nn::TrainSpec& spec, StackedLoss stacked);

}  // namespace hum::train
