// Greedy decoding of a Llama folder, timed.
#pragma once

#include <filesystem>

#include "base/json.h"

namespace hum::bench {

constexpr int64_t kPromptTokens = 64, kNewTokens = 256;

// A Hugging Face folder with random bf16 weights in the shape of the 385M coarse LM.
void write_385m(const std::filesystem::path& folder);

// {"seconds", "tokens", "weight_bytes"} of one generation after a warm-up; the prompt is a rule's.
Json decode(const std::filesystem::path& folder);

// Bytes a second: the best of five passes of two threads over 2 GB.
double read_bandwidth();

}  // namespace hum::bench
