// hum_codec_step: the training step of the train-codec bar. Its peer bench/peers/codec_torch.py
// takes the same problem file and prints the same line.
//   hum_codec_step problem FILE STEPS         weights, batches, draws
//   hum_codec_step train FILE f32|bf16 STEPS
#include <iostream>
#include <span>

#include "app/session_options.h"
#include "base/error.h"
#include "base/json.h"
#include "bench/codec_step/problem.h"
#include "bench/run_main.h"
#include "bench/step_program.h"

namespace hum::bench {
namespace {

Json train_codec(const std::string& path, graph::DType compute, int64_t count) {
  const CodecSetup setup = codec_setup();
  const models::codec::Codec model(setup.model);
  runtime::Session session(app::session_options());
  const StepProblem problem = read_step_problem(path, kCodecAudio, kCodecExtra);
  train::Trainer trainer(
      session,
      model.train_spec({.batch = setup.batch, .samples = setup.samples, .compute = compute}),
      setup.optimizer, setup.total_steps, kCodecSeed);
  trainer.load(problem.weights, /*whole=*/false);
  const TimedSteps steps = timed_steps(trainer, problem.batches, count);
  Json last;
  for (size_t i = 0; i < steps.last_scalars.size(); ++i) {
    last[trainer.scalar_names()[i]] = steps.last_scalars[i];
  }
  return {{"losses", steps.losses}, {"milliseconds", steps.milliseconds}, {"last_step", last}};
}

int run(std::span<char* const> arguments) {
  const auto is = [&](size_t count, std::string_view name) {
    return arguments.size() == count && arguments[0] == name;
  };
  if (is(3, "problem")) {
    write_codec_problem(arguments[1], std::stoll(arguments[2]));
    return 0;
  }
  if (is(4, "train")) {
    const auto compute = compute_dtype(arguments[2]);
    print_json(train_codec(arguments[1], compute, std::stoll(arguments[3])));
    return 0;
  }
  fail(ExitCode::kUsage,
       "usage: hum_codec_step problem FILE STEPS | hum_codec_step train FILE f32|bf16 STEPS");
}

}  // namespace
}  // namespace hum::bench

int main(int argc, char** argv) {
  hum::bench::run_main("hum_codec_step", argc, argv, hum::bench::run);
}
