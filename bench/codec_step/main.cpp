// hum_codec_step: the training step of the train-codec bar. Its peer bench/peers/codec_torch.py
// takes the same problem file and prints the same line.
//   hum_codec_step problem FILE STEPS         weights, batches, draws
//   hum_codec_step train FILE f32|bf16 STEPS
#include <chrono>
#include <iostream>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process.h"
#include "bench/codec_step/problem.h"
#include "cli/session.h"
#include "runtime/weights.h"

namespace hum::bench {
namespace {

using runtime::HostTensor;

struct Problem {
  std::vector<train::NamedTensor> weights;
  HostTensor audio;
};

Problem read_problem(const std::string& path) {
  Problem problem;
  for (auto& [name, tensor] : runtime::read_tensors(path)) {
    if (name == kCodecAudio) {
      problem.audio = std::move(tensor);
    } else if (!name.starts_with(kCodecExtra)) {
      problem.weights.push_back({name, std::move(tensor)});
    }
  }
  return problem;
}

Json train_codec(const std::string& path, graph::DType compute, int64_t steps) {
  const CodecSetup setup = codec_setup();
  const models::codec::Codec model(setup.model);
  runtime::Session session(cli::session_options());
  const Problem problem = read_problem(path);
  train::Trainer trainer(session, model.train_spec(setup.batch, setup.samples, compute),
                         setup.optimizer, setup.total_steps, kCodecSeed);
  trainer.load(problem.weights, /*whole=*/false);
  const auto count = static_cast<size_t>(setup.batch * setup.samples);
  Json losses = Json::array(), milliseconds = Json::array();
  std::vector<float> scalars;
  for (int64_t step = 0; step < steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    const auto samples =
        problem.audio.as<float>().subspan(static_cast<size_t>(step) * count, count);
    const HostTensor batch =
        HostTensor::of({setup.batch, setup.samples}, std::span<const float>(samples));
    scalars = trainer.run(step, std::span(&batch, 1)).scalars;
    losses.push_back(scalars[0]);
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  Json last;
  for (size_t i = 0; i < scalars.size(); ++i) last[trainer.scalar_names()[i]] = scalars[i];
  return {{"losses", losses}, {"milliseconds", milliseconds}, {"last_step", last}};
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
    const bool bf16 = std::string_view(arguments[2]) == "bf16";
    const auto compute = bf16 ? graph::DType::kBF16 : graph::DType::kF32;
    std::cout << train_codec(arguments[1], compute, std::stoll(arguments[3])).dump() << std::endl;
    return 0;
  }
  fail(ExitCode::kUsage,
       "usage: hum_codec_step problem FILE STEPS | hum_codec_step train FILE f32|bf16 STEPS");
}

int run_or_report(std::span<char* const> arguments) {
  try {
    init_logging();
    return run(arguments);
  } catch (const Error& error) {
    std::cerr << "hum_codec_step: " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

}  // namespace
}  // namespace hum::bench

int main(int argc, char** argv) {
  hum::end_process(hum::bench::run_or_report({argv + 1, argv + argc}));
}
