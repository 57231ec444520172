// Maps the names of hum's parameters to those of a Hugging Face checkpoint.
#pragma once

#include <string>
#include <string_view>

namespace hum::models::llama {

// "layers.3.attn.q_proj.weight" -> "model.layers.3.self_attn.q_proj.weight". Throws on names that
// no Llama has, which is a bug in hum.
std::string hugging_face_name(std::string_view parameter);

// True for tensors of older checkpoints that are not used: rotary rates, the second copy of a tied
// table.
bool is_superfluous(std::string_view tensor, bool tied);

}  // namespace hum::models::llama
