// train-bf16, train-f32, train-jax, train-memory, warm-start: whole training steps (loss,
// gradients, clipping, fused AdamW with f32 master weights) from the same weights on the same
// batches as the peers. In the timed bars PyTorch and JAX recompute nothing; hum runs with nothing
// and with selective recomputation beside PyTorch, selectively beside JAX.
#include <algorithm>
#include <iostream>
#include <map>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/locations.h"
#include "bench/peer_settings.h"
#include "bench/peers.h"
#include "bench/program.h"
#include "bench/torch_bar.h"
#include "kernels/cpu_features.h"

namespace hum::bench {
namespace {

bool has_amx() { return kernels::detect_isa() >= kernels::Isa::kAmx; }

// The problem file and the programs that run it.
class Steps {
 public:
  explicit Steps(const Scale& scale) : problem_(folder_ / "problem.safetensors") {
    std::vector<std::string> command = {kLmProgram, "problem", problem_,
                                        std::to_string(scale.loss_steps)};
    if (scale.smoke) command.insert(command.end(), {"1", "64"});
    run_program(command);
  }

  const std::string& problem() const { return problem_; }
  Json hum(const std::string& dtype, int steps, const std::string& recompute = "selective") const {
    return last_line_json(
        run_program({kLmProgram, "train", problem_, dtype, std::to_string(steps), recompute},
                    {{"HUM_CACHE", folder_ / "cache"}})
            .out);
  }
  Json peer(const std::string& script, int steps, const PeerSetting& setting) const {
    return run_peer(script, {problem_, "--steps", std::to_string(steps)}, setting);
  }

 private:
  ScratchFolder folder_;
  std::string problem_;
};

constexpr double kGigaflops = 735;  // 6NT + 12LBT^2D of one step

eval::Bar lm_against_torch(const std::string& name, const Scale& scale, const std::string& dtype,
                           double limit, double loss_limit) {
  const Steps steps(scale);
  return against_torch(
      {.name = name,
       .dtype = dtype,
       .script = "train_torch.py",
       .problem = steps.problem(),
       .hum = {{"recomputing nothing", [&](int n) { return steps.hum(dtype, n, "none"); }},
               {"recomputing selectively", [&](int n) { return steps.hum(dtype, n); }}},
       .limit = limit,
       .loss_limit = loss_limit,
       .gigaflops = scale.smoke ? 0 : kGigaflops},
      scale);
}

std::vector<Contender> jax_contenders(const Steps& steps, const std::string& dtype,
                                      const Scale& scale) {
  std::vector<Contender> all = {step_contender(
      "hum", dtype, [&steps, dtype](int n) { return steps.hum(dtype, n); }, scale.loss_steps,
      scale)};
  for (PeerSetting setting : allocator_settings()) {
    setting.arguments = {"--dtype", dtype};
    all.push_back(step_contender(
        "JAX", setting.name.empty() ? dtype : dtype + ", " + setting.name,
        [&steps, setting](int n) { return steps.peer("train_jax.py", n, setting); },
        scale.loss_steps, scale, kPeers));
  }
  return all;
}

double gigabytes(const Json& run) {
  return (run["resident_peak"].get<double>() - run["resident_before"].get<double>()) / 1e9;
}

constexpr int kMemorySteps = 2;  // the second has all state

// Gigabytes that the steps of hum add, and those of PyTorch by setting.
struct Memory {
  double hum = 0;
  std::map<std::string, double> torch;  // empty if it is not installed
};

Memory memory_of(const Steps& steps, const std::string& dtype, const std::string& recompute,
                 const Scale& scale) {
  if (!scale.smoke) steps.hum(dtype, 1, recompute);  // compiles for the next run
  Memory memory{.hum = gigabytes(steps.hum(dtype, kMemorySteps, recompute))};
  if (scale.smoke && !is_installed(kPeers)) return memory;
  for (PeerSetting setting : torch_memory_settings(dtype)) {
    setting.arguments.insert(setting.arguments.end(), {"--recompute", recompute});
    memory.torch[setting.name] = gigabytes(steps.peer("train_torch.py", kMemorySteps, setting));
    if (scale.smoke) break;
  }
  return memory;
}

}  // namespace

eval::Bar train_bf16(const Scale& scale) {
  return lm_against_torch("train-bf16", scale, "bf16", has_amx() ? 2.0 : 1.3, 0.01);
}
eval::Bar train_f32(const Scale& scale) {
  return lm_against_torch("train-f32", scale, "f32", 1.3, 1e-4);
}

eval::Bar train_jax(const Scale& scale) {
  constexpr double kF32 = 1.8, kBf16Amx = 5;
  const Steps steps(scale);
  eval::Bar bar{
      .name = "train-jax",
      .unit = "x JAX, f32",
      .bar = fmt::format("f32 >= {} x, bf16 >= {} x on processors with AMX", kF32, kBf16Amx)};
  for (const std::string dtype : {"f32", "bf16"}) {
    const auto outcomes =
        alternate(jax_contenders(steps, dtype, scale), scale, scale.warm_up_steps);
    report(bar, outcomes, [](const Outcome& outcome) {
      return Json{{"gflops", kGigaflops / outcome.ms * 1e3},
                  {"loss_20", outcome.rounds[0].at("losses").back()}};
    });
    const Outcome* best = fastest(outcomes, "JAX");
    if (best == nullptr) continue;
    const double ratio = best->ms / outcomes[0].ms;
    const auto distance = loss_distance(outcomes[0].rounds[0], best->rounds[0]);
    if (dtype == "f32") {
      bar.value = ratio;
      bar.checks.at_least("speed_f32", ratio, kF32);
      bar.checks.at_most("loss_distance_f32", distance.last, 1e-4);
    } else {
      bar.checks.at_least("speed_bf16", ratio, has_amx() ? kBf16Amx : 1);
      bar.checks.at_most("loss_distance_bf16", distance.last, 0.01);
    }
    bar.peer["fastest, " + dtype] = best->name();
    bar.peer["version"] = best->rounds[0].at("version");
  }
  return bar;
}

// Resident memory that the steps add. Both sides keep the same: everything, or only the results of
// matrix products. hum's memory is counted from before it allocates the optimizer's state, because
// PyTorch allocates it in the first step. The PyTorch setting that needs the least memory counts.
eval::Bar train_memory(const Scale& scale) {
  constexpr double kLimit = 0.7;
  const Steps steps(scale);
  eval::Bar bar{.name = "train-memory",
                .unit =
                    "x PyTorch's lowest peak, the worst of f32 and bf16, recomputing nothing "
                    "or selectively",
                .bar = fmt::format("<= {} x, resident memory that the steps add", kLimit)};
  eval::TextTable table({"", "GB"});
  double worst = 0;
  for (const std::string dtype : {"f32", "bf16"}) {
    for (const std::string recompute : {"none", "selective"}) {
      const Memory memory = memory_of(steps, dtype, recompute, scale);
      const std::string what = dtype + ", recomputing " + recompute;
      Json& ours = bar.ours["hum, " + what];
      ours["gb"] = memory.hum;
      table.row({"hum, " + what, fmt::format("{:.2f}", memory.hum)});
      for (const auto& [setting, gb] : memory.torch) {
        const std::string name = fmt::format("PyTorch, {}, {}", what, setting);
        bar.peer[name] = {{"gb", gb}};
        table.row({name, fmt::format("{:.2f}", gb)});
      }
      if (memory.torch.empty()) continue;
      const double least = std::ranges::min_element(memory.torch, {}, [](const auto& row) {
                             return row.second;
                           })->second;
      ours["x_peer"] = memory.hum / least;
      worst = std::max(worst, memory.hum / least);
    }
  }
  std::cerr << table.text();
  if (worst == 0) return bar;
  bar.value = worst;
  bar.checks.at_most("memory", worst, kLimit);
  return bar;
}

// The cost of a start beyond the step itself: opening the plugin, tracing, loading the program,
// making the weights, and first-step costs (memory touched for the first time).
eval::Bar warm_start(const Scale& scale) {
  constexpr double kMost_s = 0.8, kShare = 0.1;
  std::vector<std::string> command = {kLmProgram, "start"};
  if (scale.smoke) command.insert(command.end(), {"1", "64"});
  std::vector<double> cold, ready, step, start_s;
  for (int round = 0; round < scale.rounds; ++round) {
    const ScratchFolder folder;
    const auto start = [&](int compiles) {
      Json run = last_line_json(run_program(command, {{"HUM_CACHE", folder / "c"}}).out);
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
                .unit = "s from process start to the end of the first step, minus one step",
                .bar = fmt::format("<= {} s, and <= {} of the cold compile", kMost_s, kShare)};
  bar.checks.at_most("start_s", median(start_s), kMost_s);
  bar.checks.at_most("share_of_cold_compile", median(start_s) / median(cold), kShare);
  bar.ours["ready_s"] = median(ready);
  bar.ours["step_s"] = median(step);
  bar.ours["cold_compile_s"] = median(cold);
  return bar;
}

}  // namespace hum::bench
