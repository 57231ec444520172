// Tests of reading runs, fitting, calibrations and scores.
#include "plan/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "plan/baselines.h"
#include "plan/nelder_mead.h"

namespace hum::plan {
namespace {

namespace fs = std::filesystem;
using hum::testing::message_of;
using ::testing::HasSubstr;

fs::path data(const std::string& name) { return source_folder() / "tests/data/planner" / name; }

std::vector<fs::path> files_of(const std::string& device) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(data(""))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(device + "_")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class Runs : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::string message(const std::string& text, const std::string& name = "runs.csv") {
    try {
      read_campaign(write(name, text), hardware);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  Hardware hardware;
  fs::path folder_;
};

constexpr char kHeader[] =
    "hidden,layers,heads,tp,pp,gpus,global_batch,micro_batch,seq,iteration_s\n";

TEST_F(Runs, ReadsThePublishedColumnNames) {
  const Campaign multi = read_campaign(data("a100_multi_node.csv"), hardware);
  EXPECT_EQ(multi.device, "a100");
  ASSERT_EQ(multi.runs.size(), 73U);
  EXPECT_EQ(multi.runs[0].model.hidden, 3072);
  EXPECT_EQ(multi.runs[0].layout.dp, 64);
  EXPECT_DOUBLE_EQ(multi.runs[0].measured_s, 3.5665);
  const Campaign trn1 = read_campaign(data("trn1_pretraining.csv"), hardware);
  EXPECT_EQ(trn1.device, "trn1");
  EXPECT_EQ(trn1.runs[0].layout.recompute, graph::RecomputePolicy::kFull);
  EXPECT_EQ(trn1.runs[4].model.key_value_heads(), 8);
  EXPECT_EQ(trn1.runs[4].layout.recompute, graph::RecomputePolicy::kSelective);
  EXPECT_NEAR(trn1.runs[0].measured_s, 1024 / 107.18, 1e-9);
  const Campaign gains = read_campaign(data("a100_selective_recompute.csv"), hardware);
  ASSERT_EQ(gains.runs.size(), 8U);
  EXPECT_TRUE(gains.runs[1].layout.sequence_parallel);
}

TEST_F(Runs, RecomputationIsTakenWhereAFileCannotDoWithout) {
  const auto policy = [&](const char* name) {
    return read_campaign(data(name), hardware).runs[0].layout.recompute;
  };
  EXPECT_EQ(policy("a100_multi_node.csv"), graph::RecomputePolicy::kFull);
  EXPECT_EQ(policy("a100_single_node.csv"), graph::RecomputePolicy::kNone);
}

TEST_F(Runs, RefusesImpossibleRowsWithLineAndHint) {
  const std::string head = kHeader;
  EXPECT_THAT(message(head + "1024,24,16,2,1,8,16,1,1024,0\n"), HasSubstr("runs.csv:2: '0'"));
  EXPECT_THAT(message(head + "1024,24,16,2,1,8,-16,1,1024,1\n"), HasSubstr("above zero"));
  EXPECT_THAT(message(head + "1024,24,16,2,1,8,1.5,1,1024,1\n"), HasSubstr("whole number"));
  EXPECT_THAT(message(head + "1024,24,16,2,3,8,16,1,1024,1\n"), HasSubstr("devices"));
  EXPECT_THAT(message(head + "1024,24,16,4,1,8,15,1,1024,1\n"), HasSubstr("global batch"));
  EXPECT_THAT(message(head + "1024,24,16\n"), HasSubstr("3 cells for 10 columns"));
  EXPECT_THAT(message(head), HasSubstr("no rows"));
  EXPECT_THAT(message("hidden,layers\n1024,24\n"), HasSubstr("no figure for heads"));
  EXPECT_THAT(message("hardware," + head + "b9,1024,24,16,2,1,8,16,1,1024,1\n"),
              HasSubstr("the nearest are a100"));
}

TEST_F(Runs, WhatWasMeasuredMayHaveShortStagesAtItsEnds) {
  const std::string head = "hidden,layers,heads,tp,pp,gpus,global_batch,micro_batch,seq";
  const std::string bloom = "14336,70,112,4,12,384,2048,2,2048";
  EXPECT_THAT(message(head + "\n" + bloom + "\n"), HasSubstr("pp = 12 does not divide 70 layers"));
  EXPECT_THAT(message(head + ",iteration_s\n" + bloom + ",105\n"), HasSubstr("nothing was thrown"));
}

TEST_F(Runs, ATimeOfFullRecomputationAloneIsReadAsSuch) {
  const std::string head =
      "hidden,layers,heads,tp,pp,gpus,global_batch,micro_batch,seq,full_recompute_s,"
      "sequence_parallel_selective_s\n4096,30,32,2,1,96,192,2,4096,2.0,";
  for (const char* second : {"", "1.6"}) {
    const Campaign read = read_campaign(write("runs.csv", head + second + "\n"), hardware);
    EXPECT_EQ(read.runs[0].layout.recompute, graph::RecomputePolicy::kFull) << second;
  }
}

TEST_F(Runs, HardwareOfTheFileIsNotOverruled) {
  const auto path = write(
      "runs.csv", "hardware," + std::string(kHeader) + "a100,4096,30,32,2,1,96,192,2,4096,2\n");
  EXPECT_EQ(read_campaign(path, hardware, "a100").device, "a100");
  EXPECT_EQ(read_campaign(path, hardware, "", "h100").device, "a100");
  EXPECT_THAT(message_of([&] { read_campaign(path, hardware, "h100"); }),
              HasSubstr("runs of a100, not of h100"));
}

TEST_F(Runs, MeshesBeyondAMillionDevicesAreRefused) {
  const std::string huge = std::to_string(int64_t{1} << 32);
  EXPECT_THAT(message(kHeader + fmt::format("4096,30,32,{0},{0},8,192,2,4096,1\n", huge)),
              HasSubstr("tp = 4294967296: more than 1000000"));
}

TEST(Divisors, AreFoundForLargeNumbersToo) {
  EXPECT_THAT(divisors(36), ::testing::ElementsAre(1, 2, 3, 4, 6, 9, 12, 18, 36));
  EXPECT_THAT(divisors(1), ::testing::ElementsAre(1));
  EXPECT_THAT(divisors(0), ::testing::IsEmpty());
  EXPECT_EQ(nearest_divisor(1'000'000'000'001, 80), 73);
}

TEST_F(Runs, FasterThanThePeakIsOtherHardwareOrAMistake) {
  const std::string row = "4096,30,32,2,1,96,192,2,4096,";
  const Campaign fast = read_campaign(write("runs.csv", kHeader + row + "0.8\n"), hardware);
  EXPECT_EQ(fast.device, "h100");
  EXPECT_THAT(fast.assumptions[0], HasSubstr("too fast for an a100"));
  EXPECT_THAT(message(kHeader + row + "0.08\n"), HasSubstr("more than the 989 a h100 has"));
  EXPECT_THAT(message(kHeader + row + "0.8\n", "a100_runs.csv"), HasSubstr("nothing was thrown"));
  EXPECT_THAT(message("hardware," + std::string(kHeader) + "a100," + row + "0.8\n"),
              HasSubstr("more than the 312"));
  EXPECT_THAT(
      message("hardware," + std::string(kHeader) + "h100," + row + "0.8\na100," + row + "0.8\n"),
      HasSubstr("runs.csv:3: the hardware differs"));
}

TEST(NelderMead, FindsTheBottomOfRosenbrocksValley) {
  const auto valley = [](const Point& p) {
    return 100 * std::pow(p[1] - p[0] * p[0], 2) + std::pow(1 - p[0], 2);
  };
  const Point found = minimize(valley, {-1.2, 1.0}, 0.5, 1e-8);
  EXPECT_NEAR(found[0], 1, 1e-5);
  EXPECT_NEAR(found[1], 1, 1e-5);
}

TEST(Score, CountsErrorsBiasAndRanks) {
  const std::vector<double> predicted = {1.1, 1.8, 3.0, 5.0}, measured = {1, 2, 3, 4};
  const Score s = score(predicted, measured);
  EXPECT_NEAR(s.mape_percent, 11.25, 1e-9);
  EXPECT_NEAR(s.worst_percent, 25, 1e-9);
  EXPECT_NEAR(s.bias_percent, 6.25, 1e-9);
  EXPECT_NEAR(s.rank_correlation, 1, 1e-12);
  const std::vector<double> reversed = {4, 3, 2, 1};
  EXPECT_NEAR(score(reversed, measured).rank_correlation, -1, 1e-12);
  EXPECT_EQ(conformal_half_width({0.1, -0.4, 0.2, 0.3}, 0.8), 0.4);
  EXPECT_TRUE(std::isinf(conformal_half_width({0.1, 0.2, 0.3}, 0.8)));
}

TEST(Fit, FindsTheEfficienciesThatMadeTheTimes) {
  const Hardware hardware;
  std::vector<Campaign> campaigns = {read_campaign(data("a100_multi_node.csv"), hardware),
                                     read_campaign(data("a100_single_node.csv"), hardware)};
  Device device = hardware.at("a100");
  const Efficiency truth{0.7, 0.9, 2.0, 0.7, 0.75, 60};
  for (Campaign& campaign : campaigns) {
    for (auto& run : campaign.runs) run.measured_s = predict(run, device, truth);
  }
  const Efficiency found = fit(campaigns, device);
  for (const Campaign& campaign : campaigns) {
    for (const auto& run : campaign.runs)
      ASSERT_NEAR(predict(run, device, found) / run.measured_s, 1, 0.05) << run.name;
  }
  EXPECT_NEAR(found.gemm, truth.gemm, 0.01);
  EXPECT_NEAR(found.host_ms_per_layer, truth.host_ms_per_layer, 0.1);
}

TEST(NullModel, IsTheBestConstantRateOfOtherModels) {
  const Campaign multi = read_campaign(data("a100_multi_node.csv"), Hardware());
  std::vector<double> measured;
  for (const auto& run : multi.runs) measured.push_back(run.measured_s);
  EXPECT_NEAR(score(null_model_held_out(multi, false), measured).mape_percent, 18.7, 0.3);
  EXPECT_GT(score(null_model_held_out(multi, true), measured).mape_percent, 18.7);
  const Regret none = top_regret(multi, measured);
  EXPECT_EQ(none.worst_percent, 0);
  EXPECT_EQ(none.decisions, 2);
  EXPECT_EQ(none.plans, 73);
  std::vector<double> inverted = measured;
  for (double& s : inverted) s = 1 / s;
  EXPECT_GT(top_regret(multi, inverted).worst_percent, 100);
}

class Stored : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, Stored, ::testing::Values("a100", "h100", "trn1"),
                         [](const auto& info) { return info.param; });

TEST_P(Stored, CalibrationIsWhatItsRunsGive) {
  const Calibration stored = read_calibration(calibration_path(GetParam()));
  const Calibration made = calibrate(files_of(GetParam()), Hardware());
  ASSERT_EQ(stored.files.size(), made.files.size());
  for (size_t i = 0; i < made.files.size(); ++i) {
    EXPECT_EQ(stored.files[i].sha256, made.files[i].sha256) << made.files[i].name;
    EXPECT_NEAR(stored.files[i].leave_one_model_out.mape_percent,
                made.files[i].leave_one_model_out.mape_percent, 0.2);
  }
  const auto a = to_vector(stored.efficiency), b = to_vector(made.efficiency);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i] / b[i], 1, 0.02);
  for (const size_t share : {0, 1, 3, 4}) EXPECT_LE(a[share], 1);
}

TEST_P(Stored, IntervalsHoldMostRunsAndSayWhatIsOutside) {
  const Hardware hardware;
  const Calibration stored = read_calibration(calibration_path(GetParam()));
  const Device& device = hardware.at(GetParam());
  for (const auto& file : files_of(GetParam())) {
    const Campaign campaign = read_campaign(file, hardware);
    double inside = 0;
    for (const auto& run : campaign.runs) {
      const Prediction p = predict(run, device, stored);
      EXPECT_TRUE(p.outside.empty()) << run.name;
      inside += p.low_s <= run.measured_s && run.measured_s <= p.high_s;
    }
    EXPECT_GE(inside / static_cast<double>(campaign.runs.size()), kIntervalProbability) << file;
    auto far = campaign.runs[0];
    far.model.sequence /= 64;
    const Prediction p = predict(far, device, stored);
    EXPECT_THAT(p.outside, ::testing::Contains(HasSubstr("seq")));
    EXPECT_NEAR(std::log(p.high_s / p.low_s), 4 * stored.interval_log, 1e-9);
  }
}

TEST(Unseen, RunsThatNothingWasFittedToAreWithinTheInterval) {
  const Hardware hardware;
  for (const std::string name : {"a100_sc21_table2", "h100_strong_scaling"}) {
    const Campaign campaign = read_campaign(data("unseen/" + name + ".csv"), hardware);
    const Device& device = hardware.at(campaign.device);
    const Calibration stored = read_calibration(calibration_path(campaign.device));
    for (const auto& run : campaign.runs) {
      const Prediction p = predict(run, device, stored);
      EXPECT_NEAR(p.time.total() / run.measured_s, 1, 0.05) << run.name;
      EXPECT_LE(p.low_s, run.measured_s);
      EXPECT_GE(p.high_s, run.measured_s);
    }
  }
}

TEST_F(Runs, ACalibrationIsWrittenAndReadAgain) {
  const Calibration a = read_calibration(calibration_path("h100"));
  write_calibration(folder_ / "again.json", a);
  const Calibration b = read_calibration(folder_ / "again.json");
  EXPECT_EQ(to_text(to_json(a)), to_text(to_json(b)));
  write("broken.json", "{\"format_version\": 1}");
  EXPECT_THROW(read_calibration(folder_ / "broken.json"), Error);
}

}  // namespace
}  // namespace hum::plan
