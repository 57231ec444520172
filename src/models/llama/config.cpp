#include "models/llama/config.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/json.h"

namespace hum::models::llama {

namespace {

using nn::RopeScaling;
using nn::RopeStretch;

[[noreturn]] void refuse(const std::string& what, const std::string& hint = "") {
  fail(ExitCode::kBadData, "config.json: " + what, hint);
}

// null counts as absent, because transformers writes it for both.
template <typename T>
std::optional<T> find(const Json& config, const char* name) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return {};
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    refuse(fmt::format("field '{}' is {}", name, to_text(*found)));
  }
}

int64_t size(const Json& config, const char* name, std::optional<int64_t> otherwise = {}) {
  const auto found = find<int64_t>(config, name);
  if (!found && otherwise) return *otherwise;
  if (!found) refuse(fmt::format("no field '{}'", name));
  if (*found <= 0) refuse(fmt::format("field '{}' is {}", name, *found));
  return *found;
}

double positive(const Json& config, const char* name, std::optional<double> otherwise = {}) {
  const double value = find<double>(config, name).value_or(otherwise.value_or(0));
  if (!(value > 0 && std::isfinite(value))) {
    refuse(fmt::format("field '{}' is {}", name, to_text(config.value(name, Json()))));
  }
  return value;
}

struct Architecture {
  const char *model_type, *class_name;
};
constexpr Architecture kArchitectures[] = {{"llama", "LlamaForCausalLM"},
                                           {"mistral", "MistralForCausalLM"},
                                           {"qwen2", "Qwen2ForCausalLM"}};

std::string architecture(const Json& config) {
  const auto type = find<std::string>(config, "model_type").value_or("nothing");
  const auto classes = find<std::vector<std::string>>(config, "architectures");
  for (const auto& [model_type, class_name] : kArchitectures) {
    if (type == model_type && (!classes || std::ranges::count(*classes, class_name) > 0)) {
      return type;
    }
  }
  refuse(fmt::format("the architecture is {} of model_type '{}'",
                     to_text(config.value("architectures", Json())), type),
         "hum reads LlamaForCausalLM, MistralForCausalLM and Qwen2ForCausalLM");
}

// 0.1 m ln(factor) + 1, as in YaRN; two of these may be given in place of the attention factor.
double yarn_magnitude(double factor, double m) {
  return factor > 1 ? 0.1 * m * std::log(factor) + 1 : 1;
}

RopeScaling yarn(const Json& rope, int64_t positions, RopeScaling scaling) {
  scaling.kind = RopeStretch::kYarn;
  scaling.original_positions = size(rope, "original_max_position_embeddings", positions);
  scaling.factor =
      positive(rope, "factor",
               static_cast<double>(positions) / static_cast<double>(scaling.original_positions));
  scaling.beta_fast = positive(rope, "beta_fast", scaling.beta_fast);
  scaling.beta_slow = positive(rope, "beta_slow", scaling.beta_slow);
  scaling.truncate = find<bool>(rope, "truncate").value_or(true);
  const auto m = find<double>(rope, "mscale"), all = find<double>(rope, "mscale_all_dim");
  if (const auto given = find<double>(rope, "attention_factor")) {
    scaling.attention_factor = *given;
  } else if (m.value_or(0) != 0 && all.value_or(0) != 0) {
    scaling.attention_factor =
        yarn_magnitude(scaling.factor, *m) / yarn_magnitude(scaling.factor, *all);
  }
  return scaling;
}

void read_rope(const Json& source, LlamaConfig& config) {
  auto& transformer = config.transformer;
  Json rope = find<Json>(source, "rope_parameters").value_or(Json::object());
  if (const auto older = find<Json>(source, "rope_scaling")) rope = *older;
  if (!rope.is_object()) refuse("rope_parameters is " + to_text(rope));
  transformer.rope_theta =
      positive(rope, "rope_theta", find<double>(source, "rope_theta").value_or(10000));
  const double part = positive(rope, "partial_rotary_factor",
                               find<double>(source, "partial_rotary_factor").value_or(1));
  if (part != 1) {
    transformer.rotary_dim =
        static_cast<int64_t>(static_cast<double>(transformer.head_dim()) * part);
  }
  const auto type = find<std::string>(rope, "rope_type")
                        .value_or(find<std::string>(rope, "type").value_or("default"));
  RopeScaling& scaling = transformer.rope_scaling;
  if (type == "linear") {
    scaling = {.kind = RopeStretch::kLinear, .factor = positive(rope, "factor")};
  } else if (type == "llama3") {
    scaling = {
        .kind = RopeStretch::kLlama3,
        .factor = positive(rope, "factor"),
        .original_positions = size(rope, "original_max_position_embeddings", config.positions),
        .low_frequency_factor = positive(rope, "low_freq_factor"),
        .high_frequency_factor = positive(rope, "high_freq_factor")};
  } else if (type == "yarn") {
    scaling = yarn(rope, config.positions, {});
  } else if (type == "dynamic") {
    config.longest = config.positions;  // up to that length it has no effect
  } else if (type != "default") {
    refuse(fmt::format("rope_type is '{}'", type),
           "hum supports default, linear, dynamic (to max_position_embeddings), llama3 and yarn");
  }
}

void read_window(const Json& source, const std::string& type, LlamaConfig& config) {
  const bool used = type == "mistral" || find<bool>(source, "use_sliding_window").value_or(false);
  const auto window = find<int64_t>(source, "sliding_window");
  if (used && window) config.longest = *window;
}

std::vector<int64_t> end_tokens(const Json& source) {
  const auto found = source.find("eos_token_id");
  if (found == source.end() || found->is_null()) return {};
  if (found->is_array()) return *find<std::vector<int64_t>>(source, "eos_token_id");
  return {*find<int64_t>(source, "eos_token_id")};
}

}  // namespace

LlamaConfig from_hugging_face(const Json& source) {
  if (!source.is_object()) refuse("it holds no fields");
  const std::string type = architecture(source);
  if (find<Json>(source, "quantization_config")) {
    refuse("the weights are quantised", "hum reads F32, BF16 and F16 weights");
  }
  if (const auto act = find<std::string>(source, "hidden_act"); act && *act != "silu") {
    refuse(fmt::format("hidden_act is '{}'", *act), "hum supports silu");
  }
  LlamaConfig config{.vocabulary = size(source, "vocab_size"),
                     .tied = find<bool>(source, "tie_word_embeddings").value_or(false),
                     .positions = size(source, "max_position_embeddings", 2048),
                     .end_tokens = end_tokens(source)};
  auto& t = config.transformer;
  t.layers = size(source, "num_hidden_layers");
  t.width = size(source, "hidden_size");
  t.heads = size(source, "num_attention_heads");
  t.kv_heads = size(source, "num_key_value_heads", t.heads);
  t.head_size = size(source, "head_dim", t.width / t.heads);
  t.feed_forward = size(source, "intermediate_size");
  t.norm_epsilon = positive(source, "rms_norm_eps", 1e-6);
  const bool attention_bias = find<bool>(source, "attention_bias").value_or(false);
  t.qkv_bias = type == "qwen2" || attention_bias;
  t.out_bias = type != "qwen2" && attention_bias;
  t.mlp_bias = find<bool>(source, "mlp_bias").value_or(false);
  if (t.heads % t.kv_heads != 0) {
    refuse(fmt::format("num_key_value_heads {} does not divide num_attention_heads {}", t.kv_heads,
                       t.heads));
  }
  read_rope(source, config);
  if (t.rotated() % 2 != 0 || t.rotated() > t.head_dim()) {
    refuse(fmt::format("head_dim is {}, of which {} are rotated", t.head_dim(), t.rotated()));
  }
  read_window(source, type, config);
  return config;
}

namespace {

Json rope_parameters(const nn::TransformerConfig& t) {
  const RopeScaling& s = t.rope_scaling;
  Json rope = {{"rope_theta", t.rope_theta}, {"rope_type", "default"}};
  if (s.kind == RopeStretch::kNone) return rope;
  rope["rope_type"] = to_name(s.kind);
  rope["factor"] = s.factor;
  if (s.kind == RopeStretch::kLinear) return rope;
  rope["original_max_position_embeddings"] = s.original_positions;
  if (s.kind == RopeStretch::kLlama3) {
    rope["low_freq_factor"] = s.low_frequency_factor;
    rope["high_freq_factor"] = s.high_frequency_factor;
    return rope;
  }
  rope["beta_fast"] = s.beta_fast;
  rope["beta_slow"] = s.beta_slow;
  rope["truncate"] = s.truncate;
  if (s.attention_factor > 0) rope["attention_factor"] = s.attention_factor;
  return rope;
}

}  // namespace

Json to_hugging_face(const LlamaConfig& config) {
  const auto& t = config.transformer;
  if (t.norm != nn::NormKind::kRms || t.activation != nn::Activation::kSwiGlu || t.bias ||
      t.qkv_bias != t.out_bias || t.rotated() != t.head_dim() || config.longest > 0) {
    fail(ExitCode::kConfig, "the model cannot be written as a LlamaForCausalLM",
         "it must have RMS norms, SwiGLU, rotation of whole heads, and biases on all or none of "
         "attention's matrices");
  }
  Json result = {{"architectures", {"LlamaForCausalLM"}},
                 {"model_type", "llama"},
                 {"attention_bias", t.qkv_bias},
                 {"mlp_bias", t.mlp_bias},
                 {"head_dim", t.head_dim()},
                 {"hidden_act", "silu"},
                 {"hidden_size", t.width},
                 {"intermediate_size", t.feed_forward},
                 {"max_position_embeddings", config.positions},
                 {"num_attention_heads", t.heads},
                 {"num_hidden_layers", t.layers},
                 {"num_key_value_heads", t.kv_heads},
                 {"rms_norm_eps", t.norm_epsilon},
                 {"rope_parameters", rope_parameters(t)},
                 {"tie_word_embeddings", config.tied},
                 {"vocab_size", config.vocabulary},
                 {"bos_token_id", nullptr},
                 {"eos_token_id", nullptr}};
  // For readers of earlier versions, which do not know rope_parameters.
  result["rope_theta"] = t.rope_theta;
  if (t.rope_scaling.kind != RopeStretch::kNone) result["rope_scaling"] = rope_parameters(t);
  if (!config.end_tokens.empty()) result["eos_token_id"] = config.end_tokens;
  return result;
}

}  // namespace hum::models::llama
