// train-codec: whole training steps of the released codec (encoder, quantizer with its running
// codebooks, decoder, spectral losses, clipping, fused AdamW) from the released weights, on the
// same batches, with the same draws, as the peer makes them. Crops, batch and optimizer are those
// of configs/codec.yaml; the quantizer takes part from the first step on
// (bench/codec_step/problem.h). The draws, which books an item keeps and where idle entries move,
// are made here too, by the rule of models/codec, and handed to the peer in the problem file; hum
// makes them within its step.
#include <iostream>

#include "base/error.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/peers.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

constexpr double kLimit = 1.5, kLossLimit = 0.01;

// The problem file and the ways to run it.
class CodecSteps {
 public:
  explicit CodecSteps(const Scale& scale) : problem_(folder_ / "problem.safetensors") {
    run_program({HUM_CODEC_STEP, "problem", problem_, std::to_string(scale.loss_steps)});
  }

  Json hum(int steps) const {
    const auto run = run_program({HUM_CODEC_STEP, "train", problem_, "bf16", std::to_string(steps)},
                                 {{"HUM_CACHE", folder_ / "cache"}});
    return last_line_json(run.out);
  }
  Json torch(int steps, bool compiled) const {
    auto command = peer_command("codec_torch.py");
    for (const auto& word :
         {problem_, std::string("--dtype"), std::string("bf16"), std::string("--steps"),
          std::to_string(steps), std::string("--threads"), std::to_string(compute_threads())}) {
      command.push_back(word);
    }
    if (compiled) command.push_back("--compile");
    return last_line_json(run_program(command).out);
  }

 private:
  ScratchFolder folder_;
  std::string problem_;
};

}  // namespace

eval::Bar train_codec(const Scale& scale) {
  const CodecSteps steps(scale);
  const std::string eager = "PyTorch eager", compiled = "PyTorch compiled";
  const auto results =
      alternate({step_contender("hum", scale, [&](int n) { return steps.hum(n); }),
                 step_contender(
                     eager, scale, [&](int n) { return steps.torch(n, false); }, kPeers),
                 step_contender(
                     compiled, scale, [&](int n) { return steps.torch(n, true); }, kPeers)},
                scale);
  eval::Bar bar{.name = "train-codec",
                .unit = "x the faster PyTorch, bf16",
                .bar = fmt::format(">= {} x, loss after 20 steps within {} of PyTorch's", kLimit,
                                   kLossLimit)};
  eval::TextTable table({"", "ms a step", "loss after 20 steps"});
  for (const auto& [name, rounds] : results) {
    const double loss = rounds[0]["losses"].back();
    (name == "hum" ? bar.ours : bar.peer)[name] = {{"step_ms", step_ms(rounds, scale)},
                                                   {"loss_20", loss}};
    table.row({name, fmt::format("{:.1f}", step_ms(rounds, scale)), fmt::format("{:.5f}", loss)});
  }
  std::cerr << table.text();
  if (!results.contains(eager)) return bar;
  const double faster =
      std::min(step_ms(results.at(eager), scale), step_ms(results.at(compiled), scale));
  const double ratio = faster / step_ms(results.at("hum"), scale);
  const auto distance = loss_distance(results.at("hum")[0], results.at(eager)[0]);
  bar.value = ratio;
  bar.checks.at_least("speed", ratio, kLimit);
  bar.checks.at_most("loss_distance", distance.last, kLossLimit);
  bar.ours["worst_loss_distance"] = distance.worst;
  bar.peer["version"] = results.at(eager)[0]["version"];
  return bar;
}

}  // namespace hum::bench
