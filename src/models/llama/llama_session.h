// Runs a Llama with its weights on the device: logits and greedy continuations of token sequences.
// Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "models/llama/config.h"
#include "models/llama/folder.h"
#include "runtime/session.h"

namespace hum::models::llama {

class LlamaSession {
 public:
  // Keeps weights and activations in `compute` (f32 or bf16). The session must outlive it.
  // Throws what read_checkpoint throws.
  LlamaSession(runtime::Session& session, const std::filesystem::path& folder,
               graph::DType compute = graph::DType::kF32);
  LlamaSession(runtime::Session& session, const Checkpoint& checkpoint, graph::DType compute);
  ~LlamaSession();

  const LlamaConfig& config() const;

  // Row t predicts the token after tokens 0..t. Throws kUsage when there are no tokens, one is
  // outside the vocabulary, or there are more than the model can read. Shapes: [T] -> [T, V].
  std::vector<float> logits(std::span<const int32_t> tokens) const;
  // The most likely continuation: `count` tokens, or fewer if an end token comes first. Throws what
  // logits() throws.
  std::vector<int32_t> generate(std::span<const int32_t> prompt, int64_t count) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hum::models::llama
