// The guided decoder with weights set by hand: what it passes on, what its free branch adds, the
// floor of its loss; and that more features than it reads change nothing.
#include "models/humming/voice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/fields_json.h"
#include "base/folders.h"
#include "base/rng.h"
#include "base/testing/refusal.h"
#include "kernels/test_session.h"
#include "models/humming/humming_session.h"
#include "models/humming/melody_columns.h"
#include "runtime/testing.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kFrames = 24, kSamples = kFrames * 441;

VoiceConfig small() {
  return {.common = {.latent = 4}, .width = 8, .blocks = 1, .fine_width = 8, .fine_blocks = 1};
}

// One element of a parameter; all others are zero.
struct Weight {
  std::string name;
  size_t at;
  float value;
};

std::vector<HostTensor> weights_of(const Voice& voice, const std::vector<Weight>& weights) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : voice.parameters().all()) {
    tensors.emplace_back(parameter.shape);
    for (const Weight& weight : weights) {
      if (weight.name == parameter.name) tensors.back().as<float>()[weight.at] = weight.value;
    }
  }
  return tensors;
}

std::vector<float> noise(uint64_t seed, double level) {
  Rng rng(seed, "voice-test");
  std::vector<float> samples(kSamples);
  for (float& sample : samples) sample = static_cast<float>(level * rng.normal());
  return samples;
}

std::vector<float> rendered(const VoiceConfig& config, const std::vector<Weight>& weights,
                            const std::vector<float>& excitation, const std::vector<float>& hiss) {
  const Voice voice(config);
  const auto& common = config.common;
  const auto input = [](const char* name, graph::Dims dims) {
    return graph::parameter(name, {DType::kF32, std::move(dims)});
  };
  const Value latents = input("latents", {1, kFrames, common.latent}),
              melody = input("melody", {1, kFrames, common.melody_features}),
              e = input("excitation", {1, kSamples}), n = input("noise", {1, kSamples});
  graph::Values parameters = voice.parameters().values();
  parameters.insert(parameters.end(), {latents, melody, e, n});
  auto inputs = weights_of(voice, weights);
  for (const Value& zeros : {latents, melody}) inputs.emplace_back(zeros.shape());
  for (const auto* samples : {&excitation, &hiss}) {
    inputs.push_back(HostTensor::of({1, kSamples}, std::span<const float>(*samples)));
  }
  return runtime::evaluate({voice.render(latents, melody, e, n)}, parameters, inputs)[0]
      .to_floats();
}

// The amplitude of a sinusoid of a whole number of periods in 882 samples, in the middle of a
// sound.
double amplitude_at(std::span<const float> sound, double hz) {
  constexpr size_t kFrom = 441 * 8, kCount = 882 * 4;
  double re = 0, im = 0;
  for (size_t i = kFrom; i < kFrom + kCount; ++i) {
    const double angle = 2 * std::numbers::pi * hz * static_cast<double>(i) / 22050;
    re += sound[i] * std::cos(angle);
    im += sound[i] * std::sin(angle);
  }
  return 2 * std::hypot(re, im) / kCount;
}

TEST(Voice, WithoutWeightsPassesOnTheExcitationAndQuietNoise) {
  const auto excitation = noise(1, 0.1), hiss = noise(2, 1);
  const auto sound = rendered(small(), {}, excitation, hiss);
  ASSERT_EQ(sound.size(), excitation.size());
  for (size_t i = 588; i + 588 < sound.size(); ++i) {
    ASSERT_NEAR(sound[i], excitation[i] + std::exp(-4.6) * hiss[i], 1e-4) << i;
  }
}

TEST(Voice, PlaysPartialsThatNoExcitationHas) {
  VoiceConfig config = small();
  config.free_branch = true;
  config.free_low_bins = 64;
  const std::vector<float> silence(kSamples);
  // A magnitude of 50 in bin 4 of 588 samples (150 Hz) or bin 8 of 1764 (100 Hz). A quarter of a
  // window later the phase is the same.
  const auto level = static_cast<float>(std::log(50.0) + 6);
  const auto high = rendered(config, {{"free_head.bias", 4, level}}, silence, silence),
             low = rendered(config, {{"free_low_head.bias", 8, level}}, silence, silence),
             none = rendered(config, {}, silence, silence);
  // Four Hann windows add up to 2, their squares to 3/2.
  constexpr double kWindows = 2 / 1.5;
  EXPECT_NEAR(amplitude_at(high, 150), kWindows * 2 * 50 / 588, 2e-3);
  EXPECT_NEAR(amplitude_at(low, 100), kWindows * 2 * 50 / 1764, 2e-3);
  for (const float sample : none) EXPECT_LT(std::fabs(sample), 1e-3) << "starts inaudible";
}

TEST(Voice, IsThatOfEarlierReleasesUnlessTold) {
  VoiceConfig released;
  from_json(read_json(source_folder() / "weights/voice/config.json").at("model"), released);
  EXPECT_EQ(released.common.melody_features, 9);
  EXPECT_EQ(released.excitation_tail_s, 0.25);
  EXPECT_EQ(released.floor_db, 60);
  const Voice voice(released);
  for (const auto& parameter : voice.parameters().all()) {
    EXPECT_FALSE(parameter.name.starts_with("free")) << parameter.name;
  }
}

TEST(Voice, RefusesWhatFitsNoWindowOrPiece) {
  const auto code = [](auto change) {
    VoiceConfig config = small();
    change(config);
    return hum::testing::code_of([&] { Voice{config}; });
  };
  EXPECT_EQ(code([](VoiceConfig&) {}), ExitCode::kOk);
  EXPECT_EQ(code([](VoiceConfig& c) { c.excitation_tail_s = 2.5; }), ExitCode::kConfig);
  EXPECT_EQ(code([](VoiceConfig& c) { c.floor_db = 0; }), ExitCode::kConfig);
  EXPECT_EQ(code([](VoiceConfig& c) { c.onset_weight = -1; }), ExitCode::kConfig);
  EXPECT_EQ(code([](VoiceConfig& c) { c.free_low_bins = 64; }), ExitCode::kConfig);
  EXPECT_EQ(code([](VoiceConfig& c) {
              c.free_branch = true;
              c.free_low_bins = 884;
            }),
            ExitCode::kConfig);
}

// One term of the training loss of a voice without weights, which plays noise at -40 dB, on a
// target whose second half is 70 dB below its first and begins with a note.
double loss_term(const VoiceConfig& config, const std::string& term) {
  const Voice voice(config);
  const auto spec = voice.train_spec({.batch = 1, .samples = kSamples, .frames = kFrames});
  graph::Values inputs = voice.parameters().values(), batch;
  auto tensors = weights_of(voice, {});
  for (const auto& field : spec.batch) {
    batch.push_back(graph::parameter(field.name, field.shape));
    tensors.emplace_back(field.shape);
    if (field.name == "melody") {
      tensors.back().as<float>()[kFrames / 2 * 9 + kMelodyOnset] = 1;
    }
    if (field.name != "audio") continue;
    auto audio = noise(3, 1);
    for (size_t i = audio.size() / 2; i < audio.size(); ++i) audio[i] *= 3e-4F;
    tensors.back() = HostTensor::of({1, kSamples}, std::span<const float>(audio));
  }
  const Value key = graph::parameter("key", {DType::kU32, {2}});
  tensors.push_back(HostTensor::of<uint32_t>({2}, {1, 2}));
  inputs.insert(inputs.end(), batch.begin(), batch.end());
  inputs.push_back(key);
  const auto loss = spec.loss(batch, {.step = graph::constant(0, {DType::kI32, {}}), .key = key});
  const auto metric = std::ranges::find(loss.metrics, term, &std::pair<std::string, Value>::first);
  if (metric == loss.metrics.end()) return -1;
  return runtime::evaluate({metric->second}, inputs, tensors)[0].as<float>()[0];
}

TEST(Voice, LooksAsFarDownAsItsFloor) {
  VoiceConfig low = small(), high = small();
  low.floor_db = 80;
  // 40 dB too quiet, then 30 dB too loud; of these, 20 dB above a floor of 60 dB.
  EXPECT_GT(loss_term(low, "mel"), loss_term(high, "mel") + 0.1);
}

TEST(Voice, HearsHowNotesBeginIfTold) {
  VoiceConfig config = small();
  EXPECT_EQ(loss_term(config, "onset"), -1) << "no such term";
  config.onset_weight = 0.3;
  EXPECT_GT(loss_term(config, "onset"), 0.5)
      << "the target falls by more than 40 dB, noise does not";
}

TEST(Voice, StartsFromOneOfFewerFeaturesWithZerosForTheOthers) {
  runtime::Weights weights{.config = {{"model", {{"common", {{"melody_features", 2}}}}}},
                           .tensors = {}};
  weights.tensors.emplace_back("in.weight", HostTensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  weights.tensors.emplace_back("head.weight", HostTensor::of<float>({1, 2}, {7, 8}));
  const auto before = weights.tensors;
  widen_for_features(weights, 2);
  EXPECT_EQ(weights.tensors, before);
  widen_for_features(weights, 3);
  EXPECT_EQ(weights.tensors[0].second, HostTensor::of<float>({2, 4}, {1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(weights.tensors[1], before[1]);
}

TEST(MelodyColumns, AreTheFirstAndMustBeThere) {
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(first_columns(rows, {2, 2}), HostTensor::of<float>({2, 2}, {1, 2, 4, 5}));
  EXPECT_EQ(first_columns(rows, {2, 3}).to_floats(), rows);
  EXPECT_EQ(hum::testing::code_of([&] { first_columns(rows, {2, 4}); }), ExitCode::kBadData);
}

TEST(HummingSession, RendersTheReleasedVoiceTheSameWhateverElseItIsTold) {
  HUM_NEEDS(kernels::Isa::kAvx2);  // the plugin's own FFT rounds differently when it is busy
  const HummingSession session(kernels::kernel_session(), source_folder() / "weights");
  EXPECT_EQ(session.excitation_tail_s(), 0.25);
  Rng rng(6, "voice-test window");
  const auto random = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(0.3 * rng.normal());
    return values;
  };
  const auto latents = random(kWindowFrames * 64), excitation = random(kWindowSamples),
             hiss = random(kWindowSamples), all = random(kWindowFrames * kAllMelodyFeatures);
  const auto first = first_columns(all, {kWindowFrames, 9}).to_floats();
  const VoiceWindow told{latents, first, excitation, hiss},
      told_more{latents, all, excitation, hiss};
  EXPECT_EQ(session.render(std::span(&told, 1)), session.render(std::span(&told_more, 1)));
}

}  // namespace
}  // namespace hum::models::humming
