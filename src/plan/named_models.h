// Transformers by name, or by the config.json of a Hugging Face folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/transformer.h"

namespace hum::plan {

// One of known_models(), or a path to a config.json (of GPT-2's or Llama's kind). The sequence is
// the model's longest. Throws: kUsage, listing the known names; kNoInput for a missing file;
// kBadData if the file lacks a size.
Transformer named_model(const std::string& name);

std::string known_models();
// Whether it is one of these names, not a file.
bool is_known_model(std::string_view name);

}  // namespace hum::plan
