// Basic Pitch's whole network against JAX, on weights computed by a rule: posteriors, and their
// gradients to the sound and to weights at every depth.
#include <gtest/gtest.h>

#include "graph/ops.h"
#include "models/basic_pitch/network.h"
#include "tests/parity/golden.h"

namespace hum::parity {
namespace {

using graph::Value;
using graph::Values;
namespace basic_pitch = models::basic_pitch;

const std::string kName = "basic pitch";

std::vector<float> made(const Json& golden, const std::string& name) {
  const Json& row = golden.at("parameters").at(name);
  return ruled_tensor(kName + "/" + name, row[0].get<graph::Dims>(), row[1].get<double>(),
                      row[2].get<double>())
      .to_floats();
}

basic_pitch::ConvWeights made_conv(const Json& golden, const std::string& name) {
  const auto dims = golden.at("parameters").at(name + ".kernel")[0].get<graph::Dims>();
  return {.outputs = dims[0],
          .inputs = dims[1],
          .times = dims[2],
          .freqs = dims[3],
          .kernel = made(golden, name + ".kernel"),
          .bias = made(golden, name + ".bias")};
}

basic_pitch::Weights made_weights(const Json& golden) {
  return {.cqt_real = made(golden, "cqt_real"),
          .cqt_imag = made(golden, "cqt_imag"),
          .lowpass = made(golden, "lowpass"),
          .cqt_scale = made(golden, "cqt_scale"),
          .input_scale = golden.at("input_scale").get<float>(),
          .input_offset = golden.at("input_offset").get<float>(),
          .contour_hidden = made_conv(golden, "contour_hidden"),
          .contour = made_conv(golden, "contour"),
          .note_hidden = made_conv(golden, "note_hidden"),
          .note = made_conv(golden, "note"),
          .onset_hidden = made_conv(golden, "onset_hidden"),
          .onset = made_conv(golden, "onset")};
}

TEST(JaxBasicPitch, HasItsPosteriorsAndGradients) {
  const Json& golden = golden_cases("blocks.json").at(kName);
  const auto network = basic_pitch::build_network(made_weights(golden), /*windows=*/1);
  const Values& parameters = network.function.parameters;
  Comparison comparison;
  comparison.input(parameters[0], ruled_tensor(kName + "/sound", parameters[0].dims(), -0.5, 0.5));
  for (size_t i = 1; i < parameters.size(); ++i) {
    comparison.input(parameters[i], network.weights[i - 1]);
  }

  Values cotangents;
  const char* const names[] = {"note", "onset", "contour"};
  const auto frame = golden.at("frame").get<int64_t>();
  for (size_t i = 0; i < 3; ++i) {
    const Value& result = network.function.results[i];
    const std::string name = names[i], cotangent = kName + "/cotangent/" + name;
    comparison.expect_values(name, graph::slice_in_dim(result, 1, frame, frame + 1),
                             golden.at("frames").at(name), 1e-4);
    comparison.expect_projection(name, result, kName + "/direction/" + name,
                                 golden.at("projections").at(name), 1e-4);
    cotangents.push_back(comparison.input(cotangent, ruled_tensor(cotangent, result.dims())));
  }
  const Values found = graph::pullback(network.function.results, cotangents, parameters);
  size_t compared = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = graph::parameter_name(parameters[i].node());
    const Json& wanted = golden.at("parameter_gradients");
    if (!wanted.contains(name)) continue;
    comparison.expect_projection("gradient of " + name, found[i], kName + "/direction/" + name,
                                 wanted.at(name), 1e-3);
    ++compared;
  }
  EXPECT_EQ(compared, golden.at("parameter_gradients").size());
  comparison.run();
}

}  // namespace
}  // namespace hum::parity
