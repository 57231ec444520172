// hum_lm: the training step of the language-model bars, in a separate process, so that its memory
// and start can be measured. The peers in bench/peers/ take the same problem file and print the
// same line.
//   hum_lm problem FILE STEPS [BATCH LENGTH]   writes weights and batches
//   hum_lm train FILE f32|bf16 STEPS [none|selective]   what is recomputed; selective without it
//   hum_lm start [BATCH LENGTH]      three bf16 steps with random weights
//   hum_lm write-385m FOLDER [LAYERS]          a Hugging Face folder
//   hum_lm decode FOLDER
//   hum_lm logits FOLDER FILE        of a greedy continuation, for a peer to check
#include <jemalloc/jemalloc.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <sstream>

#include "app/session_options.h"
#include "base/error.h"
#include "base/json.h"
#include "base/rng.h"
#include "bench/lm/decode.h"
#include "bench/lm/model.h"
#include "bench/run_main.h"
#include "bench/step_program.h"
#include "runtime/weights.h"
#include "train/training_step.h"

namespace hum::bench {
namespace {

using runtime::HostTensor;

constexpr uint64_t kSeed = 4;
constexpr const char* kBatches = "batches";
constexpr const char* kSizes = "size.";  // for the peers

void write_problem(const std::string& path, int64_t steps, const LmSize& size) {
  const Lm model(size);
  runtime::NamedTensors tensors;
  for (const auto& parameter : model.parameters().all()) {
    const auto values = nn::initial_elements(parameter, kSeed);
    tensors.emplace_back(parameter.name,
                         HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  std::vector<int32_t> tokens(static_cast<size_t>(steps * size.batch * (size.length + 1)));
  Rng rng(kSeed, kBatches);
  int64_t token = 0;
  // The previous token mostly determines the next, so that there is something to learn.
  for (int32_t& next : tokens) {
    token =
        rng.chance(0.1) ? rng.integer(0, size.vocabulary - 1) : (5 * token + 1) % size.vocabulary;
    next = static_cast<int32_t>(token);
  }
  tensors.emplace_back(kBatches, HostTensor::of({steps, size.batch, size.length + 1},
                                                std::span<const int32_t>(tokens)));
  const auto& t = size.transformer;
  for (const auto& [name, value] : {std::pair{"vocabulary", size.vocabulary},
                                    {"width", t.width},
                                    {"heads", t.heads},
                                    {"feed_forward", t.feed_forward},
                                    {"layers", t.layers}}) {
    tensors.emplace_back(std::string(kSizes) + name,
                         HostTensor::scalar(static_cast<int32_t>(value)));
  }
  runtime::write_tensors(path, tensors);
}

// In bytes; `key`: a row of /proc/self/status.
int64_t memory_bytes(const std::string& key) {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  HUM_CHECK(false, "/proc/self/status has no {}", key);
  return 0;
}

// Resident bytes, without free memory that the allocator keeps and the steps would reuse.
int64_t resident_bytes() {
  const std::string purge = fmt::format("arena.{}.purge", MALLCTL_ARENAS_ALL);
  HUM_CHECK(mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0) == 0);
  return memory_bytes("VmRSS");
}

// Since the process started; the system counts in hundredths of a second.
double seconds_since_start() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;  // starttime is the 22nd
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

constexpr train::OptimizerConfig kOptimizer = {.learning_rate = 3e-4,
                                               .final_learning_rate = 3e-4,
                                               .warm_up_steps = 0,
                                               .beta1 = 0.9,
                                               .beta2 = 0.95,
                                               .epsilon = 1e-8,
                                               .weight_decay = 0.01,
                                               .clip_norm = 1.0};

// The backward pass recomputes everything but the results of matrix products.
constexpr auto kSelective = graph::RecomputePolicy::kSelective;

graph::RecomputePolicy recompute_policy(std::string_view name) {
  if (name == "selective") return kSelective;
  if (name != "none")
    fail(ExitCode::kUsage, fmt::format("'{}' is neither none nor selective", name));
  return graph::RecomputePolicy::kNone;
}

Json train_lm(const std::string& path, graph::DType compute, int64_t count,
              graph::RecomputePolicy recompute) {
  StepProblem problem = read_step_problem(path, kBatches, kSizes);
  const graph::Dims& dims = problem.batches.shape().dims;  // [steps, batch, length + 1]
  const Lm model{{.batch = dims[1], .length = dims[2] - 1}};
  runtime::Session session(app::session_options());
  train::Trainer trainer(session, model.train_spec(compute), kOptimizer, count, kSeed,
                         {.blocks = {.recompute = recompute}});
  trainer.load(problem.weights, /*whole=*/false);
  problem.weights.clear();
  // Peers allocate their two moments in the first step; ours exist already.
  const int64_t moments = 2 * 4 * model.parameters().element_count();
  const int64_t before = resident_bytes() - moments;
  const TimedSteps steps = timed_steps(trainer, problem.batches, count);
  return {{"losses", steps.losses},
          {"milliseconds", steps.milliseconds},
          {"resident_before", before},
          {"resident_peak", memory_bytes("VmHWM")},
          {"program_bytes", trainer.memory_stats() ? trainer.memory_stats()->total_bytes() : 0}};
}

// The first steps with random weights, to measure the time of a start.
Json start_lm(graph::DType compute, const LmSize& size) {
  constexpr int64_t kSteps = 3;
  const Lm model{size};
  runtime::Session session(app::session_options());
  train::Trainer trainer(session, model.train_spec(compute), kOptimizer, kSteps, kSeed,
                         {.blocks = {.recompute = kSelective}});
  const double ready_s = seconds_since_start();
  const HostTensor batch({graph::DType::kI32, {size.batch, size.length + 1}});
  const float loss = trainer.run(0, std::span(&batch, 1)).scalars[0];
  const double first_step_s = seconds_since_start();
  for (int64_t step = 1; step < kSteps; ++step) trainer.run(step, std::span(&batch, 1));
  return {{"ready_s", ready_s},
          {"first_step_s", first_step_s},
          {"step_s", (seconds_since_start() - first_step_s) / (kSteps - 1)},
          {"loss", loss},
          {"compiles", session.counters().compiles},
          {"compile_s", session.counters().compile_seconds}};
}

int run(std::span<char* const> arguments) {
  const auto is = [&](size_t count, std::string_view name) {
    return arguments.size() == count && arguments[0] == name;
  };
  if (is(3, "problem")) {
    write_problem(arguments[1], std::stoll(arguments[2]), {});
    return 0;
  }
  if (is(5, "problem")) {
    write_problem(arguments[1], std::stoll(arguments[2]),
                  {.batch = std::stoll(arguments[3]), .length = std::stoll(arguments[4])});
    return 0;
  }
  if (is(4, "train") || is(5, "train")) {
    const auto recompute = arguments.size() == 5 ? recompute_policy(arguments[4]) : kSelective;
    const Json run =
        train_lm(arguments[1], compute_dtype(arguments[2]), std::stoll(arguments[3]), recompute);
    print_json(run);
    return 0;
  }
  if (is(2, "write-385m")) {
    write_385m(arguments[1]);
    return 0;
  }
  if (is(3, "write-385m")) {
    write_385m(arguments[1], std::stoll(arguments[2]));
    return 0;
  }
  if (is(2, "decode")) {
    print_json(decode(arguments[1]));
    return 0;
  }
  if (is(3, "logits")) {
    write_logits(arguments[1], arguments[2]);
    return 0;
  }
  if (is(1, "start")) {
    print_json(start_lm(graph::DType::kBF16, {}));
    return 0;
  }
  if (is(3, "start")) {
    const LmSize size{.batch = std::stoll(arguments[1]), .length = std::stoll(arguments[2])};
    print_json(start_lm(graph::DType::kBF16, size));
    return 0;
  }
  fail(ExitCode::kUsage,
       "usage: hum_lm problem FILE STEPS [BATCH LENGTH] | hum_lm train FILE f32|bf16 STEPS "
       "[none|selective] | hum_lm start [BATCH LENGTH] | hum_lm write-385m FOLDER [LAYERS] | "
       "hum_lm decode FOLDER "
       "| hum_lm logits FOLDER FILE");
}

}  // namespace
}  // namespace hum::bench

int main(int argc, char** argv) { hum::bench::run_main("hum_lm", argc, argv, hum::bench::run); }
