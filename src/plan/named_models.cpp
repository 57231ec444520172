#include "plan/named_models.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/json.h"
#include "base/names.h"

namespace hum::plan {

namespace {

struct Named {
  std::string_view name;
  Transformer model;
};

// HummingLM's two sizes are those of hum's configurations (coarse-10b, coarse-385m).
constexpr Named kModels[] = {
    {"385m", {.hidden = 1024, .layers = 24, .heads = 16, .vocab = 1024, .sequence = 2048}},
    {"10b",
     {.hidden = 4096,
      .layers = 48,
      .heads = 32,
      .vocab = 50257,
      .sequence = 8192,
      .tied_embeddings = false,
      .learned_positions = false}},
    {"gpt3-175b", {.hidden = 12288, .layers = 96, .heads = 96, .vocab = 51200, .sequence = 2048}},
    {"llama-7b",
     {.hidden = 4096,
      .layers = 32,
      .heads = 32,
      .ffn = 11008,
      .vocab = 32000,
      .sequence = 4096,
      .gated = true,
      .tied_embeddings = false}},
    {"llama-8b",
     {.hidden = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 8,
      .ffn = 14336,
      .vocab = 128256,
      .sequence = 8192,
      .gated = true,
      .tied_embeddings = false}},
    {"llama-13b",
     {.hidden = 5120,
      .layers = 40,
      .heads = 40,
      .ffn = 13824,
      .vocab = 32000,
      .sequence = 4096,
      .gated = true,
      .tied_embeddings = false}},
    {"llama-70b",
     {.hidden = 8192,
      .layers = 80,
      .heads = 64,
      .kv_heads = 8,
      .ffn = 28672,
      .vocab = 32000,
      .sequence = 4096,
      .gated = true,
      .tied_embeddings = false}},
};

class Config {
 public:
  explicit Config(const std::filesystem::path& path) : json_(read_json(path)) {
    if (!json_.is_object())
      fail(ExitCode::kBadData, "not a mapping", "give the config.json of a model");
  }
  // The value of the first of these keys that exists.
  int64_t size(std::initializer_list<const char*> keys, int64_t otherwise = 0) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found == json_.end() || found->is_null()) continue;
      if (!found->is_number_integer() || found->get<int64_t>() <= 0)
        fail(ExitCode::kBadData, fmt::format("{} is not a size: {}", key, to_text(*found)),
             "a whole number above zero");
      return found->get<int64_t>();
    }
    if (otherwise == 0)
      fail(ExitCode::kBadData, fmt::format("no field {}", *keys.begin()),
           "a config.json of a decoder-only model has it");
    return otherwise;
  }
  std::string text(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_string() ? found->get<std::string>() : "";
  }
  bool flag(const char* key, bool otherwise) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_boolean() ? found->get<bool>() : otherwise;
  }

 private:
  Json json_;
};

Transformer read_config(const std::filesystem::path& path) {
  const ErrorContext context([&] { return "reading " + path.string(); });
  const Config config(path);
  const bool gpt2 = config.text("model_type") == "gpt2";
  Transformer model;
  model.hidden = config.size({"hidden_size", "n_embd"});
  model.layers = config.size({"num_hidden_layers", "n_layer"});
  model.heads = config.size({"num_attention_heads", "n_head"});
  model.kv_heads = config.size({"num_key_value_heads"}, model.heads);
  model.ffn = config.size({"intermediate_size", "n_inner"}, 4 * model.hidden);
  model.vocab = config.size({"vocab_size"});
  model.sequence = config.size({"max_position_embeddings", "n_positions"});
  model.gated = config.text("hidden_act") == "silu";
  model.tied_embeddings = config.flag("tie_word_embeddings", gpt2);
  model.learned_positions = gpt2;
  validate(model);
  return model;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const Named& named : kModels) result.emplace_back(named.name);
  return result;
}

}  // namespace

std::string known_models() { return fmt::format("{}", fmt::join(names(), ", ")); }

bool is_known_model(std::string_view name) {
  return std::ranges::find(kModels, name, &Named::name) != std::end(kModels);
}

Transformer named_model(const std::string& name) {
  for (const Named& named : kModels) {
    if (named.name == name) return named.model;
  }
  if (std::filesystem::is_directory(name))
    return read_config(std::filesystem::path(name) / "config.json");
  if (std::filesystem::exists(name)) return read_config(name);
  if (name.ends_with(".json")) {
    fail(ExitCode::kNoInput, name + ": no such file", "give the config.json of a model");
  }
  fail(ExitCode::kUsage, fmt::format("no model '{}'", name),
       fmt::format("the nearest are {}; give a config.json, or one of {}",
                   fmt::join(nearest_names(name, names()), ", "), known_models()));
}

}  // namespace hum::plan
