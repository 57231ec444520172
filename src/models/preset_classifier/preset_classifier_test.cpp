// The preset classifier: its invariances, and the session against the graph.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "models/mel_scale.h"
#include "models/preset_classifier/classifier_session.h"
#include "models/preset_classifier/model.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::preset_classifier {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kSamples = 22050;

PresetClassifierConfig small() {
  PresetClassifierConfig config;
  config.presets = {"flute", "violin", "piano"};
  config.bands = 20;
  config.width = 16;
  config.blocks = 2;
  config.embedding = 5;
  return config;
}

std::vector<HostTensor> weights_of(const PresetClassifier& model) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : model.parameters().all()) {
    const auto values = nn::initial_elements(parameter, 3);
    tensors.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  return tensors;
}

// Embedding and logits.
std::vector<HostTensor> predict(const std::vector<float>& samples,
                                Spacing spacing = Spacing::kMel) {
  auto config = small();
  config.spacing = spacing;
  const PresetClassifier model(config);
  const auto size = static_cast<int64_t>(samples.size());
  const Value audio = graph::parameter("audio", {DType::kF32, {1, size}});
  const auto predicted = model.predict(audio, DType::kF32);
  auto parameters = model.parameters().values();
  parameters.push_back(audio);
  auto inputs = weights_of(model);
  inputs.push_back(HostTensor::of({1, size}, std::span<const float>(samples)));
  return runtime::evaluate({predicted.embedding_BE, predicted.logits_BC}, parameters, inputs);
}

double distance(const HostTensor& a, const HostTensor& b) {
  double sum = 0;
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    sum += std::abs(a.as<float>()[i] - b.as<float>()[i]);
  }
  return sum;
}

TEST(PresetClassifier, HearsTheSoundAndNotItsLevel) {
  const auto sound = audio::test_signal(kSamples, 22050);
  auto quiet = sound;
  for (float& sample : quiet) sample *= 0.01F;
  const auto loud = predict(sound);
  EXPECT_EQ(loud[0].shape().dims, (graph::Dims{1, 5}));
  EXPECT_EQ(loud[1].shape().dims, (graph::Dims{1, 3}));
  EXPECT_LT(distance(loud[1], predict(quiet)[1]), 1e-3);
  EXPECT_GT(distance(loud[1], predict(audio::tone(440, 1, 22050))[1]), 1e-2);
}

TEST(PresetClassifier, TakesSilence) {
  for (const Spacing spacing : {Spacing::kMel, Spacing::kOctaves}) {
    for (const auto& tensor : predict(std::vector<float>(kSamples), spacing)) {
      for (const float value : tensor.as<float>()) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(PresetClassifier, HearsOtherBandsWithOtherSpacing) {
  const auto sound = audio::test_signal(kSamples, 22050);
  const auto mel = predict(sound), octaves = predict(sound, Spacing::kOctaves);
  EXPECT_EQ(mel[0].shape(), octaves[0].shape());
  EXPECT_GT(distance(mel[0], octaves[0]), 1e-2);
}

TEST(OctaveScale, HasBandsAtEqualRatiosOfWhichNoneIsEmpty) {
  constexpr int64_t kBands = 64;
  const nn::MelScale scale = octave_scale(4096, 512, kBands);
  ASSERT_EQ(std::ssize(scale.weights), 2049 * kBands);
  std::vector<double> centre_bins(kBands);
  for (int64_t band = 0; band < kBands; ++band) {
    double sum = 0, weighted = 0;
    for (int64_t bin = 0; bin < 2049; ++bin) {
      const double weight = scale.weights[static_cast<size_t>(bin * kBands + band)];
      sum += weight;
      weighted += weight * static_cast<double>(bin);
    }
    EXPECT_GT(sum, 0.5) << band;
    centre_bins[static_cast<size_t>(band)] = weighted / sum;
  }
  const double ratio = std::pow(11025 / 40.0, 1.0 / kBands);
  EXPECT_NEAR(centre_bins[0] * 22050 / 4096, 40, 2);
  EXPECT_NEAR(centre_bins[63] / centre_bins[62], ratio, 0.01);
  EXPECT_NEAR(centre_bins[40] / centre_bins[30], std::pow(ratio, 10), 0.05);
}

TEST(PresetClassifier, NeedsTwoPresets) {
  auto config = small();
  config.presets.resize(1);
  EXPECT_THROW(PresetClassifier{config}, Error);
}

TEST(ClassifierSession, IsTheGraphWithStoredWeightsAndAveragesWindows) {
  const PresetClassifier model(small());
  auto config = small();
  runtime::Weights weights{{{"model_type", "hum-classifier"}, {"model", to_json(config)}}, {}};
  const auto tensors = weights_of(model);
  for (size_t i = 0; i < tensors.size(); ++i) {
    weights.tensors.emplace_back(model.parameters().all()[i].name, tensors[i]);
  }
  const auto folder =
      std::filesystem::temp_directory_path() / ("hum-classifier-test-" + std::to_string(getpid()));
  runtime::write_weights(folder, weights, DType::kF32);
  const ClassifierSession session(runtime::test_session(), folder);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(session.presets(), config.presets);

  const auto one = audio::test_signal(kWindowSamples, 22050);
  const auto other = audio::tone(300, 6, 22050);
  const auto a = session.judge(one), b = session.judge(other);
  const auto direct = predict(one);
  ASSERT_EQ(a.embedding.size(), 5u);
  ASSERT_EQ(a.logits.size(), 3u);
  EXPECT_NEAR(a.embedding[2], direct[0].as<float>()[2], 1e-3);
  EXPECT_NEAR(a.logits[1], direct[1].as<float>()[1], 1e-3);
  auto both = one;
  both.insert(both.end(), other.begin(), other.end());
  EXPECT_NEAR(session.judge(both).logits[1], (a.logits[1] + b.logits[1]) / 2, 1e-4);
  EXPECT_THROW(session.judge({}), Error);
}

}  // namespace
}  // namespace hum::models::preset_classifier
