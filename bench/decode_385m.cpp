// decode-385m: greedy decoding with the 385M shape of the coarse LM, batch 1, bf16, against
// transformers, llama.cpp and the time needed to read the weights. Random weights produce near ties
// that rounding decides. So the bar compares logits on the tokens that hum chose, and checks how
// close each choice is to the peer's best.
#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/lm/decode.h"
#include "bench/locations.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

// Largest allowed difference of logits; in bf16 as a share of their range.
constexpr double kF32Bound = 1e-4, kBf16Bound = 3e-2;

// The model in the formats that the programs read.
struct Model {
  ScratchFolder folder;
  std::string hugging_face = folder / "model", gguf = folder / "model.gguf";
};

Json decode_hum(const Model& model) {
  return last_line_json(run_program({kLmProgram, "decode", model.hugging_face},
                                    {{"HUM_CACHE", model.folder / "cache"}})
                            .out);
}

std::vector<Contender> contenders(const Model& model) {
  std::vector<Contender> all = {{"hum", "", [&] { return decode_hum(model); }}};
  for (const PeerSetting& setting : transformers_settings()) {
    all.push_back({"transformers", setting.name,
                   [&model, setting] {
                     return run_peer("decode_transformers.py", {model.hugging_face}, setting);
                   },
                   kPeers});
  }
  for (const PeerSetting& setting : llama_cpp_settings()) {
    all.push_back(
        {"llama.cpp", setting.name,
         [&model, setting] { return run_peer("decode_llama_cpp.py", {model.gguf}, setting); },
         kPeers});
  }
  return all;
}

// Checks hum's logits and choices against the peers' on the same tokens.
void check_logits(eval::Bar& bar, const Model& model, const std::string& file) {
  const Json apart = run_peer("logits_transformers.py", {model.hugging_face, file});
  bar.checks.at_most("f32_logits_apart", apart["f32"].get<double>(), kF32Bound);
  bar.checks.at_most("bf16_logits_apart_of_range", apart["bf16_of_range"].get<double>(),
                     kBf16Bound);
  bar.checks.at_most("chosen_below_best_of_range",
                     apart["chosen_below_best_of_range"].get<double>(), kBf16Bound);
  const Json llama_cpp = run_peer("logits_llama_cpp.py", {model.gguf, file});
  bar.checks.at_most("bf16_logits_from_llama_cpp_of_range",
                     llama_cpp["bf16_of_range"].get<double>(), kBf16Bound);
  bar.ours["tokens_as_peer_on_the_same_past"] = apart["chosen_as_peer"];
  bar.peer["logits_range"] = apart["range"];
  bar.peer["bf16_from_f32_of_range"] = apart["peer_bf16_from_f32_of_range"];
}

}  // namespace

eval::Bar decode_385m(const Scale& scale) {
  constexpr double kTransformers = 1.3, kLlamaCpp = 1.0, kShare = 0.6;
  const Model model;
  std::vector<std::string> write = {kLmProgram, "write-385m", model.hugging_face};
  if (scale.smoke) write.emplace_back("1");
  run_program(write);
  if (!scale.smoke || is_installed(kPeers)) {
    run_program(peer_command("write_gguf.py", {model.hugging_face, model.gguf}));
  }
  const auto outcomes = alternate(contenders(model), scale);
  const Outcome& ours = outcomes[0];
  const double bandwidth = read_bandwidth();
  const double bytes = ours.rounds[0]["weight_bytes"].get<double>() * kNewTokens;
  const double read = bytes / (ours.ms / 1e3);

  eval::Bar bar{.name = "decode-385m",
                .unit = "x transformers",
                .bar = fmt::format(
                    ">= {} x transformers, >= {} x llama.cpp, weights read at >= {} of "
                    "memory bandwidth, logits within {} (f32), within {} of their range (bf16)",
                    kTransformers, kLlamaCpp, kShare, kF32Bound, kBf16Bound)};
  report(bar, outcomes, [](const Outcome& o) {
    return Json{{"tokens_per_s", kNewTokens / (o.ms / 1e3)}};
  });
  bar.checks.at_least("share_of_bandwidth", read / bandwidth, kShare);
  bar.ours["read_gb_per_s"] = read / 1e9;
  bar.peer["bandwidth_gb_per_s"] = bandwidth / 1e9;
  const std::string logits = model.folder / "logits.safetensors";
  run_program({kLmProgram, "logits", model.hugging_face, logits});
  const Outcome *transformers = fastest(outcomes, "transformers"),
                *llama_cpp = fastest(outcomes, "llama.cpp");
  if (transformers == nullptr || llama_cpp == nullptr) return bar;
  bar.value = transformers->ms / ours.ms;
  bar.checks.at_least("speed", transformers->ms / ours.ms, kTransformers);
  bar.checks.at_least("x_llama_cpp", llama_cpp->ms / ours.ms, kLlamaCpp);
  check_logits(bar, model, logits);
  for (const Outcome* best : {transformers, llama_cpp}) {
    bar.peer["fastest of " + best->side] = best->name();
    bar.peer["version of " + best->side] = best->rounds[0]["version"];
  }
  return bar;
}

}  // namespace hum::bench
