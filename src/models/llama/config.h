// The sizes of a Llama, read from and written to the config.json of a Hugging Face folder. Also
// reads Mistral (Llama with a window) and Qwen2 (Llama with biases on queries, keys and values).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json_fwd.h"
#include "nn/transformer.h"

namespace hum::models::llama {

struct LlamaConfig {
  nn::TransformerConfig transformer;
  int64_t vocabulary = 32000;
  // The output's matrix is the embedding table.
  bool tied = false;
  // The text length that the model was made for.
  int64_t positions = 2048;
  // Longer texts need features that hum lacks (a sliding window, rotary rates that depend on the
  // length); 0: no such limit.
  int64_t longest = 0;
  // Generation stops after any of these.
  std::vector<int64_t> end_tokens;

  template <class V>
  void visit_fields(V& v) {
    v("transformer", transformer, "the decoder");
    v("vocabulary", vocabulary, "tokens");
    v("tied", tied, "the output's matrix is the embedding table");
    v("positions", positions, "text length that the model was made for");
    v("longest", longest, "longest text that is accepted (0: no limit)");
    v("end_tokens", end_tokens, "tokens that end a text");
  }
};

// Throws kBadData naming the field: unknown architecture, missing or absurd sizes, an activation,
// rotary variant or quantisation that hum does not have.
LlamaConfig from_hugging_face(const Json& config);

// The form that transformers' LlamaConfig reads. Throws kConfig when the sizes are not a Llama's
// (layer norm, GELU, biases on some of attention's matrices).
Json to_hugging_face(const LlamaConfig& config);

}  // namespace hum::models::llama
