// The problem of the train-codec bar: the released codec with the loss its weights were last
// trained with, crops, batch and optimizer of configs/codec.yaml, and a file of weights, batches
// and draws that both sides start from.
#pragma once

#include <string>
#include <vector>

#include "models/codec/codec.h"
#include "train/optimizer.h"
#include "train/training_step.h"

namespace hum::bench {

// The key of a step's draws is derived from it.
inline constexpr uint64_t kCodecSeed = 4;

struct CodecSetup {
  // As released, except that the quantizer is active from step 0: it was for 23,700 of the 24,000
  // steps of the released weights.
  models::codec::CodecConfig model;
  train::OptimizerConfig optimizer;
  int64_t batch = 0, samples = 0, total_steps = 0;
};
CodecSetup codec_setup();

// The tensor of all batches, [steps, B, N].
inline constexpr const char* kCodecAudio = "audio";
// Tensors other than weights that the peer cannot derive.
inline constexpr const char* kCodecExtra = "extra.";

// Released weights and generated batches; for the peer also the learning rate of each step, the
// books that each item keeps, the vectors that idle entries move to, the bands of the mel scales,
// the weights of the loss terms and their floor.
void write_codec_problem(const std::string& path, int64_t steps);

}  // namespace hum::bench
