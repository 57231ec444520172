#include "plan/claim_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace hum::plan {

namespace {

template <typename T>
struct Key {
  std::string_view name;
  Stated T::*figure;
};

using M = ModelClaims;
using R = RunClaims;

// Hugging Face (Llama's and GPT-2's names), Megatron-LM.
constexpr Key<M> kModelKeys[] = {
    {"hidden_size", &M::hidden},
    {"n_embd", &M::hidden},
    {"num_hidden_layers", &M::layers},
    {"num_layers", &M::layers},
    {"n_layer", &M::layers},
    {"num_attention_heads", &M::heads},
    {"n_head", &M::heads},
    {"num_key_value_heads", &M::kv_heads},
    {"num_query_groups", &M::kv_heads},
    {"intermediate_size", &M::ffn},
    {"ffn_hidden_size", &M::ffn},
    {"n_inner", &M::ffn},
    {"vocab_size", &M::vocab},
    {"max_position_embeddings", &M::positions},
    {"n_positions", &M::positions},
    {"audio_frame_rate", &M::frames_per_second},
    {"max_audio_length", &M::seconds},
};

// neuronx-distributed, Megatron-LM, torchrun, Slurm, Hugging Face's trainer.
constexpr Key<R> kRunKeys[] = {
    {"data_parallel_size", &R::dp},
    {"tensor_parallel_size", &R::tp},
    {"tensor_model_parallel_size", &R::tp},
    {"pipeline_parallel_size", &R::pp},
    {"pipeline_model_parallel_size", &R::pp},
    {"batch_size", &R::micro_batch},
    {"micro_batch_size", &R::micro_batch},
    {"per_device_train_batch_size", &R::micro_batch},
    {"gradient_accumulation", &R::accumulation},
    {"gradient_accumulation_steps", &R::accumulation},
    {"num_microbatches", &R::micro_batches},
    {"global_batch_size", &R::global_batch},
    {"seq_length", &R::sequence},
    {"max_seq_length", &R::sequence},
    {"max_steps", &R::steps},
    {"train_iters", &R::steps},
    {"nnodes", &R::nodes},
    {"nodes", &R::nodes},
    {"nproc_per_node", &R::ranks_per_node},
    {"gpus_per_node", &R::cores_per_node},
    {"neuron_rt_num_cores", &R::cores_per_node},
};

double figure(const Setting& setting) {
  double value = 0;
  const char* end = setting.value.data() + setting.value.size();
  const auto [stop, error] = std::from_chars(setting.value.data(), end, value);
  if (error == std::errc{} && stop == end && value > 0 && std::isfinite(value)) return value;
  fail(ExitCode::kBadData, fmt::format("{}: {} is not a figure above zero: '{}'", setting.place,
                                       setting.key, setting.value));
}

template <typename T, size_t N>
Stated T::*find(const Key<T> (&keys)[N], const std::string& name) {
  const auto found = std::ranges::find(keys, name, &Key<T>::name);
  return found == std::end(keys) ? nullptr : found->figure;
}

std::string plain(std::string key) {
  std::ranges::transform(key, key.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  return key;
}

// Kind of model and MLP, which are told by words, wherever they stand. The kind says whether
// embeddings are tied where no other word does.
void claim_words(const std::vector<Setting>& settings, ModelClaims& model) {
  for (const Setting& setting : settings) {
    if (plain(setting.key) != "model_type") continue;
    model.tied_embeddings = model.learned_positions = setting.value == "gpt2";
  }
  for (const Setting& setting : settings) {
    const std::string key = plain(setting.key);
    if (key == "hidden_act") model.gated = setting.value == "silu";
    if (key == "tie_word_embeddings") model.tied_embeddings = setting.value == "true";
  }
}

template <typename T>
T& first(std::vector<T>& entries) {
  if (entries.empty()) entries.emplace_back();
  return entries.front();
}

}  // namespace

int claim_settings(const std::vector<Setting>& settings, PlanClaims& claims) {
  int count = 0;
  for (const Setting& setting : settings) {
    const std::string key = plain(setting.key);
    if (const auto of_model = find(kModelKeys, key)) {
      (first(claims.models).*of_model).add({figure(setting), setting.place});
    } else if (const auto of_run = find(kRunKeys, key)) {
      (first(claims.runs).*of_run).add({figure(setting), setting.place});
    } else {
      continue;
    }
    ++count;
  }
  // Words alone make no model.
  if (!claims.models.empty()) claim_words(settings, claims.models.front());
  return count;
}

}  // namespace hum::plan
