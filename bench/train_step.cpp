// train-bf16, train-f32, train-jax, train-memory, warm-start: whole training steps (loss,
// gradients, clipping, fused AdamW with f32 masters) from the same weights on the same batches as
// the peers.
#include <iostream>

#include "base/error.h"
#include "base/threads.h"
#include "bench/bars.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "kernels/cpu_features.h"

namespace hum::bench {
namespace {

bool has_amx() { return kernels::detect_isa() >= kernels::Isa::kAmx; }

// The problem file and the ways to run it.
class Steps {
 public:
  explicit Steps(const Scale& scale) : problem_(folder_ / "problem.safetensors") {
    std::vector<std::string> command = {HUM_LM, "problem", problem_,
                                        std::to_string(scale.loss_steps)};
    if (scale.smoke) command.insert(command.end(), {"1", "64"});
    run_program(command);
  }

  Json hum(const std::string& dtype, int steps) {
    return json({HUM_LM, "train", problem_, dtype, std::to_string(steps)}, {{"HUM_CACHE", cache_}});
  }
  Json torch(const std::string& dtype, int steps, bool compiled) {
    auto command = peer_command("train_torch.py");
    for (const auto& word :
         {problem_, std::string("--dtype"), dtype, std::string("--steps"), std::to_string(steps),
          std::string("--threads"), std::to_string(compute_threads())}) {
      command.push_back(word);
    }
    if (compiled) command.push_back("--compile");
    return json(command);
  }
  Json jax(const std::string& dtype, int steps) {
    auto command = peer_command("train_jax.py");
    for (const auto& word :
         {problem_, std::string("--dtype"), dtype, std::string("--steps"), std::to_string(steps)}) {
      command.push_back(word);
    }
    return json(command);
  }

 private:
  // The last line of the program's output.
  static Json json(const std::vector<std::string>& command,
                   const std::map<std::string, std::string>& environment = {}) {
    return last_line_json(run_program(command, environment).out);
  }

  ScratchFolder folder_;
  std::string problem_, cache_ = folder_ / "cache";
};

double gigabytes(const Json& run) {
  return (run["resident_peak"].get<double>() - run["resident_before"].get<double>()) / 1e9;
}

// Adds the contenders' times to the bar and a table on stderr; gives ratios to ours by name.
std::map<std::string, double> report(eval::Bar& bar, const std::string& dtype,
                                     const Rounds& results, const Scale& scale) {
  constexpr double kGigaflops = 735;  // 6NT + 12LBT^2D of one step
  eval::TextTable table({"", "ms a step", "GFLOP/s", "loss after 20 steps"});
  std::map<std::string, double> ratios;
  const double ours = step_ms(results.at("hum"), scale);
  for (const auto& [name, rounds] : results) {
    const double ms = step_ms(rounds, scale);
    ratios[name] = ms / ours;
    Json& side = name == "hum" ? bar.ours : bar.peer;
    side[name + ", " + dtype] = {{"step_ms", ms},
                                 {"gflops", kGigaflops / ms * 1e3},
                                 {"loss_20", rounds[0]["losses"].back()}};
    table.row({name + ", " + dtype, fmt::format("{:.0f}", ms),
               fmt::format("{:.0f}", kGigaflops / ms * 1e3),
               fmt::format("{:.5f}", rounds[0]["losses"].back().get<double>())});
  }
  std::cerr << table.text();
  return ratios;
}

eval::Bar against_torch(const std::string& name, const Scale& scale, const std::string& dtype,
                        double limit, double loss_limit) {
  Steps steps(scale);
  const auto results = alternate(
      {step_contender("hum", scale, [&](int n) { return steps.hum(dtype, n); }),
       step_contender(
           "PyTorch eager", scale, [&](int n) { return steps.torch(dtype, n, false); }, kPeers),
       step_contender(
           "PyTorch compiled", scale, [&](int n) { return steps.torch(dtype, n, true); }, kPeers)},
      scale);
  eval::Bar bar{
      .name = name,
      .unit = "x the faster PyTorch",
      .bar = fmt::format(">= {} x, loss after 20 steps within {} of PyTorch's", limit, loss_limit)};
  const auto ratios = report(bar, dtype, results, scale);
  if (!ratios.contains("PyTorch eager")) return bar;
  const double faster = std::min(ratios.at("PyTorch eager"), ratios.at("PyTorch compiled"));
  bar.value = faster;
  bar.checks.at_least("speed", faster, limit);
  const auto distance = loss_distance(results.at("hum")[0], results.at("PyTorch eager")[0]);
  bar.checks.at_most("loss_distance", distance.last, loss_limit);
  bar.ours["worst_loss_distance"] = distance.worst;
  bar.peer["version"] = results.at("PyTorch eager")[0]["version"];
  return bar;
}

}  // namespace

eval::Bar train_bf16(const Scale& scale) {
  return against_torch("train-bf16", scale, "bf16", has_amx() ? 2.0 : 1.3, 0.01);
}
eval::Bar train_f32(const Scale& scale) {
  return against_torch("train-f32", scale, "f32", 1.3, 1e-4);
}

eval::Bar train_jax(const Scale& scale) {
  constexpr double kF32 = 1.8, kBf16Amx = 5;
  Steps steps(scale);
  eval::Bar bar{
      .name = "train-jax",
      .unit = "x JAX, f32",
      .bar = fmt::format("f32 >= {} x, bf16 >= {} x on a processor with AMX", kF32, kBf16Amx)};
  for (const std::string dtype : {"f32", "bf16"}) {
    const auto results =
        alternate({step_contender("hum", scale, [&](int n) { return steps.hum(dtype, n); }),
                   step_contender(
                       "JAX", scale, [&](int n) { return steps.jax(dtype, n); }, kPeers)},
                  scale);
    const auto ratios = report(bar, dtype, results, scale);
    if (!ratios.contains("JAX")) continue;
    const double ratio = ratios.at("JAX");
    const auto distance = loss_distance(results.at("hum")[0], results.at("JAX")[0]);
    if (dtype == "f32") {
      bar.value = ratio;
      bar.checks.at_least("speed_f32", ratio, kF32);
      bar.checks.at_most("loss_distance_f32", distance.last, 1e-4);
    } else {
      bar.checks.at_least("speed_bf16", ratio, has_amx() ? kBf16Amx : 1);
      bar.checks.at_most("loss_distance_bf16", distance.last, 0.01);
    }
    bar.peer["version"] = results.at("JAX")[0]["version"];
  }
  return bar;
}

// Ours is counted from before the optimizer's state is made, as theirs is: PyTorch makes it in the
// first step.
eval::Bar train_memory(const Scale& scale) {
  constexpr double kLimit = 0.7;
  const int count = scale.smoke ? scale.loss_steps : 4;
  const bool has_peer = !scale.smoke || is_installed(kPeers);
  Steps steps(scale);
  eval::Bar bar{.name = "train-memory",
                .unit = "x PyTorch's peak, the larger of f32 and bf16",
                .bar = fmt::format("<= {} x, resident memory that the steps add", kLimit)};
  eval::TextTable table({"", "GB", "x"});
  double worst = 0;
  for (const std::string dtype : {"f32", "bf16"}) {
    steps.hum(dtype, 1);  // so that the next run finds its program compiled
    const Json ours = steps.hum(dtype, count);
    const double gb = gigabytes(ours);
    bar.ours["hum, " + dtype] = {{"gb", gb},
                                 {"program_gb", ours["program_bytes"].get<double>() / 1e9}};
    if (!has_peer) continue;
    const double peer_gb = gigabytes(steps.torch(dtype, count, false));
    worst = std::max(worst, gb / peer_gb);
    bar.peer["PyTorch eager, " + dtype] = {{"gb", peer_gb}};
    table.row({"hum, " + dtype, fmt::format("{:.2f}", gb), fmt::format("{:.2f}", gb / peer_gb)});
    table.row({"PyTorch eager, " + dtype, fmt::format("{:.2f}", peer_gb), "1"});
  }
  std::cerr << table.text();
  if (!has_peer) return bar;
  bar.value = worst;
  bar.checks.at_most("memory", worst, kLimit);
  return bar;
}

// What a start costs beside the step itself: opening the plugin, tracing, loading the program,
// making the weights, and what only a first step does (memory that is touched for the first time).
eval::Bar warm_start(const Scale& scale) {
  constexpr double kMost_s = 0.8;
  std::vector<double> cold, ready, step, start_s;
  for (int round = 0; round < scale.rounds; ++round) {
    const ScratchFolder folder;
    const auto start = [&](int compiles) {
      Json run = last_line_json(run_program({HUM_LM, "start"}, {{"HUM_CACHE", folder / "c"}}).out);
      HUM_CHECK(run["compiles"].get<int>() == compiles);
      return run;
    };
    cold.push_back(start(1)["compile_s"].get<double>());
    const Json warm = start(0);
    ready.push_back(warm["ready_s"].get<double>());
    step.push_back(warm["step_s"].get<double>());
    start_s.push_back(warm["first_step_s"].get<double>() - step.back());
  }
  eval::Bar bar{.name = "warm-start",
                .value = median(start_s),
                .unit = "s from process start to the end of the first step, less a step",
                .bar = fmt::format("<= {} s", kMost_s)};
  bar.checks.at_most("start_s", median(start_s), kMost_s);
  bar.ours["ready_s"] = median(ready);
  bar.ours["step_s"] = median(step);
  bar.ours["cold_compile_s"] = median(cold);
  return bar;
}

}  // namespace hum::bench
