// Tests of named models, the search over layouts, and the needs of a run on a cluster.
#include "plan/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/testing/refusal.h"
#include "plan/checkpoints.h"
#include "plan/named_models.h"
#include "plan/search.h"

namespace hum::plan {
namespace {

using hum::testing::message_of;
namespace fs = std::filesystem;
using graph::RecomputePolicy;
using ::testing::HasSubstr;

TEST(NamedModel, HasTheSizeThatItsNameSays) {
  const auto billions = [](const char* name) { return named_model(name).parameters() / 1e9; };
  EXPECT_NEAR(billions("10b"), 10.078, 1e-3);  // 48 (12 h^2 + 13 h) + 2 V h
  EXPECT_NEAR(billions("gpt3-175b"), 174.6, 0.1);
  EXPECT_NEAR(billions("llama-70b"), 68.977, 1e-3);
  EXPECT_NEAR(billions("llama-13b"), 13.016, 1e-3);
  EXPECT_THAT(message_of([] { named_model("llama-9b"); }), HasSubstr("or one of 385m, 10b"));
}

TEST(NamedModel, ReadsConfigsOfHuggingFace) {
  const fs::path path = fs::path(::testing::TempDir()) / "plan_config.json";
  std::ofstream(path) << R"({"hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "vocab_size": 128256, "max_position_embeddings": 8192, "hidden_act": "silu"})";
  EXPECT_EQ(named_model(path).parameters(), named_model("llama-8b").parameters());
  std::ofstream(path) << R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
    "n_inner": null, "vocab_size": 50257, "n_positions": 1024})";
  EXPECT_EQ(named_model(path).parameters(), 124439808);  // openai-community/gpt2
  std::ofstream(path) << R"({"hidden_size": 4096, "num_hidden_layers": 0})";
  EXPECT_THAT(message_of([&] { named_model(path); }), HasSubstr("num_hidden_layers is not a size"));
  std::ofstream(path) << R"({"hidden_size": 4096})";
  EXPECT_THAT(message_of([&] { named_model(path); }), HasSubstr("no field num_hidden_layers"));
  fs::remove(path);
}

class Cluster : public ::testing::Test {
 protected:
  Hardware hardware;
  Device device = hardware.at("trn1.32xlarge");
  Calibration calibration = read_calibration(calibration_path(device.calibrated_as()));
  Transformer model = named_model("llama-7b");
  Layout layout = {.dp = 64,
                   .tp = 8,
                   .pp = 1,
                   .global_batch = 1024,
                   .micro_batch = 1,
                   .recompute = RecomputePolicy::kSelective,
                   .sequence_parallel = true,
                   .distributed_optimizer = true,
                   .overlap_gradients = true};
};

TEST_F(Cluster, NodesShareTheirAcceleratorsFiguresAndCalibration) {
  EXPECT_EQ(device.calibrated_as(), "trn1");
  EXPECT_EQ(device.peak_tflops.value, hardware.at("trn1").peak_tflops.value);
  EXPECT_EQ(device.price_per_node_hour.value, 21.5);
}

TEST_F(Cluster, FamiliesStandForTheirLargestNode) {
  EXPECT_EQ(hardware.at("p4d").name, "p4d.24xlarge");
  EXPECT_EQ(hardware.at("g5").name, "g5.48xlarge");
  EXPECT_EQ(hardware.at("trn1").name, "trn1");  // a core, with a calibration
  EXPECT_EQ(hardware.node("trn1").name, "trn1.32xlarge");
  EXPECT_EQ(hardware.node("p5").name, "p5.48xlarge");
  EXPECT_EQ(hardware.node("a100").name, "a100");
  EXPECT_EQ(hardware.find("p6"), nullptr);
}

TEST_F(Cluster, OutlookAddsUp) {
  const Outlook o = look_ahead(model, layout, device, calibration, {.tokens = 1.8e12});
  EXPECT_EQ(o.nodes, 16);
  EXPECT_TRUE(o.fits());
  // AWS measured 93 sequences a second, 32 % to 37 % of the peak
  EXPECT_NEAR(o.tokens_per_s / 4096, 93, 20);
  EXPECT_NEAR(o.mfu, 0.36, 0.06);
  const double attention = 4.0 * 32 * 4096 * 4096 * 4096;
  EXPECT_NEAR(o.hfu / o.mfu, 1 + attention / model.flops_per_sequence(), 1e-9);
  EXPECT_NEAR(o.days, 1.8e12 / o.tokens_per_s / o.goodput / 86400, 1e-9);
  EXPECT_NEAR(o.cost, o.days * 24 * 16 * 21.5, 1e-3);
  EXPECT_NEAR(o.cost_per_million_tokens * 1.8e6, o.cost, 1e-3);
  EXPECT_EQ(o.checkpoint_bytes, 14 * model.parameters());
}

TEST_F(Cluster, EnergyIsFullPowerOverTheRun) {
  const Device& p5 = hardware.at("p5.48xlarge");
  const Outlook o =
      look_ahead(model, layout, p5, read_calibration(calibration_path("h100")), {.tokens = 1e12});
  EXPECT_NEAR(o.energy_kwh, 512 * 0.7 * 24 * o.days, 1e-6 * o.energy_kwh);
  // the vendor of trn1 publishes no power
  EXPECT_EQ(look_ahead(model, layout, device, calibration, {.tokens = 1e12}).energy_kwh, 0);
}

TEST_F(Cluster, CheckpointsFollowDaly) {
  const Goal goal{.device_mtbf_hours = 1000, .storage_gb_per_s = 0.1, .restart_minutes = 5};
  const Outlook o = look_ahead(model, layout, device, calibration, goal);
  const double write_s = 14 * 6738415616.0 / (16 * 0.1e9), failure_s = 1000 * 3600.0 / 512;
  EXPECT_NEAR(o.checkpoint_s, write_s, 1e-6);
  const double first_order = std::sqrt(2 * write_s * failure_s) - write_s;
  EXPECT_NEAR(o.checkpoint_every_s / first_order, 1, 0.03);
  // no other checkpoint interval has more goodput
  const Interruptions failures = {write_s, failure_s, 300};
  EXPECT_NEAR(o.goodput, goodput(failures, o.checkpoint_every_s), 1e-12);
  EXPECT_GT(o.goodput, goodput(failures, 0.9 * o.checkpoint_every_s));
  EXPECT_GT(o.goodput, goodput(failures, 1.1 * o.checkpoint_every_s));
  EXPECT_LT(o.goodput, 0.9);
  EXPECT_GT(o.goodput, 0.7);
}

TEST_F(Cluster, RefusesGoalsThatCannotBe) {
  const auto message = [&](const Goal& goal) {
    return message_of([&] { look_ahead(model, layout, device, calibration, goal); });
  };
  EXPECT_THAT(message({.tokens = -1}), HasSubstr("tokens must be above zero"));
  EXPECT_THAT(message({.storage_gb_per_s = 0}), HasSubstr("storage_gb_per_s"));
  EXPECT_THAT(message({.device_mtbf_hours = NAN}), HasSubstr("device_mtbf_hours"));
}

TEST_F(Cluster, SearchFindsTheFastestThatFits) {
  Layout like = layout;
  like.tp = like.pp = 0;
  const SearchResult result = search(model, like, 512, device, calibration.efficiency);
  ASSERT_FALSE(result.fitting.empty());
  EXPECT_EQ(result.tried, static_cast<int64_t>(result.fitting.size()) + result.too_large);
  for (const Candidate& c : result.fitting) {
    EXPECT_NO_THROW(validate(model, c.layout));
    EXPECT_EQ(c.layout.devices(), 512);
    EXPECT_LE(c.bytes, 17.18e9);
    EXPECT_GE(c.seconds, result.fitting[0].seconds);
  }
  const double by_hand = step_time(model, layout, device, calibration.efficiency).total();
  EXPECT_LE(result.fitting[0].seconds, by_hand);
  const auto front = pareto_front(result.fitting);
  EXPECT_EQ(front[0].seconds, result.fitting[0].seconds);
  for (size_t i = 1; i < front.size(); ++i) EXPECT_LT(front[i].bytes, front[i - 1].bytes);
}

TEST_F(Cluster, SearchSaysWhenNothingFitsOrDivides) {
  Layout like = layout;
  like.tp = 8;  // HLAT: 70B ran out of memory on four nodes
  like.pp = 1;
  like.dp = 16;
  const SearchResult result =
      search(named_model("llama-70b"), like, 128, device, calibration.efficiency);
  EXPECT_TRUE(result.fitting.empty());
  EXPECT_EQ(result.too_large, result.tried);
  EXPECT_GT(result.least_bytes, 17.18e9);
  like.global_batch = 1000;
  like.tp = like.pp = 0;
  EXPECT_THAT(message_of([&] { search(model, like, 31 * 37, device, calibration.efficiency); }),
              HasSubstr("no tp x pp x dp of 1147 devices"));
  like.global_batch = 1024;
  const Device& inf2 = hardware.at("inf2");  // 24 cores per node: the factor 3 divides nothing else
  EXPECT_EQ(nearest_nodes(model, like, inf2, 2), std::nullopt);
  const std::string refused =
      message_of([&] { search(model, like, 48, inf2, calibration.efficiency); });
  EXPECT_THAT(refused, HasSubstr("--batch 3072 does"));
  like.global_batch = 3072;
  EXPECT_FALSE(search(model, like, 48, inf2, calibration.efficiency).fitting.empty());
}

}  // namespace
}  // namespace hum::plan
