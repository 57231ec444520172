#include "bench/lm/decode.h"

#include <array>
#include <chrono>
#include <numeric>
#include <thread>

#include "app/session_options.h"
#include "app/training/configuration.h"
#include "base/elapsed.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/rng.h"
#include "base/threads.h"
#include "models/humming/config.h"
#include "models/llama/folder.h"
#include "models/llama/llama_session.h"
#include "models/llama/model.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

using Clock = std::chrono::steady_clock;
using models::llama::LlamaConfig;

// Transformer and vocabulary of configs/coarse-385m.yaml.
LlamaConfig config_385m() {
  models::humming::CoarseConfig model;
  from_json(app::read_configuration(app::configuration_path("coarse-385m"), "coarse").model, model);
  return {.transformer = model.transformer, .vocabulary = model.vocabulary};
}

std::vector<int32_t> prompt_of(const LlamaConfig& config) {
  std::vector<int32_t> prompt(kPromptTokens);
  for (size_t i = 0; i < prompt.size(); ++i) {
    prompt[i] = static_cast<int32_t>((7 * i + 3) % static_cast<size_t>(config.vocabulary));
  }
  return prompt;
}

}  // namespace

void write_385m(const std::filesystem::path& folder, std::optional<int64_t> layers) {
  constexpr uint64_t kSeed = 385;
  models::llama::Checkpoint checkpoint{.config = config_385m()};
  if (layers) checkpoint.config.transformer.layers = *layers;
  const models::llama::Llama model(checkpoint.config);
  const auto& all = model.parameters().all();
  checkpoint.tensors.resize(all.size());
  parallel_for(static_cast<int64_t>(all.size()), compute_threads(), [&](int64_t i) {
    const auto& parameter = all[static_cast<size_t>(i)];
    const auto values = nn::initial_elements(parameter, kSeed);
    checkpoint.tensors[static_cast<size_t>(i)] =
        runtime::HostTensor::of(parameter.shape.dims, std::span<const float>(values));
  });
  models::llama::write_checkpoint(folder, checkpoint, graph::DType::kBF16);
}

Json decode(const std::filesystem::path& folder) {
  runtime::Session session(app::session_options());
  const models::llama::LlamaSession model(session, folder, graph::DType::kBF16);
  const auto prompt = prompt_of(model.config());
  model.generate(prompt, kNewTokens);
  const auto start = Clock::now();
  const auto tokens = model.generate(prompt, kNewTokens);
  const double seconds = seconds_since(start);
  const models::llama::Llama shape(model.config());
  const int64_t table = model.config().vocabulary * model.config().transformer.width;
  // Decoding reads only one row of the embedding table.
  return {{"milliseconds", {1e3 * seconds}},
          {"tokens", tokens},
          {"weight_bytes", 2 * (shape.parameters().element_count() - table)}};
}

void write_logits(const std::filesystem::path& folder, const std::filesystem::path& file) {
  runtime::Session session(app::session_options());
  std::vector<int32_t> tokens;
  runtime::NamedTensors tensors;
  for (const auto compute : {graph::DType::kBF16, graph::DType::kF32}) {
    const models::llama::LlamaSession model(session, folder, compute);
    if (tokens.empty()) {
      tokens = prompt_of(model.config());
      const auto chosen = model.generate(tokens, kNewTokens);
      tokens.insert(tokens.end(), chosen.begin(), chosen.end());
    }
    const auto logits = model.logits(tokens);
    const auto length = static_cast<int64_t>(tokens.size());
    tensors.emplace_back(compute == graph::DType::kF32 ? "f32" : "bf16",
                         runtime::HostTensor::of({length, model.config().vocabulary},
                                                 std::span<const float>(logits)));
  }
  tensors.emplace_back("tokens", runtime::HostTensor::of({static_cast<int64_t>(tokens.size())},
                                                         std::span<const int32_t>(tokens)));
  runtime::write_tensors(file, tensors);
}

double read_bandwidth() {
  constexpr size_t kWords = (size_t{2} << 30) / sizeof(uint64_t);
  constexpr int kPasses = 5, kThreads = 2;
  std::vector<uint64_t> memory(kWords, 1);
  double best = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::array<uint64_t, kThreads> sums{};
    const auto start = Clock::now();
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          const auto part = std::span(memory).subspan(kWords / kThreads * static_cast<size_t>(t),
                                                      kWords / kThreads);
          // Eight partial sums, so that additions never limit the speed.
          std::array<uint64_t, 8> partial{};
          for (size_t i = 0; i < part.size(); i += partial.size()) {
            for (size_t lane = 0; lane < partial.size(); ++lane) partial[lane] += part[i + lane];
          }
          sums[static_cast<size_t>(t)] = std::reduce(partial.begin(), partial.end());
        });
      }
    }
    best = std::max(best, static_cast<double>(kWords * sizeof(uint64_t)) / seconds_since(start));
    HUM_CHECK(std::reduce(sums.begin(), sums.end()) == kWords);
  }
  return best;
}

}  // namespace hum::bench
