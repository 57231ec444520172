// Plans the memory of a training step of hum's own from its graph, for `hum plan memory`.
#pragma once

#include <memory>
#include <string>

#include "models/llama/model.h"
#include "nn/model_spec.h"
#include "plan/memory.h"
#include "plan/transformer.h"
#include "train/optimizer.h"

namespace hum::app {

// hum's own Llama of that shape, with layer norms, GELU and biases if it is not gated.
models::llama::LlamaConfig llama_of(const plan::Transformer& shape);

// True for a Hugging Face folder or its config.json.
bool names_hugging_face(const std::string& name);

// Bytes on one of `devices` devices. Each has the spec's batch and all state, and runs this
// machine's kernels (HUM_KERNELS=0: none).
plan::Memory step_memory(const nn::TrainSpec& spec, const train::OptimizerConfig& optimizer,
                         const nn::BlockOptions& blocks, int devices);

// A model's step as hum trains it.
struct PlannedModel {
  std::shared_ptr<const void> model;  // `spec` refers to it
  nn::TrainSpec spec;
  train::OptimizerConfig optimizer;
  nn::BlockOptions blocks;
};

struct PlannedShape {
  int64_t batch = 0;    // per device; 0: the configuration's; 1 for a Llama
  int64_t seq = 0;      // tokens, for a Llama only; 0: its longest
  std::string compute;  // f32|bf16, for a Llama only; empty: bf16
  std::string weights;  // f32|bf16; empty: the configuration's; f32 for a Llama
};

// Reads one of hum's configurations (app/training/model_step.h), a Llama that the planner knows by
// name, or the config.json of one. Throws kUsage: unknown names, with the known ones; options that
// the model does not take.
PlannedModel planned_model(const std::string& name, const PlannedShape& shape);

}  // namespace hum::app
