// Bands, masks and the loss of the separator, for both architectures at tiny sizes.
#include "models/separator/model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/fields_json.h"
#include "base/rng.h"
#include "base/testing/refusal.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::models::separator {
namespace {

using graph::DType;
using hum::testing::message_of;
using runtime::HostTensor;
using ::testing::HasSubstr;

constexpr int64_t kFrames = 12, kSamples = kFrames * 128;

SeparatorConfig tiny(Architecture architecture = Architecture::kBandSplit) {
  SeparatorConfig config;
  from_json(models::tiny_config("separator"), config);
  config.architecture = architecture;
  return config;
}

// Numbers that make the masks differ; with `equal_shares`, the last layer's are 0.
std::vector<HostTensor> weights_of(const Separator& model, bool equal_shares = false) {
  std::vector<HostTensor> weights;
  for (const auto& parameter : model.parameters().all()) {
    auto values = nn::initial_elements(parameter, 3);
    const bool is_head = parameter.name.find("head") != std::string::npos;
    for (float& value : values) {
      if (is_head) value = equal_shares ? 0 : 30 * value;
    }
    weights.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(values)));
  }
  return weights;
}

HostTensor noise(const char* stream, graph::Dims dims, double level) {
  Rng rng(9, stream);
  HostTensor tensor({DType::kF32, std::move(dims)});
  for (float& value : tensor.as<float>()) value = static_cast<float>(level * rng.normal());
  return tensor;
}

// Shapes: x_1CTF -> with `silent` frames after it.
HostTensor with_silence(const HostTensor& x_1CTF, int64_t silent) {
  graph::Dims dims = x_1CTF.shape().dims;
  const auto from = static_cast<size_t>(dims[2] * dims[3]);
  dims[2] += silent;
  HostTensor longer({DType::kF32, dims});
  const auto to = static_cast<size_t>(dims[2] * dims[3]);
  for (size_t channel = 0; channel < kChannels; ++channel) {
    std::ranges::copy(x_1CTF.as<float>().subspan(channel * from, from),
                      longer.as<float>().subspan(channel * to).begin());
  }
  return longer;
}

// Shapes: -> [S, T, F] of one mixture, and of silence after it.
std::vector<float> masks_of(const Separator& model, double level, int64_t silent = 0) {
  const graph::Dims sound = {1, kChannels, kFrames, model.config().all_bins()},
                    dims = {1, kChannels, kFrames + silent, model.config().all_bins()};
  const Value real = graph::parameter("real", {DType::kF32, dims}),
              imag = graph::parameter("imag", {DType::kF32, dims});
  Values parameters = model.parameters().values();
  parameters.insert(parameters.end(), {real, imag});
  auto inputs = weights_of(model);
  inputs.push_back(with_silence(noise("real", sound, level), silent));
  inputs.push_back(with_silence(noise("imag", sound, level), silent));
  return runtime::evaluate({model.masks({real, imag}, DType::kF32)}, parameters, inputs)[0]
      .to_floats();
}

class Masks : public ::testing::TestWithParam<Architecture> {};

TEST_P(Masks, AddUpToOneAndIgnoreTheLevel) {
  const Separator model(tiny(GetParam()));
  const auto masks = masks_of(model, 1), louder = masks_of(model, 40);
  const auto bins = static_cast<size_t>(kFrames * model.config().all_bins());
  ASSERT_EQ(masks.size(), kStems.size() * bins);
  double spread = 0;
  for (size_t i = 0; i < bins; ++i) {
    double sum = 0;
    for (size_t stem = 0; stem < kStems.size(); ++stem) {
      const float mask = masks[stem * bins + i];
      EXPECT_GE(mask, 0);
      EXPECT_NEAR(mask, louder[stem * bins + i], 2e-4);
      spread += std::abs(mask - 1.0 / 6);
      sum += mask;
    }
    ASSERT_NEAR(sum, 1, 1e-5) << i;
  }
  EXPECT_GT(spread / static_cast<double>(masks.size()), 0.01) << "the test's weights say something";
}

// The last segment of a song, and that of a short one. The attention of band_split sees the silence
// itself, too, so its masks cannot be compared.
TEST(ConvNextMasks, DoNotChangeWhenSilenceFollows) {
  const Separator model(tiny(Architecture::kConvNext));
  constexpr int64_t kSilent = 5 * kFrames, kReach = 3;  // frames that the one block looks ahead
  const auto masks = masks_of(model, 1), longer = masks_of(model, 1, kSilent);
  const int64_t bins = model.config().all_bins();
  for (int64_t stem = 0; stem < kStemCount; ++stem) {
    for (int64_t i = 0; i < (kFrames - kReach) * bins; ++i) {
      ASSERT_NEAR(masks[static_cast<size_t>(stem * kFrames * bins + i)],
                  longer[static_cast<size_t>(stem * (kFrames + kSilent) * bins + i)], 1e-5)
          << stem << " " << i;
    }
  }
}

TEST_P(Masks, AboveTheBandsAreTheMeanOfTheHighest) {
  const Separator model(tiny(GetParam()));
  const auto masks = masks_of(model, 1);
  const auto edges = band_edges(model.config());
  const auto all = model.config().all_bins(), top = edges[edges.size() - 2];
  for (int64_t row = 0; row < kStemCount * kFrames; ++row) {
    const float* mask = &masks[static_cast<size_t>(row * all)];
    double mean = 0;
    for (int64_t bin = top; bin < edges.back(); ++bin) mean += mask[bin];
    mean /= static_cast<double>(edges.back() - top);
    EXPECT_NEAR(mask[edges.back()], mean, 1e-5);
    EXPECT_EQ(mask[edges.back()], mask[all - 1]);
  }
}

// The loss, the mean logarithm of the stems' errors, then gradients if they are wanted.
std::vector<HostTensor> loss_of(const Separator& model, const std::vector<HostTensor>& weights,
                                const HostTensor& stems, const HostTensor& mixture,
                                bool with_gradients = false) {
  const auto spec = model.train_spec({.batch = 2, .samples = kSamples + 5});
  Values batch;
  for (const auto& field : spec.batch) batch.push_back(graph::parameter(field.name, field.shape));
  const nn::Loss loss = spec.loss(batch, {});
  Values results = {loss.total, loss.metrics.at(2).second};
  const Values trained = model.parameters().values();
  if (with_gradients) {
    for (const Value& gradient : graph::gradients(loss.total, trained)) {
      results.push_back(gradient);
    }
  }
  Values parameters = trained;
  parameters.insert(parameters.end(), batch.begin(), batch.end());
  auto inputs = weights;
  inputs.push_back(stems);
  inputs.push_back(mixture);
  return runtime::evaluate(results, parameters, inputs);
}

TEST_P(Masks, WithTheTrueSharesHaveNoLoss) {
  const Separator model(tiny(GetParam()));
  const HostTensor mixture = noise("mixture", {2, kChannels, kSamples}, 0.1);
  HostTensor stems({DType::kF32, {2, kStemCount, kChannels, kSamples}});
  const auto from = mixture.as<float>();
  const auto to = stems.as<float>();
  const size_t item = from.size() / 2;
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = from[i / (item * kStems.size()) * item + i % item] / 6;
  }
  const double least = loss_of(model, weights_of(model, true), stems, mixture)[0].to_floats()[0];
  EXPECT_LT(least, 1e-4);
  EXPECT_GT(loss_of(model, weights_of(model), stems, mixture)[0].to_floats()[0], 0.05);
}

// Equal masks; the first item has one stem, the second has two that share all.
TEST_P(Masks, CountTheErrorOfEachStemThatSounds) {
  const Separator model(tiny(GetParam()));
  const HostTensor mixture = noise("mixture", {2, kChannels, kSamples}, 0.1);
  HostTensor stems({DType::kF32, {2, kStemCount, kChannels, kSamples}});
  const auto from = mixture.as<float>();
  const auto to = stems.as<float>();
  const size_t item = from.size() / 2, second = item * kStems.size();
  for (size_t i = 0; i < item; ++i) {
    to[i] = from[i];
    to[second + i] = to[second + item + i] = from[item + i] / 2;
  }
  const double errors = loss_of(model, weights_of(model, true), stems, mixture)[1].to_floats()[0];
  const auto of = [](double wanted) { return std::log(1 + 1000 * std::pow(wanted - 1.0 / 6, 2)); };
  EXPECT_NEAR(errors, (of(1) + 2 * of(0.5)) / 3, 0.05);
}

TEST_P(Masks, OfSilenceHaveAFiniteLoss) {
  const Separator model(tiny(GetParam()));
  const HostTensor stems({DType::kF32, {2, kStemCount, kChannels, kSamples}}),
      mixture({DType::kF32, {2, kChannels, kSamples}});
  for (const HostTensor& result : loss_of(model, weights_of(model), stems, mixture, true)) {
    for (const float value : result.to_floats()) ASSERT_TRUE(std::isfinite(value));
  }
}

INSTANTIATE_TEST_SUITE_P(Separator, Masks,
                         ::testing::Values(Architecture::kBandSplit, Architecture::kConvNext),
                         [](const auto& test) {
                           return test.param == Architecture::kBandSplit ? "BandSplit" : "ConvNext";
                         });

TEST(SeparatorConfig, SplitsTheBinsBelow16kHzIntoGrowingBands) {
  const SeparatorConfig config;
  const auto edges = band_edges(config);
  EXPECT_EQ(edges.size(), 33U);
  EXPECT_EQ(edges.front(), 0);
  EXPECT_EQ(edges.back(), 1486);
  EXPECT_EQ(edges[6], 6);
  EXPECT_EQ(edges[32] - edges[31], 146);
  for (size_t k = 1; k < 32; ++k) {
    EXPECT_GE(edges[k + 1] - edges[k], edges[k] - edges[k - 1]) << k;
  }
  const SeparatorConfig one_each{.window_samples = 64, .hop_samples = 16, .bands = 20};
  EXPECT_LT(one_each.bins(), 25);
  EXPECT_EQ(band_edges(one_each).back(), one_each.bins());
}

TEST(SeparatorConfig, OfTheDefaultsHasTheSizeOfItsDescription) {
  const SeparatorConfig convnext{
      .architecture = Architecture::kConvNext, .width = 256, .blocks = 8};
  EXPECT_NEAR(static_cast<double>(Separator(SeparatorConfig()).parameters().element_count()), 1.9e6,
              0.1e6);
  EXPECT_NEAR(static_cast<double>(Separator(convnext).parameters().element_count()), 6.4e6, 0.4e6);
}

TEST(SeparatorConfig, RefusesSizesThatDoNotFit) {
  const Bounds bounds("model.");
  const auto refusal = [&](const SeparatorConfig& config) {
    return message_of([&] { validate(config, bounds); });
  };
  EXPECT_THAT(refusal({.hop_samples = 512}), HasSubstr("model.hop_samples"));
  EXPECT_THAT(refusal({.bands = 2000}), HasSubstr("model.bands"));
  EXPECT_THAT(refusal({.width = 60}), HasSubstr("model.width"));
  EXPECT_THAT(refusal({.window_samples = 1000, .hop_samples = 250}),
              HasSubstr("model.window_samples"));
  EXPECT_NO_THROW(validate({}, bounds));
  EXPECT_THAT(
      message_of([] { Separator(SeparatorConfig()).train_spec({.batch = 1, .samples = 4096}); }),
      HasSubstr("4096 samples"));
}

}  // namespace
}  // namespace hum::models::separator
