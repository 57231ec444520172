// What the files that make training inputs share.
#pragma once

#include <span>
#include <vector>

#include "app/training/inputs.h"
#include "runtime/weights.h"

namespace hum::app::internal {

// Selects the arrays that the spec's batch names, in its order.
std::vector<runtime::HostTensor> chosen(const nn::TrainSpec& spec, runtime::NamedTensors arrays);

runtime::HostTensor shaped(graph::Dims dims, const std::vector<float>& values);

// In material_inputs.cpp.
OpenedInput sung_crops(const InputRequest& request);
OpenedInput stem_mixtures(const InputRequest& request);

}  // namespace hum::app::internal
