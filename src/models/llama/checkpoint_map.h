// Between the names of hum's parameters and those of a Hugging Face checkpoint.
#pragma once

#include <string>
#include <string_view>

namespace hum::models::llama {

// "layers.3.attn.q_proj.weight" -> "model.layers.3.self_attn.q_proj.weight". Throws (our bug) on
// names that no Llama has.
std::string hugging_face_name(std::string_view parameter);

// Tensors that older checkpoints hold and nobody reads: rotary rates, the second copy of a tied
// table.
bool is_superfluous(std::string_view tensor, bool tied);

}  // namespace hum::models::llama
