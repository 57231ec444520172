// A codec whose latents have a sound and a phase part: who moves which part, who codes it, and what
// training teaches it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/testing/refusal.h"
#include "models/codec/codec.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::models::codec {
namespace {

using graph::DType;
using runtime::HostTensor;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pointwise;

constexpr int64_t kBatch = 8, kFrames = 12, kLatent = 6, kSoundLatent = 4;
constexpr int64_t kBooks = 3, kSoundBooks = 2, kEntries = 8;

CodecConfig plain() {
  CodecConfig config{.latent = kLatent,
                     .encoder_width = 16,
                     .encoder_blocks = 1,
                     .decoder_width = 16,
                     .decoder_blocks = 1,
                     .fine_width = 16,
                     .fine_blocks = 1};
  config.quantizer = {.books = kBooks, .entries = kEntries, .warm_up_steps = 0};
  return config;
}

CodecConfig split() {
  CodecConfig config = plain();
  config.phase_latent = kLatent - kSoundLatent;
  config.phase_books = kBooks - kSoundBooks;
  config.phase_width = 8;
  config.phase_blocks = 1;
  config.consistency_weight = 1;
  return config;
}

std::vector<HostTensor> values_of(const nn::ParameterList& list) {
  std::vector<HostTensor> values;
  for (const auto& parameter : list.all()) {
    const auto elements = tiny_elements(parameter);
    values.push_back(HostTensor::of(parameter.shape.dims, std::span<const float>(elements)));
  }
  return values;
}

// Evaluates results of a list's parameters and one more input.
std::vector<HostTensor> evaluate_with(const nn::ParameterList& list, const graph::Values& results,
                                      const Value& parameter, const HostTensor& input) {
  graph::Values parameters = list.values();
  auto inputs = values_of(list);
  parameters.push_back(parameter);
  inputs.push_back(input);
  return runtime::evaluate(results, parameters, inputs);
}

HostTensor noise(const graph::Dims& dims, float scale = 1) {
  Rng rng(3, "split-codec-test");
  HostTensor tensor({DType::kF32, dims});
  for (float& value : tensor.as<float>()) value = scale * static_cast<float>(rng.normal());
  return tensor;
}

Value constant_key() {
  const std::vector<double> words = {5, 6};
  return graph::constant(std::span<const double>(words), {DType::kU32, {2}});
}

nn::StepInputs step_inputs(bool is_training = true) {
  return {.step = graph::constant(10, {DType::kI32, {}}),
          .key = constant_key(),
          .is_training = is_training};
}

// Dims from..to-1 of each row.
std::vector<float> dims_of(const HostTensor& rows, int64_t from, int64_t to) {
  const auto values = rows.to_floats();
  const int64_t width = rows.shape().dims.back();
  std::vector<float> result;
  for (auto row = values.begin(); row != values.end(); row += width) {
    result.insert(result.end(), row + from, row + to);
  }
  return result;
}

TEST(SplitCodec, PolarityMovesThePhasePartAlone) {
  const Codec codec(split());
  const Value audio = graph::parameter("audio", {DType::kF32, {1, kFrames * kHopSamples}});
  const auto latents = [&](float gain) {
    return evaluate_with(codec.parameters(), {codec.latents(audio)}, audio,
                         noise(audio.dims(), gain))[0];
  };
  const auto still = latents(0.1F), inverted = latents(-0.1F);
  const auto sound = dims_of(still, 0, kSoundLatent);
  EXPECT_THAT(dims_of(inverted, 0, kSoundLatent), Pointwise(FloatNear(1e-5F), sound));
  const auto phase = dims_of(still, kSoundLatent, kLatent);
  const auto moved = dims_of(inverted, kSoundLatent, kLatent);
  double difference = 0;
  for (size_t i = 0; i < phase.size(); ++i) difference += std::fabs(phase[i] - moved[i]);
  EXPECT_GT(difference / static_cast<double>(phase.size()), 0.01);
}

TEST(SplitCodec, CodesEachPartInItsOwnBooks) {
  nn::ParameterList list;
  const CodecQuantizer quantizer(nn::Scope(list), split());
  const Value z = graph::parameter("z", {DType::kF32, {kBatch, kFrames, kLatent}});
  const Value sound = graph::slice_in_dim(z, 2, 0, kSoundLatent);
  const Value sound_alone = graph::pad_in_dim(sound, 0, 2, 0, kLatent - kSoundLatent);
  const auto out = evaluate_with(list, {quantizer.encode(z), quantizer.encode(sound_alone)}, z,
                                 noise(z.dims(), 0.5F));
  ASSERT_EQ(out[0].shape().dims, (graph::Dims{kBatch, kFrames, kBooks}));
  EXPECT_EQ(dims_of(out[0], 0, kSoundBooks), dims_of(out[1], 0, kSoundBooks));
  EXPECT_NE(dims_of(out[0], kSoundBooks, kBooks), dims_of(out[1], kSoundBooks, kBooks));

  const Value ids = graph::parameter("ids", {DType::kI32, {kEntries}});
  HostTensor all({DType::kI32, {kEntries}});
  for (int32_t i = 0; i < kEntries; ++i) all.as<int32_t>()[static_cast<size_t>(i)] = i;
  graph::Values vectors;
  for (int64_t book = 0; book < kBooks; ++book) vectors.push_back(quantizer.lookup(book, ids));
  const auto tables = evaluate_with(list, vectors, ids, all);
  for (int64_t book = 0; book < kBooks; ++book) {
    const HostTensor& table = tables[static_cast<size_t>(book)];
    ASSERT_EQ(table.shape().dims, (graph::Dims{kEntries, kLatent}));
    const auto of_sound = dims_of(table, 0, kSoundLatent);
    const auto of_phase = dims_of(table, kSoundLatent, kLatent);
    const bool is_sound = book < kSoundBooks;
    EXPECT_THAT(is_sound ? of_phase : of_sound, Each(0.0F));
    EXPECT_THAT(is_sound ? of_sound : of_phase, Each(Not(0.0F)));
  }
}

TEST(SplitCodec, TrainsSomeItemsWithoutAPhasePart) {
  nn::ParameterList list;
  const CodecQuantizer quantizer(nn::Scope(list), split());
  const Value z = graph::parameter("z", {DType::kF32, {kBatch, kFrames, kLatent}});
  const auto step = step_inputs();
  const Value trained = quantizer.train(z, step).latents_BTD;
  const Value gradient = graph::gradients(graph::sum_all(trained), graph::Values{z})[0];
  const Value kept = kept_books(kBatch, kSoundBooks, kBooks, step);
  const Value validated = quantizer.train(z, step_inputs(/*is_training=*/false)).latents_BTD;
  const auto out = evaluate_with(list, {trained, gradient, kept, validated}, z, noise(z.dims()));
  const auto phase = dims_of(out[0], kSoundLatent, kLatent);
  const auto passed = dims_of(out[1], kSoundLatent, kLatent);
  const size_t per_item = kFrames * (kLatent - kSoundLatent);
  size_t without = 0;
  for (size_t item = 0; item < kBatch; ++item) {
    const bool has_phase = out[2].as<float>()[item] > kSoundBooks;
    without += has_phase ? 0 : 1;
    for (size_t i = item * per_item; i < (item + 1) * per_item; ++i) {
      EXPECT_EQ(phase[i] != 0, has_phase) << item;
      EXPECT_EQ(passed[i], has_phase ? 1 : 0) << item;
    }
  }
  EXPECT_GT(without, 0U);
  EXPECT_LT(without, static_cast<size_t>(kBatch));
  EXPECT_THAT(dims_of(out[1], 0, kSoundLatent), Each(1.0F));
  EXPECT_THAT(dims_of(out[3], kSoundLatent, kLatent), Each(Not(0.0F)));
}

// Shares of items that keep 1, 2, ... of eight books, of which `sound_books` are the sound's.
std::vector<double> kept_shares(int64_t sound_books) {
  constexpr int64_t kItems = 20'000, kAll = 8;
  const Value kept = kept_books(kItems, sound_books, kAll, step_inputs());
  const auto drawn = runtime::evaluate({kept}, {}, {})[0];
  std::vector<double> shares(kAll);
  for (const float books : drawn.as<float>()) {
    shares[static_cast<size_t>(books) - 1] += 1.0 / kItems;
  }
  return shares;
}

TEST(SplitCodec, KeepsTheSoundsBooksAloneMoreOftenThanOtherNumbers) {
  const auto of_split = kept_shares(5), of_plain = kept_shares(8);
  const double any = 0.25 / 7;
  EXPECT_NEAR(of_split[0], 0.25, 0.02);
  EXPECT_NEAR(of_split[3], any, 0.01);
  EXPECT_NEAR(of_split[4], any + 0.125, 0.02);
  EXPECT_NEAR(of_split[7], any + 0.375, 0.02);
  EXPECT_NEAR(of_plain[0], 0.25, 0.02);
  EXPECT_NEAR(of_plain[4], any, 0.01);
  EXPECT_NEAR(of_plain[7], any + 0.5, 0.02);
}

TEST(SplitCodec, GradientsReachBothEncoders) {
  const Codec codec(split());
  const auto spec = codec.train_spec({.batch = kBatch, .samples = kFrames * kHopSamples});
  const Value audio = graph::parameter("audio", spec.batch[0].shape);
  const auto loss = spec.loss(graph::Values{audio}, step_inputs());
  graph::Values trained;
  std::vector<std::string> names;
  for (const auto& parameter : codec.parameters().all()) {
    if (!parameter.trainable || parameter.name.find("encoder.") == std::string::npos) continue;
    trained.push_back(parameter.value);
    names.push_back(parameter.name);
  }
  graph::Values results = {loss.total};
  for (const Value& gradient : graph::gradients(loss.total, trained)) {
    results.push_back(graph::sum_all(graph::abs(gradient)));
  }
  const auto out =
      evaluate_with(codec.parameters(), results, audio, noise(spec.batch[0].shape.dims, 0.1F));
  EXPECT_TRUE(std::isfinite(out[0].as<float>()[0]));
  size_t of_phase = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_GT(out[i + 1].as<float>()[0], 0) << names[i];
    of_phase += names[i].starts_with("phase_encoder.") ? 1 : 0;
  }
  EXPECT_GT(of_phase, 0U);
  EXPECT_LT(of_phase, names.size());
}

// The loss without a movement term and the term itself.
TEST(SplitCodec, PaysForMovementInProportion) {
  const auto total = [](double weight) {
    CodecConfig config = split();
    config.consistency_weight = weight;
    const Codec codec(config);
    const auto spec = codec.train_spec({.batch = kBatch, .samples = kFrames * kHopSamples});
    const Value audio = graph::parameter("audio", spec.batch[0].shape);
    const auto loss = spec.loss(graph::Values{audio}, step_inputs());
    graph::Values results = {loss.total};
    const auto found = std::ranges::find_if(
        loss.metrics, [](const auto& metric) { return metric.first == "movement"; });
    EXPECT_EQ(found != loss.metrics.end(), weight > 0);
    if (found != loss.metrics.end()) results.push_back(found->second);
    std::vector<double> values;
    for (const auto& out :
         evaluate_with(codec.parameters(), results, audio, noise(spec.batch[0].shape.dims, 0.1F))) {
      values.push_back(out.as<float>()[0]);
    }
    return values;
  };
  const auto without = total(0), with = total(2);
  ASSERT_EQ(with.size(), 2U);
  EXPECT_GT(with[1], 0.1);  // noise moves much
  EXPECT_NEAR(with[0] - without[0], 2 * with[1], 2e-4);
}

TEST(SplitCodec, LeavesAnUnsplitCodecWithTheParametersOfEarlierReleases) {
  const Codec codec(plain());
  std::vector<std::string> names;
  for (const auto& parameter : codec.parameters().all()) names.push_back(parameter.name);
  EXPECT_THAT(names, Each(Not(HasSubstr("phase"))));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"encoder.in.weight", "encoder.blocks.0.norm.weight",
                                              "encoder.norm.weight", "encoder.to_latent.weight",
                                              "quantizer.books.2.codebook"}));
  EXPECT_EQ(plain().sound_latent(), kLatent);
  EXPECT_EQ(plain().sound_books(), kBooks);
}

TEST(SplitCodec, RefusesAPartWithoutDimsOrBooks) {
  const auto refusal = [](auto change) {
    CodecConfig config = split();
    change(config);
    EXPECT_EQ(hum::testing::code_of([&] { Codec{config}; }), ExitCode::kConfig);
    return hum::testing::message_of([&] { Codec{config}; });
  };
  EXPECT_THAT(refusal([](auto& c) { c.phase_latent = kLatent; }), HasSubstr("phase_latent 6 of"));
  EXPECT_THAT(refusal([](auto& c) { c.phase_latent = -1; }), HasSubstr("phase_latent -1"));
  EXPECT_THAT(refusal([](auto& c) { c.phase_latent = 0; }), HasSubstr("no phase part"));
  EXPECT_THAT(refusal([](auto& c) { c.phase_books = 0; }), HasSubstr("0 phase_books of 3"));
  EXPECT_THAT(refusal([](auto& c) { c.phase_books = 3; }), HasSubstr("3 phase_books of 3"));
  EXPECT_THAT(refusal([](auto& c) { c.phase_blocks = 0; }), HasSubstr("phase_blocks 0"));
  EXPECT_THAT(refusal([](auto& c) { c.floor_db = 0; }), HasSubstr("floor_db 0"));
  EXPECT_THAT(refusal([](auto& c) { c.consistency_weight = -1; }),
              HasSubstr("consistency_weight -1"));
}

}  // namespace
}  // namespace hum::models::codec
