// What `hum plan memory` asks: the memory of a training step of hum's own, planned from its graph.
#pragma once

#include <memory>
#include <string>

#include "models/llama/model.h"
#include "nn/model_spec.h"
#include "plan/memory.h"
#include "plan/transformer.h"
#include "train/optimizer.h"

namespace hum::app {

// hum's own Llama of that shape, with layer norms, GELU and biases where it is not gated.
models::llama::LlamaConfig llama_of(const plan::Transformer& shape);

// A Hugging Face folder, or its config.json.
bool names_hugging_face(const std::string& name);

// Bytes on one of `devices` devices, each with the spec's batch and all state, with this machine's
// kernels (HUM_KERNELS=0: without).
plan::Memory step_memory(const nn::TrainSpec& spec, const train::OptimizerConfig& optimizer,
                         const nn::BlockOptions& blocks, int devices);

// A model's step as it is trained by hum.
struct PlannedModel {
  std::shared_ptr<const void> model;  // what `spec` speaks of
  nn::TrainSpec spec;
  train::OptimizerConfig optimizer;
  nn::BlockOptions blocks;
};

struct PlannedShape {
  int64_t batch = 0;    // a device's; 0: the configuration's, of a Llama 1
  int64_t seq = 0;      // tokens, of a Llama alone; 0: its longest
  std::string compute;  // f32|bf16, of a Llama alone; empty: bf16
  std::string weights;  // f32|bf16; empty: the configuration's, of a Llama f32
};

// One of hum's configurations (app/training/model_step.h), a Llama of the planner's names, or the
// config.json of one. Throws: kNoInput with what there is; kUsage for what the model does not take.
PlannedModel planned_model(const std::string& name, const PlannedShape& shape);

}  // namespace hum::app
