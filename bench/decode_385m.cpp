// decode-385m: greedy decoding of the coarse LM's 385M shape, batch 1, bf16, against transformers
// and against the time that reading the weights takes.
#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/lm/decode.h"
#include "bench/peers.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

double median_seconds(const std::vector<Json>& rounds) {
  std::vector<double> seconds;
  for (const Json& round : rounds) seconds.push_back(round["seconds"].get<double>());
  return median(seconds);
}

// Leading tokens that both chose. Random weights make near ties, which rounding decides.
int64_t agreed(const Json& a, const Json& b) {
  const auto x = a["tokens"].get<std::vector<int>>(), y = b["tokens"].get<std::vector<int>>();
  return std::ranges::mismatch(x, y).in1 - x.begin();
}

}  // namespace

eval::Bar decode_385m() {
  constexpr double kSpeed = 1.3, kShare = 0.6;
  constexpr int kRounds = 5;
  const ScratchFolder folder;
  const std::string model = folder / "model";
  run_program({HUM_LM, "write-385m", model});
  auto peer = peer_command("decode_transformers.py");
  peer.insert(peer.end(), {model, "--threads", std::to_string(compute_threads())});
  const auto results = alternate(
      {{"hum",
        [&] {
          return last_line_json(
              run_program({HUM_LM, "decode", model}, {{"HUM_CACHE", folder / "cache"}}).out);
        }},
       {"transformers", [&] { return last_line_json(run_program(peer).out); }}},
      kRounds);
  const double bandwidth = read_bandwidth();
  const double ours = median_seconds(results.at("hum"));
  const double theirs = median_seconds(results.at("transformers"));
  const double bytes = results.at("hum")[0]["weight_bytes"].get<double>() * kNewTokens;
  const double share = bytes / ours / bandwidth;

  eval::Bar bar{.name = "decode-385m",
                .value = theirs / ours,
                .unit = "x transformers",
                .bar = fmt::format(">= {} x, and weights read at >= {} of the memory's bandwidth",
                                   kSpeed, kShare)};
  bar.checks.at_least("speed", theirs / ours, kSpeed);
  bar.checks.at_least("share_of_bandwidth", share, kShare);
  bar.ours["tokens_per_s"] = kNewTokens / ours;
  bar.ours["read_gb_per_s"] = bytes / ours / 1e9;
  bar.ours["leading_tokens_as_peer"] = agreed(results.at("hum")[0], results.at("transformers")[0]);
  bar.peer["tokens_per_s"] = kNewTokens / theirs;
  bar.peer["bandwidth_gb_per_s"] = bandwidth / 1e9;
  bar.peer["version"] = results.at("transformers")[0]["version"];
  std::cerr << fmt::format("hum {:.1f} tokens/s, transformers {:.1f}; memory {:.1f} GB/s\n",
                           kNewTokens / ours, kNewTokens / theirs, bandwidth / 1e9);
  return bar;
}

}  // namespace hum::bench
