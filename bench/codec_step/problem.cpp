#include "bench/codec_step/problem.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <span>
#include <utility>

#include "app/training/configuration.h"
#include "base/fields_json.h"
#include "base/folders.h"
#include "base/rng.h"
#include "models/mel_scale.h"
#include "runtime/bind.h"
#include "runtime/weights.h"

namespace hum::bench {

using runtime::HostTensor;

namespace {

// Adds a note with vibrato, a falling spectrum, an envelope and noise: [samples].
void add_note(std::span<float> samples, Rng& rng) {
  constexpr double kRate_hz = models::codec::kSampleRateHz;
  const double f0_hz = 55 * std::exp2(rng.uniform(0, 4));
  const double slope = rng.uniform(0.5, 2), attack_s = rng.uniform(0.005, 0.1);
  const double decay_s = rng.uniform(0.2, 2), noise = rng.uniform(0, 0.02);
  const double vibrato = rng.uniform(0, 0.01), vibrato_hz = rng.uniform(4, 7);
  const double level = rng.uniform(0.05, 0.4), start_s = rng.uniform(0, 0.6);
  const int harmonics = static_cast<int>(std::min(24.0, 0.45 * kRate_hz / f0_hz));
  double phase = rng.uniform(0, 2 * std::numbers::pi);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate_hz - start_s;
    if (t < 0) continue;
    const double bend = 1 + vibrato * std::sin(2 * std::numbers::pi * vibrato_hz * t);
    phase += 2 * std::numbers::pi * f0_hz * bend / kRate_hz;
    double sum = noise * rng.normal();
    for (int k = 1; k <= harmonics; ++k) sum += std::sin(k * phase) * std::pow(k, -slope);
    samples[i] +=
        static_cast<float>(level * (1 - std::exp(-t / attack_s)) * std::exp(-t / decay_s) * sum);
  }
}

HostTensor audio_batches(const CodecSetup& setup, int64_t steps) {
  HostTensor audio({graph::DType::kF32, {steps, setup.batch, setup.samples}});
  const auto count = static_cast<size_t>(setup.samples);
  for (int64_t clip = 0; clip < steps * setup.batch; ++clip) {
    Rng rng(kCodecSeed, "clip", static_cast<uint64_t>(clip));
    const auto samples = audio.as<float>().subspan(static_cast<size_t>(clip) * count, count);
    const int64_t notes = rng.integer(1, 3);
    for (int64_t note = 0; note < notes; ++note) add_note(samples, rng);
    for (float& sample : samples) sample = std::clamp(sample, -1.0F, 1.0F);
  }
  return audio;
}

// The draws of models/codec/quantizer.cpp, derived from the same keys.
struct Draws {
  std::vector<float> kept;        // [steps, B]
  std::vector<int32_t> newcomer;  // [steps, K, E]
};

Draws draws(const CodecSetup& setup, int64_t steps) {
  const auto& quantizer = setup.model.quantizer;
  const auto books = static_cast<float>(quantizer.books);
  const auto vectors = static_cast<float>(setup.batch * setup.samples / models::codec::kHopSamples);
  Draws result;
  for (int64_t step = 0; step < steps; ++step) {
    const auto key = stream_key(kCodecSeed, "codec/step", static_cast<uint64_t>(step));
    auto stream = [&](uint32_t number) { return Rng(threefry2x32(key, {number, 0})); };
    Rng kept = stream(1000);
    for (int64_t item = 0; item < setup.batch; ++item) {
      const auto u = static_cast<float>(kept.uniform());
      const float some = std::floor((u - 0.25F) * (4 * (books - 1))) + 2;
      result.kept.push_back(u < 0.25F ? 1 : u < 0.5F ? some : books);
    }
    for (int64_t book = 0; book < quantizer.books; ++book) {
      Rng newcomer = stream(static_cast<uint32_t>(book));
      for (int64_t entry = 0; entry < quantizer.entries; ++entry) {
        const auto u = static_cast<float>(newcomer.uniform());
        result.newcomer.push_back(static_cast<int32_t>(u * vectors));
      }
    }
  }
  return result;
}

std::filesystem::path released_codec() { return source_folder() / "weights/codec"; }

}  // namespace

CodecSetup codec_setup() {
  const auto configuration = app::read_configuration(app::configuration_path("codec"), "codec");
  const auto& stage = configuration.stage;
  CodecSetup setup{.optimizer = stage.loop.optimizer,
                   .batch = stage.batch,
                   .samples = configuration.step_shape().samples,
                   .total_steps = stage.loop.steps};
  const auto folder = released_codec();
  runtime::read_model_config(runtime::read_weights(folder), "hum-codec", folder, setup.model);
  setup.model.quantizer.warm_up_steps = 0;
  return setup;
}

void write_codec_problem(const std::string& path, int64_t steps) {
  const CodecSetup setup = codec_setup();
  runtime::NamedTensors tensors;
  for (const auto& [name, tensor] : runtime::read_weights(released_codec()).tensors) {
    const std::vector<float> values = tensor.to_floats();
    tensors.emplace_back(name, HostTensor::of(tensor.shape().dims, std::span<const float>(values)));
  }
  auto add = [&]<typename T>(const std::string& name, graph::Dims dims,
                             const std::vector<T>& values) {
    tensors.emplace_back(kCodecExtra + name,
                         HostTensor::of(std::move(dims), std::span<const T>(values)));
  };
  std::vector<float> rates;
  for (int64_t step = 0; step < steps; ++step) {
    rates.push_back(
        static_cast<float>(train::learning_rate_at(setup.optimizer, step, setup.total_steps)));
  }
  add("learning_rates", {steps}, rates);
  const Draws drawn = draws(setup, steps);
  add("kept_books", {steps, setup.batch}, drawn.kept);
  add("newcomers", {steps, setup.model.quantizer.books, setup.model.quantizer.entries},
      drawn.newcomer);
  const auto& model = setup.model;
  for (const auto& [term, weight] : {std::pair{"phase", model.phase_weight},
                                     {"balance", model.balance_weight},
                                     {"partials", model.partials_weight}}) {
    add(std::string("weight.") + term, {1}, std::vector{static_cast<float>(weight)});
  }
  add("floor_db", {1}, std::vector{static_cast<float>(model.floor_db)});
  for (const auto& scale : models::training_mel_scales()) {
    add("mel." + std::to_string(scale.window_samples), {scale.window_samples / 2 + 1, scale.bands},
        scale.weights);
  }
  tensors.emplace_back(kCodecAudio, audio_batches(setup, steps));
  runtime::write_tensors(path, tensors);
}

}  // namespace hum::bench
