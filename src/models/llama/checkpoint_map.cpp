#include "models/llama/checkpoint_map.h"

#include <utility>

#include "base/error.h"

namespace hum::models::llama {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;
constexpr Pair kOutside[] = {{"embed.weight", "model.embed_tokens.weight"},
                             {"norm.weight", "model.norm.weight"},
                             {"head.weight", "lm_head.weight"}};
// The part after "layers.<n>.".
constexpr Pair kInside[] = {{"attn.", "self_attn."},
                            {"attn_norm.", "input_layernorm."},
                            {"mlp.", "mlp."},
                            {"mlp_norm.", "post_attention_layernorm."}};

}  // namespace

std::string hugging_face_name(std::string_view parameter) {
  for (const auto& [ours, theirs] : kOutside) {
    if (parameter == ours) return std::string(theirs);
  }
  const size_t begin = parameter.find('.', std::string_view("layers.").size()) + 1;
  for (const auto& [ours, theirs] : kInside) {
    if (!parameter.substr(begin).starts_with(ours)) continue;
    return "model." + std::string(parameter.substr(0, begin)) + std::string(theirs) +
           std::string(parameter.substr(begin + ours.size()));
  }
  HUM_CHECK(false, "'{}' has no name in a Hugging Face checkpoint", parameter);
  return {};
}

bool is_superfluous(std::string_view tensor, bool tied) {
  return tensor.ends_with("rotary_emb.inv_freq") || (tied && tensor == "lm_head.weight");
}

}  // namespace hum::models::llama
