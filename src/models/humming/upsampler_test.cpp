// The upsampler: the input of each stage, the reference, its figures, the program against the
// graph.
#include "models/humming/upsampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/fields_json.h"
#include "base/rng.h"
#include "base/testing/refusal.h"
#include "models/humming/humming_session.h"
#include "models/humming/latent_predictor.h"
#include "runtime/testing.h"
#include "runtime/weights.h"

namespace hum::models::humming {
namespace {

using graph::DType;
using runtime::HostTensor;

constexpr int64_t kBatch = 2, kFrames = 5, kReference = 6, kLatent = 4, kMelody = 3;
const UpsamplerConfig kConfig{
    .common = {.latent = kLatent, .books = 4, .entries = 16, .melody_features = kMelody},
    .width = 16,
    .blocks = 2,
    .classified_books = 3};

const UpsamplerConfig kAttended = [] {
  UpsamplerConfig config = kConfig;
  config.blocks = 3;
  config.timbre = TimbreKind::kAttended;
  return config;
}();

HostTensor random_tensor(const graph::Dims& dims, uint64_t seed) {
  Rng rng(seed, "upsampler-test");
  std::vector<float> values(static_cast<size_t>(graph::Shape{DType::kF32, dims}.elements()));
  for (float& value : values) value = static_cast<float>(rng.normal());
  return HostTensor::of(dims, std::span<const float>(values));
}

// Codes in [0, 16).
HostTensor random_codes() {
  Rng rng(4, "upsampler-test codes");
  HostTensor codes({DType::kI32, {kBatch, kFrames, 4}});
  for (int32_t& code : codes.as<int32_t>()) code = static_cast<int32_t>(rng.integer(0, 15));
  return codes;
}

// In the order of the parameters.
std::vector<HostTensor> random_weights(const Upsampler& model) {
  std::vector<HostTensor> tensors;
  for (const auto& parameter : model.parameters().all()) {
    tensors.push_back(random_tensor(parameter.shape.dims, tensors.size()));
    for (float& value : tensors.back().as<float>()) value *= 0.2F;
  }
  return tensors;
}

struct Inputs {
  HostTensor stages = HostTensor::of<int32_t>({kBatch}, {0, 2}), codes = random_codes(),
             melody = random_tensor({kBatch, kFrames, kMelody}, 101),
             reference = random_tensor({kBatch, kReference, kLatent}, 102),
             reference_frames = HostTensor::of<int32_t>({kBatch}, {6, 3}),
             played = random_tensor({kBatch, kReference, kMelody}, 103);
};

struct Placeholders {
  Value stages = graph::parameter("stages", {DType::kI32, {kBatch}}),
        codes = graph::parameter("codes", {DType::kI32, {kBatch, kFrames, 4}}),
        melody = graph::parameter("melody", {DType::kF32, {kBatch, kFrames, kMelody}}),
        reference = graph::parameter("reference", {DType::kF32, {kBatch, kReference, kLatent}}),
        frames = graph::parameter("frames", {DType::kI32, {kBatch}}),
        played = graph::parameter("played", {DType::kF32, {kBatch, kReference, kMelody}});

  Value predicted(const Upsampler& model) const {
    const auto timbre = model.timbre({reference, frames, model.attends() ? played : Value{}});
    return model.predict(model.known(codes, stages), melody, timbre, stages).latents_BTD;
  }
};

HostTensor run(const Upsampler& model, const Value& result, const Placeholders& p,
               const Inputs& in) {
  graph::Values parameters = model.parameters().values();
  parameters.insert(parameters.end(),
                    {p.stages, p.codes, p.melody, p.reference, p.frames, p.played});
  auto inputs = random_weights(model);
  for (const auto& tensor :
       {in.stages, in.codes, in.melody, in.reference, in.reference_frames, in.played}) {
    inputs.push_back(tensor);
  }
  return runtime::evaluate({result}, parameters, inputs)[0];
}

TEST(Upsampler, AStageKnowsThatManyBooks) {
  const Upsampler model(kConfig);
  const Placeholders p;
  const auto known = run(model, model.known(p.codes, p.stages), p, {});
  const auto two = run(model, model.decode(p.codes, 2), p, {});
  const size_t item = kFrames * kLatent;
  for (size_t i = 0; i < item; ++i) {
    EXPECT_EQ(known.as<float>()[i], 0) << "stage 0 knows nothing";
    EXPECT_FLOAT_EQ(known.as<float>()[item + i], two.as<float>()[item + i]);
  }
}

TEST(Upsampler, PoolsTheFramesThatAreThere) {
  const Upsampler model(kConfig);
  const Placeholders p;
  const Inputs in;
  const auto pooled = run(model, pooled_reference(p.reference, p.frames), p, in);
  ASSERT_EQ(pooled.shape().dims, (graph::Dims{kBatch, 2 * kLatent}));
  for (int64_t b = 0; b < kBatch; ++b) {
    const int32_t frames = in.reference_frames.as<int32_t>()[static_cast<size_t>(b)];
    for (int64_t d = 0; d < kLatent; ++d) {
      double sum = 0, squares = 0;
      for (int64_t s = 0; s < frames; ++s) {
        const double x =
            in.reference.as<float>()[static_cast<size_t>((b * kReference + s) * kLatent + d)];
        sum += x / frames;
        squares += x * x / frames;
      }
      const auto row = pooled.as<float>().subspan(static_cast<size_t>(b * 2 * kLatent));
      EXPECT_NEAR(row[static_cast<size_t>(d)], sum, 1e-5);
      EXPECT_NEAR(row[static_cast<size_t>(kLatent + d)], std::sqrt(squares - sum * sum + 1e-5),
                  1e-4);
    }
  }
}

// Writes weights as a part of a folder of weights.
std::filesystem::path stored(const Upsampler& model, const std::string& name,
                             const std::string& part = "upsampler") {
  UpsamplerConfig config = model.config();
  runtime::Weights weights{.config = {{"model_type", "hum-" + part}, {"model", to_json(config)}},
                           .tensors = {}};
  const auto tensors = random_weights(model);
  for (size_t i = 0; i < tensors.size(); ++i) {
    weights.tensors.emplace_back(model.parameters().all()[i].name, tensors[i]);
  }
  const auto folder = std::filesystem::path(::testing::TempDir()) / name;
  runtime::write_weights(folder / part, weights, DType::kF32);
  return folder;
}

void expect_near(const HostTensor& a, const HostTensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (size_t i = 0; i < a.as<float>().size(); ++i) {
    EXPECT_NEAR(a.as<float>()[i], b.as<float>()[i], 1e-5);
  }
}

TEST(Upsampler, IsPooledAsInEarlierReleasesUnlessTold) {
  EXPECT_EQ(UpsamplerConfig().timbre, TimbreKind::kPooled);
  const Upsampler pooled(kConfig), attended(kAttended);
  std::set<std::string> names;
  for (const auto& parameter : attended.parameters().all()) names.insert(parameter.name);
  for (const auto& parameter : pooled.parameters().all()) {
    EXPECT_FALSE(parameter.name.starts_with("timbre")) << parameter.name;
    EXPECT_FALSE(parameter.name.starts_with("attention")) << parameter.name;
    EXPECT_TRUE(names.contains(parameter.name)) << "attended models start from pooled weights";
  }
  EXPECT_TRUE(names.contains("attention.0.query.weight"));
  EXPECT_TRUE(names.contains("attention.2.query.weight"));
  EXPECT_FALSE(names.contains("attention.1.query.weight"));
}

TEST(Upsampler, ReadsTheReferenceUpToItsEnd) {
  const Upsampler model(kAttended);
  const Placeholders p;
  const auto expected = run(model, p.predicted(model), p, {});
  Inputs padded;
  // The second reference has 3 frames.
  for (HostTensor* tensor : {&padded.reference, &padded.played}) {
    const auto values = tensor->as<float>();
    for (size_t i = values.size() * 3 / 4; i < values.size(); ++i) values[i] += 7;
  }
  EXPECT_EQ(run(model, p.predicted(model), p, padded), expected);
}

TEST(Upsampler, HearsWhatNotesTheReferencePlays) {
  const Upsampler model(kAttended);
  const Placeholders p;
  const auto before = run(model, p.predicted(model), p, {});
  Inputs in;
  in.played = random_tensor({kBatch, kReference, kMelody}, 104);
  const auto after = run(model, p.predicted(model), p, in);
  for (size_t b = 0; b < kBatch; ++b) {
    EXPECT_GT(std::fabs(before.as<float>()[b * kFrames * kLatent] -
                        after.as<float>()[b * kFrames * kLatent]),
              1e-4);
  }
}

TEST(TimbreAttention, FindsFramesInAnyOrder) {
  constexpr int64_t kWidth = 8;
  nn::ParameterList parameters;
  const TimbreAttention attention(nn::Scope(parameters), kWidth);
  const Value x = graph::parameter("x", {DType::kF32, {1, 2, kWidth}}),
              encoded = graph::parameter("encoded", {DType::kF32, {1, kReference, kWidth}}),
              mask = graph::parameter("mask", {DType::kF32, {1, kReference}});
  const Value y = attention(x, attention.keys(encoded), mask);
  graph::Values inputs = parameters.values();
  inputs.insert(inputs.end(), {x, encoded, mask});
  const auto result = [&](const HostTensor& frames, const HostTensor& present) {
    std::vector<HostTensor> tensors;
    for (const auto& parameter : parameters.all()) {
      tensors.push_back(random_tensor(parameter.shape.dims, tensors.size()));
    }
    for (const auto& tensor : {random_tensor({1, 2, kWidth}, 50), frames, present}) {
      tensors.push_back(tensor);
    }
    return runtime::evaluate({y}, inputs, tensors)[0];
  };
  const auto frames = random_tensor({1, kReference, kWidth}, 51);
  HostTensor reversed = frames;
  for (int64_t s = 0; s < kReference; ++s) {
    std::copy_n(frames.as<float>().begin() + s * kWidth, kWidth,
                reversed.as<float>().begin() + (kReference - 1 - s) * kWidth);
  }
  const auto present = HostTensor::of<float>({1, kReference}, {1, 1, 1, 1, 0, 1}),
             turned = HostTensor::of<float>({1, kReference}, {1, 0, 1, 1, 1, 1});
  expect_near(result(frames, present), result(reversed, turned));
  EXPECT_NE(result(frames, present), result(frames, turned));
}

TEST(TimbreAttention, RefusesAWidthThatItsHeadsDoNotDivide) {
  auto config = kAttended;
  config.width = 18;
  EXPECT_EQ(hum::testing::code_of([&] { Upsampler{config}; }), ExitCode::kConfig);
}

// A training step's loss on random items.
struct TracedLoss {
  explicit TracedLoss(const Upsampler& model)
      : spec(model.train_spec(
            {.batch = kBatch, .frames = kFrames, .reference_frames = kReference})) {
    inputs = model.parameters().values();
    tensors = random_weights(model);
    const Inputs in;
    const auto latents = random_tensor({kBatch, kFrames, kLatent}, 105);
    graph::Values batch;
    std::vector<HostTensor> arrays = {in.codes, latents, in.melody, in.reference,
                                      in.reference_frames};
    if (model.attends()) arrays.push_back(in.played);
    for (size_t i = 0; i < arrays.size(); ++i) {
      batch.push_back(graph::parameter(spec.batch[i].name, spec.batch[i].shape));
      tensors.push_back(arrays[i]);
    }
    const Value key = graph::parameter("key", {DType::kU32, {2}});
    tensors.push_back(HostTensor::of<uint32_t>({2}, {1, 2}));
    inputs.insert(inputs.end(), batch.begin(), batch.end());
    inputs.push_back(key);
    loss = spec.loss(batch, {.step = graph::constant(0, {DType::kI32, {}}), .key = key});
  }

  nn::TrainSpec spec;
  nn::Loss loss;
  graph::Values inputs;
  std::vector<HostTensor> tensors;
};

TEST(Upsampler, TrainsAllOfItsTimbreEncoder) {
  const Upsampler model(kAttended);
  const TracedLoss traced(model);
  const auto values = model.parameters().values();
  const auto gradients =
      runtime::evaluate(graph::gradients(traced.loss.total, values), traced.inputs, traced.tensors);
  int64_t checked = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& name = model.parameters().all()[i].name;
    if (!name.starts_with("timbre.") && !name.starts_with("attention.")) continue;
    double square = 0;
    for (const float x : gradients[i].as<float>()) square += static_cast<double>(x) * x;
    EXPECT_GT(square, 1e-14) << name;
    ++checked;
  }
  EXPECT_EQ(checked, 4 + 3 * 9 + 2 * 9);
}

TEST(Upsampler, SaysHowMuchItsDraftExplains) {
  const Predictor model(kConfig);
  const TracedLoss traced(model);
  const auto& metrics = traced.loss.metrics;
  const auto found =
      std::ranges::find(metrics, "draft_explained", &std::pair<std::string, graph::Value>::first);
  ASSERT_NE(found, metrics.end());
  EXPECT_EQ(metrics.size(), 3U) << "no tokens";
  const double explained =
      runtime::evaluate({found->second}, traced.inputs, traced.tensors)[0].as<float>()[0];

  Inputs in;
  in.stages = HostTensor::of<int32_t>({kBatch}, {0, 0});
  const Placeholders p;
  const auto draft = run(model, p.predicted(model), p, in);
  const auto latents = random_tensor({kBatch, kFrames, kLatent}, 105);
  const auto truth = latents.as<float>(), predicted = draft.as<float>();
  std::vector<double> mean(kLatent);
  constexpr double kRows = kBatch * kFrames;
  for (size_t i = 0; i < truth.size(); ++i) mean[i % kLatent] += truth[i] / kRows;
  double errors = 0, deviations = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    errors += std::pow(predicted[i] - truth[i], 2);
    deviations += std::pow(truth[i] - mean[i % kLatent], 2);
  }
  EXPECT_NEAR(explained, 1 - errors / deviations, 1e-4);
}

TEST(LatentPredictor, RunsTheStoredUpsampler) {
  for (const UpsamplerConfig& config : {kConfig, kAttended}) {
    const Upsampler model(config);
    const auto folder = stored(model, "upsampler-test");
    const LatentPredictor predictor(runtime::test_session(), folder, LatentModel::kUpsampler,
                                    kBatch, kFrames, kReference);
    EXPECT_EQ(predictor.last_stage(), 3);
    ASSERT_EQ(predictor.needs_reference_melody(), config.timbre == TimbreKind::kAttended);
    const Inputs in;
    const Placeholders p;
    expect_near(predictor.predict(in.stages, in.codes, in.melody, in.reference, in.reference_frames,
                                  &in.played),
                run(model, p.predicted(model), p, in));
    if (config.timbre == TimbreKind::kPooled) continue;
    EXPECT_THROW(
        predictor.predict(in.stages, in.codes, in.melody, in.reference, in.reference_frames),
        Error);
  }
}

TEST(HummingSession, DraftsWithThePredictorIfThereIsOne) {
  const auto values = [](int64_t rows, int64_t width, uint64_t seed) {
    return random_tensor({rows, width}, seed).to_floats();
  };
  const auto melody = values(kWindowFrames, kMelody, 1);
  const TimbreReference reference{.latents = values(kReferenceFrames, kLatent, 2),
                                  .frames = 40,
                                  .melody = values(kReferenceFrames, kMelody, 3)};
  const auto draft = [&](const std::filesystem::path& weights) {
    const HummingSession session(runtime::test_session(), weights);
    session.load(/*language_model=*/false, /*voice=*/false);
    EXPECT_TRUE(session.needs_reference_melody());
    return session.draft(melody, reference);
  };
  const auto alone = stored(Upsampler(kAttended), "alone-test");
  stored(Upsampler(kConfig), "predictor-test");
  const auto beside = stored(Predictor(kAttended), "predictor-test", "predictor");
  EXPECT_EQ(draft(beside), draft(alone));
  const auto without = stored(Predictor(kAttended), "predictor-alone-test", "predictor");
  EXPECT_EQ(draft(without), draft(alone));
}

TEST(HummingSession, DraftsFromTheNotesOfReferences) {
  const HummingSession session(runtime::test_session(),
                               stored(Upsampler(kAttended), "attended-test"));
  ASSERT_TRUE(session.needs_reference_melody());
  const auto values = [](int64_t rows, int64_t width, uint64_t seed) {
    return random_tensor({rows, width}, seed).to_floats();
  };
  const auto melody = values(kWindowFrames, kMelody, 1);
  TimbreReference reference{.latents = values(kReferenceFrames, kLatent, 2), .frames = 40};
  const auto draft = [&] { return session.draft(melody, reference); };
  EXPECT_EQ(hum::testing::code_of(draft), ExitCode::kBadData);
  reference.melody = values(kReferenceFrames, kMelody, 3);
  const auto one = draft();
  EXPECT_EQ(std::ssize(one), kWindowFrames * kLatent);
  reference.melody = values(kReferenceFrames, kMelody, 4);
  EXPECT_NE(draft(), one);
}

}  // namespace
}  // namespace hum::models::humming
