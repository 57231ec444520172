// Descript's codec against the original implementation (tests/data/dac), on generated weights.
#include "models/codec/dac.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/fields_json.h"
#include "base/testing/rule.h"
#include "models/codec/dac_test_weights.h"
#include "runtime/testing.h"

namespace hum::models::codec {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr double kBound = 1e-4;

void expect_near(const HostTensor& got, const Json& wanted, double bound, const char* what) {
  const std::vector<float> values = got.to_floats();
  ASSERT_EQ(values.size(), wanted.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, std::abs(values[i] - wanted[i].get<double>()));
  }
  EXPECT_LE(worst, bound) << what;
}

// A small model, its golden values, and weights for its parameters.
class DacModel : public ::testing::TestWithParam<const char*> {
 protected:
  explicit DacModel(const std::string& model = GetParam())
      : model(model), golden(dac_golden("small.json").at(model)) {
    from_json(golden.at("model"), config);
    dac.emplace(config, DacWeights::kWeightNorm);
    for (const auto& parameter : dac->parameters().all()) {
      inputs.push_back(dac_test_weight(model, config, parameter.name, parameter.shape.dims));
    }
    parameters = dac->parameters().values();
  }
  // Adds a generated input to the program.
  Value input(const std::string& name, graph::Dims dims, double low = -1, double high = 1) {
    const auto count = static_cast<size_t>(graph::Shape{DType::kF32, dims}.elements());
    const std::vector<float> values = testing::ruled(model + "/" + name, count, low, high);
    inputs.push_back(HostTensor::of(dims, std::span<const float>(values)));
    parameters.push_back(graph::parameter(name, {DType::kF32, std::move(dims)}));
    return parameters.back();
  }
  struct Coded {
    Value heard, loss;
    graph::Values results;
  };
  // Generated sound through the whole model. Loss: a weighted sum of the output, and the
  // quantizer's losses.
  Coded coded(const std::string& key, DacEdges edges, int64_t batch) {
    const auto samples = golden.at(key).at("samples").get<int64_t>();
    const Value sound = input(key, {batch, samples}, -0.8, 0.8);
    const auto quantised = dac->quantizer().quantise(dac->latents(sound, edges));
    const Value heard = dac->decode(quantised.latents_BTD, edges);
    const Value weighted = graph::sum_all(heard * input("cotangent", heard.dims()));
    return {heard,
            weighted + quantised.commitment_loss * 0.25 + quantised.codebook_loss,
            {quantised.codes_BTK, quantised.projected_BTL, heard, quantised.commitment_loss,
             quantised.codebook_loss}};
  }
  void expect_coded(std::span<const HostTensor> out, const Json& wanted) const {
    const auto codes = out[0].as<int32_t>();
    EXPECT_EQ(std::vector<int32_t>(codes.begin(), codes.end()),
              wanted.at("codes").get<std::vector<int32_t>>());
    expect_near(out[1], wanted.at("projected"), kBound, "projected");
    expect_near(out[2], wanted.at("audio"), kBound, "audio");
    EXPECT_NEAR(out[3].as<float>()[0], wanted.at("commitment_loss").get<double>(), kBound);
    EXPECT_NEAR(out[4].as<float>()[0], wanted.at("codebook_loss").get<double>(), kBound);
  }
  // Compares the gradient's norm, and its projection on one direction.
  void expect_gradient(const std::string& name, const HostTensor& gradient) const {
    const std::vector<float> values = gradient.to_floats();
    const auto direction = testing::ruled(model + "/direction/" + name, values.size());
    double square = 0, projection = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      square += static_cast<double>(values[i]) * values[i];
      projection += static_cast<double>(values[i]) * direction[i];
    }
    const auto wanted = golden.at("gradients").at(name).get<std::vector<double>>();
    EXPECT_NEAR(std::sqrt(square), wanted[0], kBound * wanted[0]) << name;
    EXPECT_NEAR(projection, wanted[1], kBound * wanted[0]) << name;
  }

  std::string model;
  Json golden;
  DacConfig config;
  std::optional<Dac> dac;
  graph::Values parameters;
  std::vector<HostTensor> inputs;
};

TEST_P(DacModel, GivesTheOriginalsCodesAudioAndGradients) {
  const Coded sound = coded("padded", DacEdges::kPadded, 2);
  graph::Values results = sound.results;
  // One model's gradients suffice: both consist of the same parts.
  const bool differentiate = golden.contains("gradients");
  const graph::Values trained = differentiate ? dac->parameters().values() : graph::Values{};
  for (const Value& gradient : graph::gradients(sound.loss, trained)) results.push_back(gradient);
  const auto out = runtime::evaluate(results, parameters, inputs);
  expect_coded(out, golden.at("padded"));
  for (size_t i = 0; i < trained.size(); ++i) {
    expect_gradient(dac->parameters().all()[i].name, out[sound.results.size() + i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, DacModel, ::testing::Values("even", "odd"),
                         [](const auto& info) { return std::string(info.param); });

class DacOfOddRates : public DacModel {
 protected:
  DacOfOddRates() : DacModel("odd") {}
};

TEST_F(DacOfOddRates, CodesChunksWithoutPaddingAsTheOriginalDoes) {
  const Coded chunk = coded("unpadded", DacEdges::kUnpadded, 1);
  EXPECT_EQ(dac->unpadded_samples(golden.at("unpadded").at("samples").get<int64_t>()),
            chunk.heard.size(1));
  expect_coded(runtime::evaluate(chunk.results, parameters, inputs), golden.at("unpadded"));
}

TEST_F(DacOfOddRates, DecodesWhatFewerBooksCode) {
  const Value latents = input("latents", {2, 9, config.latent()});
  const auto two = dac->quantizer().quantise(latents, 2);
  const Value all = dac->quantizer().quantise(latents).codes_BTK;
  const auto out = runtime::evaluate({two.codes_BTK, graph::slice_in_dim(all, 2, 0, 2),
                                      two.latents_BTD, dac->quantizer().decode(two.codes_BTK)},
                                     parameters, inputs);
  EXPECT_EQ(out[0].to_floats(), out[1].to_floats());
  const std::vector<float> passed = out[2].to_floats(), decoded = out[3].to_floats();
  for (size_t i = 0; i < passed.size(); ++i) ASSERT_NEAR(passed[i], decoded[i], 1e-5);
}

TEST(Dac, HasTheParametersOfThePublishedModel) {
  const Json golden = dac_golden("published.json").at("44khz");
  const Dac dac(DacConfig{}, DacWeights::kWeightNorm);
  std::map<std::string, graph::Dims> shapes;
  for (const auto& p : dac.parameters().all()) shapes[p.name] = p.shape.dims;
  EXPECT_EQ(shapes, golden.at("shapes").get<decltype(shapes)>());
}

TEST(Dac, HasTheSizesOfEveryPublishedModel) {
  for (const char* name : {"44khz", "24khz", "16khz"}) {
    const Json golden = dac_golden("published.json").at(name);
    DacConfig config;
    from_json(golden.at("model"), config);
    const Dac dac(config, DacWeights::kWeightNorm);
    EXPECT_EQ(dac.parameters().element_count(), golden.at("parameters").get<int64_t>()) << name;
    EXPECT_EQ(dac.parameters().all().size(), golden.at("tensors").get<size_t>()) << name;
    EXPECT_EQ(config.hop_samples(), golden.at("hop").get<int64_t>()) << name;
    EXPECT_EQ(dac.delay_samples(), golden.at("delay").get<int64_t>()) << name;
    EXPECT_EQ(dac.unpadded_samples(100000), golden.at("unpadded_samples_of_100000").get<int64_t>())
        << name;
  }
}

TEST(Dac, RefusesSizesThatNoModelHas) {
  const auto message = [](auto change) -> std::string {
    DacConfig config;
    change(config);
    try {
      const Dac dac(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kConfig);
      return error.message();
    }
    return "nothing";
  };
  EXPECT_EQ(message([](DacConfig& c) { c.encoder_rates = {}; }),
            "number of encoder_rates is 0, it must be 1 to 8");
  EXPECT_EQ(message([](DacConfig& c) {
              c.decoder_rates = {8, 0};
            }),
            "decoder_rates is 0, it must be 1 to 64");
  EXPECT_EQ(message([](DacConfig& c) { c.decoder_dim = 15; }),
            "decoder_dim is 15, it must be 16 to 65536");
  EXPECT_EQ(message([](DacConfig& c) { c.n_codebooks = -1; }),
            "n_codebooks is -1, it must be 1 to 256");
}

TEST(Dac, RefusesSoundThatIsNotWholeHops) {
  const Dac dac(DacConfig{});
  try {
    dac.encode(graph::parameter("audio", {DType::kF32, {1, 1000}}));
    ADD_FAILURE() << "took 1000 samples";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "latents: audio f32[1,1000] is not whole hops of 512 samples");
  }
}

}  // namespace
}  // namespace hum::models::codec
