// The problem of the train-codec bar: the released codec with the loss that its weights were last
// trained by, crops, batch and optimizer of configs/codec.yaml, and a file of weights, batches and
// draws that both sides start from.
#pragma once

#include <string>
#include <vector>

#include "models/codec/codec.h"
#include "train/optimizer.h"
#include "train/training_step.h"

namespace hum::bench {

// The key of a step's draws follows from it.
inline constexpr uint64_t kCodecSeed = 4;

struct CodecSetup {
  // As released, except that the quantizer takes part from step 0 on: so do 4,700 of the 5,000
  // steps that made the released weights.
  models::codec::CodecConfig model;
  train::OptimizerConfig optimizer;
  int64_t batch = 0, samples = 0, total_steps = 0;
};
CodecSetup codec_setup();

// The tensor of all batches, [steps, B, N].
inline constexpr const char* kCodecAudio = "audio";
// Tensors that are no weights: what the peer cannot derive.
inline constexpr const char* kCodecExtra = "extra.";

// Released weights, batches by rule; for the peer also the learning rate of each step, the books
// that each item keeps, the vectors that idle entries move to, the bands of the mel scales, and the
// weights of the loss's terms.
void write_codec_problem(const std::string& path, int64_t steps);

}  // namespace hum::bench
