// Times greedy decoding of a Llama folder.
#pragma once

#include <filesystem>
#include <optional>

#include "base/json.h"

namespace hum::bench {

constexpr int64_t kPromptTokens = 64, kNewTokens = 256;

// Writes a Hugging Face folder with random bf16 weights in the shape of the 385M coarse LM;
// `layers` replaces its 24.
void write_385m(const std::filesystem::path& folder, std::optional<int64_t> layers = {});

// {"milliseconds": [..], "tokens", "weight_bytes"} of one generation after a warm-up; the prompt
// follows a rule.
Json decode(const std::filesystem::path& folder);

// Writes what a peer needs to check a greedy continuation: the tokens of prompt and continuation,
// and the logits of all of them in both dtypes.
// File (safetensors): tokens i32[T], bf16 f32[T,V], f32 f32[T,V].
void write_logits(const std::filesystem::path& folder, const std::filesystem::path& file);

// Bytes per second: the best of five passes of two threads over 2 GB.
double read_bandwidth();

}  // namespace hum::bench
