// decode-385m: greedy decoding of the coarse LM's 385M shape, batch 1, bf16, against transformers
// and against the time that reading the weights takes. Random weights make near ties, which
// rounding decides: the logits are compared, on the tokens that hum chose, and how good those are.
#include <iostream>

#include "base/error.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/lm/decode.h"
#include "bench/peers.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

// How far logits may be apart; in bf16 as a share of their range.
constexpr double kF32Bound = 1e-4, kBf16Bound = 3e-2;

double median_seconds(const std::vector<Json>& rounds) {
  std::vector<double> seconds;
  for (const Json& round : rounds) seconds.push_back(round["seconds"].get<double>());
  return median(seconds);
}

// Python with the peer's script, the model and what else it takes.
std::vector<std::string> peer(const char* script, std::vector<std::string> arguments) {
  auto command = peer_command(script);
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {"--threads", std::to_string(compute_threads())});
  return command;
}

// hum's logits and choices against transformers', on the same tokens.
void check_logits(eval::Bar& bar, const std::string& model, const std::string& file) {
  const Json apart = last_line_json(run_program(peer("logits_transformers.py", {model, file})).out);
  bar.checks.at_most("f32_logits_apart", apart["f32"].get<double>(), kF32Bound);
  bar.checks.at_most("bf16_logits_apart_of_range", apart["bf16_of_range"].get<double>(),
                     kBf16Bound);
  bar.checks.at_most("chosen_below_best_of_range",
                     apart["chosen_below_best_of_range"].get<double>(), kBf16Bound);
  bar.ours["tokens_as_peer_on_the_same_past"] = apart["chosen_as_peer"];
  bar.peer["logits_range"] = apart["range"];
  bar.peer["bf16_from_f32_of_range"] = apart["peer_bf16_from_f32_of_range"];
}

}  // namespace

eval::Bar decode_385m(const Scale& scale) {
  constexpr double kSpeed = 1.3, kShare = 0.6;
  const ScratchFolder folder;
  const std::string model = folder / "model";
  std::vector<std::string> write = {HUM_LM, "write-385m", model};
  if (scale.smoke) write.emplace_back("1");
  run_program(write);
  const auto results = alternate(
      {{"hum",
        [&] {
          return last_line_json(
              run_program({HUM_LM, "decode", model}, {{"HUM_CACHE", folder / "cache"}}).out);
        }},
       {"transformers",
        [&] { return last_line_json(run_program(peer("decode_transformers.py", {model})).out); },
        kPeers}},
      scale);
  const double bandwidth = read_bandwidth();
  const double ours = median_seconds(results.at("hum"));
  const double bytes = results.at("hum")[0]["weight_bytes"].get<double>() * kNewTokens;
  const double share = bytes / ours / bandwidth;

  eval::Bar bar{
      .name = "decode-385m",
      .unit = "x transformers",
      .bar = fmt::format(">= {} x, weights read at >= {} of the memory's bandwidth, logits "
                         "within {} (f32) and {} of their range (bf16)",
                         kSpeed, kShare, kF32Bound, kBf16Bound)};
  bar.checks.at_least("share_of_bandwidth", share, kShare);
  bar.ours["tokens_per_s"] = kNewTokens / ours;
  bar.ours["read_gb_per_s"] = bytes / ours / 1e9;
  bar.peer["bandwidth_gb_per_s"] = bandwidth / 1e9;
  const std::string logits = folder / "logits.safetensors";
  run_program({HUM_LM, "logits", model, logits});
  if (!results.contains("transformers")) return bar;
  const double theirs = median_seconds(results.at("transformers"));
  bar.value = theirs / ours;
  bar.checks.at_least("speed", theirs / ours, kSpeed);
  check_logits(bar, model, logits);
  bar.peer["tokens_per_s"] = kNewTokens / theirs;
  bar.peer["version"] = results.at("transformers")[0]["version"];
  std::cerr << fmt::format("hum {:.1f} tokens/s, transformers {:.1f}; memory {:.1f} GB/s\n",
                           kNewTokens / ours, kNewTokens / theirs, bandwidth / 1e9);
  return bar;
}

}  // namespace hum::bench
