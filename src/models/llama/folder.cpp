#include "models/llama/folder.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "models/llama/checkpoint_map.h"
#include "models/llama/model.h"
#include "runtime/weights.h"

namespace hum::models::llama {

namespace fs = std::filesystem;
using runtime::HostTensor;

namespace {

// Files to copy beside the weights.
constexpr const char* kCarried[] = {
    "tokenizer.json",     "tokenizer.model", "tokenizer_config.json", "special_tokens_map.json",
    "vocab.json",         "merges.txt",      "added_tokens.json",     "generation_config.json",
    "chat_template.jinja"};

[[noreturn]] void refuse_pickle(const fs::path& file) {
  fail(ExitCode::kBadData,
       file.string() + ": a pickle file, which can run any code when it is read",
       "if you trust it, load it with transformers and write safetensors with save_pretrained()");
}

// Pickles by their first bytes: torch's zip, or the protocol mark of the older form.
bool is_pickle(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  unsigned char head[4] = {};
  in.read(reinterpret_cast<char*>(head), sizeof head);
  return (head[0] == 'P' && head[1] == 'K' && head[2] == 3) ||
         (head[0] == 0x80 && head[1] <= 5 && head[2] != 0);
}

void require_safetensors(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors" && is_pickle(entry.path())) {
      refuse_pickle(entry.path());
    }
  }
  if (fs::exists(folder / "model.safetensors") ||
      fs::exists(folder / "model.safetensors.index.json")) {
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (kind == ".bin" || kind == ".pt" || kind == ".pth" || kind == ".ckpt" || kind == ".pkl") {
      refuse_pickle(entry.path());
    }
  }
  fail(ExitCode::kNoInput, folder.string() + ": no model.safetensors",
       "add the weights to the folder");
}

void require_finite(const fs::path& folder, const std::string& name,
                    std::span<const float> values) {
  const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
  if (bad == values.end()) return;
  fail(ExitCode::kBadData,
       fmt::format("{}: tensor '{}' holds {} at element {}", folder.string(), name, *bad,
                   bad - values.begin()),
       "the training that made these weights diverged, or the file is damaged");
}

// Converts the tensors of the parameters to f32, and empties `stored`.
std::vector<HostTensor> take_tensors(const fs::path& folder, const nn::ParameterList& parameters,
                                     runtime::NamedTensors& stored, bool tied) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : parameters.all()) {
    const std::string name = hugging_face_name(parameter.name);
    const auto found = std::ranges::find(stored, name, &runtime::NamedTensors::value_type::first);
    if (found == stored.end()) {
      fail(ExitCode::kBadData, fmt::format("{}: no tensor '{}'", folder.string(), name),
           "a shard is incomplete, or the weights belong to another config.json");
    }
    if (found->second.shape().dims != parameter.shape.dims) {
      fail(ExitCode::kBadData,
           fmt::format("{}: tensor '{}' is {}, config.json requires {}", folder.string(), name,
                       found->second.shape(), parameter.shape),
           "the weights belong to another config.json");
    }
    const std::vector<float> values = found->second.to_floats();
    require_finite(folder, name, values);
    tensors.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
    stored.erase(found);
  }
  for (const auto& [name, tensor] : stored) {
    if (is_superfluous(name, tied)) continue;
    fail(ExitCode::kBadData, fmt::format("{}: unknown tensor '{}'", folder.string(), name),
         "the weights are not those of the architecture in config.json");
  }
  return tensors;
}

LlamaConfig read_config(const fs::path& folder) {
  const ErrorContext context([&] { return "reading " + folder.string(); });
  return from_hugging_face(read_json(folder / "config.json"));
}

}  // namespace

Checkpoint read_checkpoint(const fs::path& folder) {
  require_folder(folder, "give the folder that holds config.json and the weights");
  const LlamaConfig config = read_config(folder);
  require_safetensors(folder);
  runtime::Weights weights = runtime::read_weights(folder);
  const Llama model(config);
  return {config, std::move(weights.config),
          take_tensors(folder, model.parameters(), weights.tensors, config.tied)};
}

void write_checkpoint(const fs::path& folder, const Checkpoint& checkpoint, graph::DType stored,
                      const fs::path& like, int64_t max_shard_bytes) {
  if (fs::exists(folder) && !fs::is_empty(folder) && !fs::exists(folder / "config.json")) {
    fail(ExitCode::kCannotCreate, folder.string() + ": holds other files",
         "use a new folder, or one with a model to replace");
  }
  const Llama model(checkpoint.config);
  const auto& parameters = model.parameters().all();
  HUM_REQUIRE(parameters.size() == checkpoint.tensors.size(),
              "write_checkpoint: {} tensors for {} parameters", checkpoint.tensors.size(),
              parameters.size());
  runtime::Weights weights{
      checkpoint.source.is_object() ? checkpoint.source : to_hugging_face(checkpoint.config), {}};
  const char* dtype = weights.config.contains("torch_dtype") ? "torch_dtype" : "dtype";
  weights.config[dtype] = stored == graph::DType::kBF16 ? "bfloat16" : "float32";
  for (size_t i = 0; i < parameters.size(); ++i) {
    weights.tensors.emplace_back(hugging_face_name(parameters[i].name), checkpoint.tensors[i]);
  }
  runtime::write_weights(folder, weights, stored, max_shard_bytes);
  if (like.empty()) return;
  for (const char* file : kCarried) {
    if (fs::exists(like / file)) {
      fs::copy_file(like / file, folder / file, fs::copy_options::overwrite_existing);
    }
  }
}

}  // namespace hum::models::llama
