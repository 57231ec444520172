#include "plan/claim_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"

namespace hum::plan {

namespace {

template <typename T>
struct Key {
  std::string_view name;
  Stated T::*figure;
  double times = 1;  // factor to the unit that the figure is stored in
};

using M = ModelClaims;
using R = RunClaims;

// Hugging Face (Llama's and GPT-2's names), Megatron-LM, Llama's params.json, torchtitan, and hum's
// own.
constexpr Key<M> kModelKeys[] = {
    {"hidden_size", &M::hidden},
    {"hidden", &M::hidden},
    {"n_embd", &M::hidden},
    {"d_model", &M::hidden},
    {"dim", &M::hidden},
    {"num_hidden_layers", &M::layers},
    {"num_layers", &M::layers},
    {"n_layers", &M::layers},
    {"n_layer", &M::layers},
    {"layers", &M::layers},
    {"num_attention_heads", &M::heads},
    {"num_heads", &M::heads},
    {"n_heads", &M::heads},
    {"n_head", &M::heads},
    {"heads", &M::heads},
    {"num_key_value_heads", &M::kv_heads},
    {"num_query_groups", &M::kv_heads},
    {"n_kv_heads", &M::kv_heads},
    {"kv_heads", &M::kv_heads},
    {"intermediate_size", &M::ffn},
    {"ffn_hidden_size", &M::ffn},
    {"n_inner", &M::ffn},
    {"d_ff", &M::ffn},
    {"vocab_size", &M::vocab},
    {"max_position_embeddings", &M::positions},
    {"n_positions", &M::positions},
    {"n_ctx", &M::positions},
    {"context_length", &M::positions},
    {"parameters", &M::parameters},
    {"num_parameters", &M::parameters},
    {"n_params", &M::parameters},
    {"total_parameters", &M::parameters},
    {"audio_frame_rate", &M::frames_per_second},
    {"max_audio_length", &M::seconds},
};

// neuronx-distributed, Megatron-LM, torchrun, Slurm, Hugging Face's Trainer, DeepSpeed, torchtitan,
// cloud providers' plans.
constexpr Key<R> kRunKeys[] = {
    {"data_parallel_size", &R::dp},
    {"dp", &R::dp},
    {"tensor_parallel_size", &R::tp},
    {"tensor_model_parallel_size", &R::tp},
    {"tensor_parallel_degree", &R::tp},
    {"tp", &R::tp},
    {"pipeline_parallel_size", &R::pp},
    {"pipeline_model_parallel_size", &R::pp},
    {"pipeline_parallel_degree", &R::pp},
    {"pp", &R::pp},
    {"batch_size", &R::micro_batch},
    {"micro_batch_size", &R::micro_batch},
    {"per_device_train_batch_size", &R::micro_batch},
    {"train_micro_batch_size_per_gpu", &R::micro_batch},
    {"gradient_accumulation", &R::accumulation},
    {"gradient_accumulation_steps", &R::accumulation},
    {"num_microbatches", &R::micro_batches},
    {"global_batch_size", &R::global_batch},
    {"train_batch_size", &R::global_batch},
    {"seq_length", &R::sequence},
    {"max_seq_length", &R::sequence},
    {"seq_len", &R::sequence},
    {"sequence_length", &R::sequence},
    {"max_sequence_length", &R::sequence},
    {"max_steps", &R::steps},
    {"train_iters", &R::steps},
    {"training_steps", &R::steps},
    {"num_steps", &R::steps},
    {"total_steps", &R::steps},
    {"total_tokens", &R::tokens},
    {"train_tokens", &R::tokens},
    {"training_tokens", &R::tokens},
    {"num_tokens", &R::tokens},
    {"tokens_per_second", &R::tokens_per_second},
    {"utilization_percent", &R::utilization_percent},
    {"mfu_percent", &R::utilization_percent},
    {"nnodes", &R::nodes},
    {"nodes", &R::nodes},
    {"num_nodes", &R::nodes},
    {"node_count", &R::nodes},
    {"num_machines", &R::nodes},
    {"instances", &R::nodes},
    {"num_instances", &R::nodes},
    {"instance_count", &R::nodes},
    {"nproc_per_node", &R::ranks_per_node},
    {"gpus_per_node", &R::cores_per_node},
    {"gpus_per_instance", &R::cores_per_node},
    {"neuron_rt_num_cores", &R::cores_per_node},
    {"total_gpus", &R::cores},
    {"world_size", &R::cores},
    {"days", &R::days},
    {"training_days", &R::days},
    {"duration_days", &R::days},
    {"training_hours", &R::days, 1.0 / 24},
    {"duration_hours", &R::days, 1.0 / 24},
    {"price_per_hour", &R::price_per_hour},
    {"cost_per_hour", &R::price_per_hour},
    {"hourly_cost", &R::price_per_hour},
    {"price_per_node_hour", &R::price_per_node_hour},
    {"price_per_instance_hour", &R::price_per_node_hour},
    {"cost_per_month", &R::cost_per_month},
    {"monthly_cost", &R::cost_per_month},
    {"compute_cost", &R::compute_cost},
    {"total_cost", &R::total_cost},
};

// Keys whose value names the hardware of the run: "p4d.24xlarge", "ml.p4d.24xlarge".
constexpr std::string_view kHardwareKeys[] = {"instance_type", "node_type", "machine_type",
                                              "hardware"};

// "16", "$21.50", "1,000", "70B".
std::optional<double> parse(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(text.starts_with('$') ? 1 : 0)) {
    if (c != ',') digits += c;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{}) return std::nullopt;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
  const auto* unit = std::ranges::find(kUnits, std::string_view(stop, end),
                                       &std::pair<std::string_view, double>::first);
  if (unit == std::end(kUnits)) return std::nullopt;
  return unit->second == 1 ? value : std::round(value * unit->second);
}

double figure(const Setting& setting) {
  const double value = parse(setting.value).value_or(0);
  if (value > 0 && std::isfinite(value)) return value;
  fail(ExitCode::kBadData, fmt::format("{}: {} is not a figure above zero: '{}'", setting.place,
                                       setting.key, setting.value));
}

// Whether the text starts with a number, after a sign or opening characters: "3e-4", "-1", "$((4 *
// 8))".
bool has_figure(const std::string& text) {
  const auto first = std::ranges::find_if(text, [](unsigned char c) { return std::isalnum(c); });
  return first != text.end() && std::isdigit(static_cast<unsigned char>(*first));
}

template <typename T, size_t N>
const Key<T>* find(const Key<T> (&keys)[N], const std::string& name) {
  const auto* found = std::ranges::find(keys, name, &Key<T>::name);
  return found == std::end(keys) ? nullptr : found;
}

std::string plain(std::string key) {
  std::ranges::transform(key, key.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  return key;
}

// Reads the non-numeric settings of a model: its type, MLP and embeddings. model_type decides
// whether embeddings are tied unless tie_word_embeddings says so.
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

// Sets the hardware of a run if no plan names it.
void claim_hardware(const std::vector<Setting>& settings, RunClaims& run) {
  for (const Setting& setting : settings) {
    if (!run.hardware.empty()) return;
    if (std::ranges::find(kHardwareKeys, plain(setting.key)) == std::end(kHardwareKeys)) continue;
    run.hardware = setting.value.substr(setting.value.starts_with("ml.") ? 3 : 0);
  }
}

// In a file that mentions instances, a price per hour is that of one instance, as clouds list it.
bool counts_instances(const std::vector<Setting>& settings) {
  return std::ranges::any_of(settings, [](const Setting& setting) {
    return plain(setting.key).find("instance") != std::string::npos;
  });
}

template <typename T>
T& first(std::vector<T>& entries) {
  if (entries.empty()) entries.emplace_back();
  return entries.front();
}

}  // namespace

int claim_settings(const std::vector<Setting>& settings, PlanClaims& claims) {
  const bool of_one = counts_instances(settings);
  int count = 0;
  for (const Setting& setting : settings) {
    const std::string key = plain(setting.key);
    const auto* of_model = setting.counts ? find(kModelKeys, key) : nullptr;
    const auto* of_run = setting.counts ? find(kRunKeys, key) : nullptr;
    if (of_model != nullptr) {
      (first(claims.models).*of_model->figure).add({figure(setting), setting.place});
    } else if (of_run != nullptr) {
      const bool hour_of_one = of_one && of_run->figure == &R::price_per_hour;
      Stated& stated = first(claims.runs).*(hour_of_one ? &R::price_per_node_hour : of_run->figure);
      stated.add({figure(setting) * of_run->times, setting.place});
    } else {
      if (has_figure(setting.value)) claims.not_read.push_back(setting);
      continue;
    }
    ++count;
  }
  // Non-numeric settings alone create no model and no run.
  if (!claims.models.empty()) claim_words(settings, claims.models.front());
  if (!claims.runs.empty()) claim_hardware(settings, claims.runs.front());
  return count;
}

}  // namespace hum::plan
