// Merges parameters that a loss reads only as one stack (the layers of a scanned transformer) into
// one array of the step's state, so that the optimizer makes one update per stack without copies.
#pragma once

#include <string>
#include <vector>

#include "graph/value.h"
#include "nn/model_spec.h"

namespace hum::train {

// One parameter of the program: a logical parameter, or several stacked along a new first dim.
struct ParameterSlot {
  std::vector<const nn::Parameter*> members;
  graph::Value value;
  // The value that the loss reads and is differentiated by: `value`, or `value` widened to f32.
  graph::Value read = value;
  bool is_stack() const { return value.rank() > members[0]->value.rank(); }
};

// A loss and the parameters that it is a function of, in the spec's order (a stack has the place of
// its first member).
struct StackedLoss {
  nn::Loss loss;
  std::vector<ParameterSlot> slots;
};

// Replaces concatenate(reshape(p0), reshape(p1), ...) over trained parameters that are read nowhere
// else by a placeholder.
StackedLoss stack_parameters(const nn::TrainSpec& spec, nn::Loss loss);

// The same loss with the trained parameters of two or more dims (layers of a stack not counted)
// kept in bf16.
StackedLoss narrow_parameters(const nn::TrainSpec& spec, StackedLoss stacked);

}  // namespace hum::train
