// Tests of reading the logs of hum train, and of calibrations from few runs.
#include "plan/logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/folders.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "plan/calibration.h"
#include "plan/named_models.h"

namespace hum::plan {
namespace {

namespace fs = std::filesystem;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Example {
  std::string model;
  double product_flops, bytes;
};

class Logs : public ::testing::Test {
 protected:
  Logs()
      : folder_(fs::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(folder_);
  }
  ~Logs() override { fs::remove_all(folder_); }

  static std::string head(const Example& e, const char* ran_on = "A desk, 2 threads") {
    return to_text(Json{{"run",
                         {{"model", e.model},
                          {"parameters", 1e6},
                          {"batch", 4},
                          {"product_flops", e.product_flops},
                          {"bytes", e.bytes},
                          {"hardware", ran_on},
                          {"devices", 1}}}}) +
           "\n";
  }
  static std::string line(int64_t step, double step_s) {
    return to_text(Json{{"step", step}, {"loss", 1.0}, {"step_s", step_s}, {"seconds", 3.0}}) +
           "\n";
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  // Each step takes the time that `truth` predicts.
  fs::path write_run(const Example& e, const Efficiency& truth) const {
    const double seconds =
        step_time({e.model, 1e6, e.product_flops, e.bytes}, hardware.at("desk"), truth).total();
    std::string text = head(e) + line(10, 100);
    for (int64_t i = 2; i < 7; ++i) text += line(10 * i, seconds);
    return write(e.model + ".jsonl", text);
  }
  std::string refusal(const std::string& text, const std::string& device = "desk") const {
    return message_of([&] { read_campaign(write("run.jsonl", text), hardware, device); });
  }

  fs::path folder_;
  Hardware hardware{source_folder() / "tests/data/planner/desk.yaml"};
};

const Example kCodec{"codec", 1e11, 1e9};

TEST_F(Logs, AStepIsTheMedianWithoutWarmUpAndDisturbances) {
  std::string text = head(kCodec) + line(5, 90) + line(10, 1.25) + line(15, 9) + line(20, 1.25);
  text += head(kCodec) + line(25, 80) + line(30, 1.25) + line(35, 1.3);  // resumed
  text += R"({"weights": "out", "steps": 35})"
          "\n"
          R"({"step": 40, "lo)";
  const Campaign campaign = read_campaign(write("run.jsonl", text), hardware, "");
  ASSERT_EQ(campaign.runs.size(), 1U);
  EXPECT_EQ(campaign.device, "desk") << "named in the log";
  EXPECT_DOUBLE_EQ(campaign.runs[0].measured_s, 1.25);
  EXPECT_EQ(campaign.runs[0].work->model, "codec");
  EXPECT_THAT(campaign.assumptions.at(0), HasSubstr("the median of 5 times"));
}

TEST_F(Logs, WithoutStepTimesItIsTheTimeBetweenLines) {
  std::string text = head(kCodec);
  for (int64_t i = 1; i < 6; ++i)
    text +=
        to_text(Json{{"step", 10 * i}, {"seconds", 40.0 + 20.0 * static_cast<double>(i)}}) + "\n";
  EXPECT_DOUBLE_EQ(read_campaign(write("run.jsonl", text), hardware, "").runs[0].measured_s, 2);
}

TEST_F(Logs, AnotherProgramsPartDoesNotCount) {
  const Example smaller{"codec", 1e10, 1e8};
  const std::string text = head(kCodec) + line(1, 5) + line(2, 5) + line(3, 5) + head(smaller) +
                           line(4, 1) + line(5, 0.5) + line(6, 0.5);
  const plan::Run run = read_campaign(write("run.jsonl", text), hardware, "").runs[0];
  EXPECT_DOUBLE_EQ(run.measured_s, 0.5);
  EXPECT_EQ(run.work->product_flops, 1e10);
}

TEST_F(Logs, RefuseWhatTheyLackWithAHint) {
  const std::string good = head(kCodec) + line(5, 9) + line(10, 1) + line(15, 1);
  EXPECT_THAT(refusal(line(5, 9) + line(10, 1)), HasSubstr("no run record"));
  EXPECT_THAT(refusal(head(kCodec) + line(5, 9) + line(10, 1)), HasSubstr("only 1 step times"));
  EXPECT_THAT(refusal("{\"run\": 1\n" + good), HasSubstr("line 1 is not a JSON object"));
  EXPECT_THAT(refusal(head({"codec", -1, 1}) + line(5, 9) + line(10, 1) + line(15, 1)),
              HasSubstr("'product_flops' above zero"));
  EXPECT_THAT(refusal(head({"codec", 3e12, 1}) + line(5, 9) + line(10, 1) + line(15, 1)),
              HasSubstr("3 TFLOP/s, more than the 1 a desk has"));
  EXPECT_THAT(refusal(head(kCodec, "Ryzen 7") + line(5, 9) + line(10, 1) + line(15, 1), ""),
              HasSubstr("'Ryzen 7', which is unknown hardware"));
  std::string mesh = good;
  mesh.replace(mesh.find("\"devices\":1"), 11, "\"devices\":8");
  EXPECT_THAT(refusal(mesh), HasSubstr("several devices"));
  const fs::path paths[] = {
      write("a.jsonl", good),
      write("b.jsonl", head(kCodec, "Other") + line(1, 1) + line(2, 1) + line(3, 1))};
  EXPECT_THAT(message_of([&] { read_logs(paths, hardware, "desk"); }),
              HasSubstr("on 'Other', the first on 'A desk"));
}

std::string timed_line(int64_t step, double seconds, double processor_s) {
  return to_text(Json{{"step", step}, {"seconds", seconds}, {"processor_s", processor_s}}) + "\n";
}

std::string process_of(int64_t first_step, const char* platform = "cpu") {
  const Json run = {{"hardware", "A desk"}, {"platform", platform}, {"first_step", first_step}};
  return to_text(Json{{"run", run}}) + "\n";
}

TEST_F(Logs, WhatATrainingTookIsTheSumOfItsProcesses) {
  // The second process made drafts for 50 s. The third lost its run record when lines were thinned
  // out, and the process that wrote the fourth record ended before its first line.
  const std::string text = process_of(0) + timed_line(100, 10, 20) + timed_line(200, 20, 40) +
                           process_of(230) + timed_line(300, 7, 64) + timed_line(400, 17, 84) +
                           timed_line(500, 5, 10) + process_of(500) +
                           "{\"weights\": \"out\", \"sha256\": \"ab\", \"steps\": 500}\n";
  const LoggedTraining training = read_training(write("run.jsonl", text));
  EXPECT_EQ(training.steps, 500);
  EXPECT_EQ(training.processes, 4);
  EXPECT_DOUBLE_EQ(training.seconds, 20 + 17 + 5);
  EXPECT_DOUBLE_EQ(training.processor_s, 40 + 84 + 10);
  EXPECT_DOUBLE_EQ(training.step_s, 0.1);
  EXPECT_DOUBLE_EQ(training.step_processor_s, 0.2);
  EXPECT_DOUBLE_EQ(training.start_processor_s, 50);
  EXPECT_EQ(training.hardware, "A desk");
  EXPECT_TRUE(training.is_on_cpu);
  EXPECT_EQ(training.sha256, "ab");
}

TEST_F(Logs, StepsOfStagesThatBeginFromWeightsAddUp) {
  const std::string text = process_of(0) + timed_line(100, 10, 20) + process_of(100, "cuda") +
                           timed_line(150, 5, 10) + process_of(0) + timed_line(70, 7, 14);
  const LoggedTraining training = read_training(write("run.jsonl", text));
  EXPECT_EQ(training.steps, 150 + 70);
  EXPECT_FALSE(training.is_on_cpu);
  EXPECT_TRUE(std::isnan(training.step_s)) << "no process wrote two lines";
  EXPECT_EQ(training.start_processor_s, 0);
}

TEST_F(Logs, ADamagedLogIsRefusedWithFileAndLine) {
  const auto refused = [&](const std::string& text) {
    return message_of([&] { read_training(write("run.jsonl", text)); });
  };
  const std::string good = process_of(0) + timed_line(100, 10, 20);
  EXPECT_THAT(refused(good + "{\"step\": 2\n" + good),
              AllOf(HasSubstr("line 3 is not a JSON object"), HasSubstr("run.jsonl")));
  EXPECT_THAT(refused(good + "{\"step\": 200, \"seconds\": 20}\n"),
              AllOf(HasSubstr("no 'processor_s'"), HasSubstr("line 3"), HasSubstr("run.jsonl")));
  EXPECT_THAT(refused("{\"run\": 1}\n" + good),
              AllOf(HasSubstr("no 'hardware'"), HasSubstr("line 1"), HasSubstr("run.jsonl")));
  EXPECT_THAT(refused(timed_line(100, 10, 20)), HasSubstr("no run record"));
  EXPECT_THAT(refused(""), HasSubstr("no run record"));
  EXPECT_THAT(message_of([&] { read_training(folder_ / "none.jsonl"); }), HasSubstr("none.jsonl"));
}

TEST_F(Logs, FourModelsTellTwoEfficienciesApart) {
  const Efficiency truth{.gemm = 0.6, .memory = 0.5};
  std::vector<fs::path> files;
  for (const Example& e : {Example{"codec", 1e11, 1e9}, Example{"voice", 1e11, 4e9},
                           Example{"coarse", 2e12, 5e9}, Example{"upsampler", 5e11, 1e11}})
    files.push_back(write_run(e, truth));
  const Calibration c = calibrate(files, hardware, "desk");
  EXPECT_NEAR(c.efficiency.gemm, 0.6, 0.02);
  EXPECT_NEAR(c.efficiency.memory, 0.5, 0.02);
  EXPECT_THAT(c.borrowed, ElementsAre("host_ms_per_layer", "link", "network", "sync_us"));
  EXPECT_FALSE(c.interval_assumed);
  EXPECT_EQ(c.models, 4);
  ASSERT_EQ(c.files.size(), 4U);
  EXPECT_EQ(c.files[1].name, "voice.jsonl");
  EXPECT_EQ(c.files[1].leave_one_model_out.rows, 1);
  EXPECT_LT(c.files[1].in_sample.mape_percent, 3);
  EXPECT_GT(c.interval_log, 0);
}

TEST_F(Logs, OneRunFitsOneEfficiencyAndBorrowsTheRest) {
  const fs::path log = write_run({"coarse", 2e12, 5e9}, {.gemm = 0.7});
  const Calibration c = calibrate({log}, hardware, "desk");
  EXPECT_THAT(c.borrowed, ElementsAre("memory", "host_ms_per_layer", "link", "network", "sync_us"));
  EXPECT_EQ(c.efficiency.memory, Efficiency().memory) << "as in the prior";
  EXPECT_LT(c.files[0].in_sample.mape_percent, 2);
  EXPECT_TRUE(c.interval_assumed);
  EXPECT_GE(c.interval_log, kAssumedIntervalLog);
}

// Six trainings of five models on a real machine that was also used by others.
TEST_F(Logs, OwnTrainingsAreFittedToWithinWhatIsSaid) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_folder() / "tests/data/planner/logs"))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 6U);
  const Calibration c = calibrate(files, hardware, "epyc");
  EXPECT_EQ(c.models, 5) << "the coarse LM was trained twice";
  EXPECT_EQ(c.borrowed.size(), 4U);
  double held_out = 0, log_worst = 0;
  for (const FileFit& file : c.files) {
    const Score& score = file.leave_one_model_out;
    held_out += score.mape_percent / 6;
    log_worst = std::max(log_worst, std::abs(std::log1p(score.bias_percent / 100)));
  }
  EXPECT_NEAR(held_out, 32.2, 1);
  EXPECT_NEAR(c.interval_log, log_worst, 1e-9)
      << "with six runs, only the widest interval covers four in five";
}

TEST_F(Logs, PlansOnBorrowedEfficienciesHaveWiderIntervals) {
  const Efficiency truth{.gemm = 0.6, .memory = 0.5};
  std::vector<fs::path> files;
  for (const Example& e : {Example{"codec", 1e11, 1e10}, Example{"coarse", 2e12, 5e9}})
    files.push_back(write_run(e, truth));
  const Calibration c = calibrate(files, hardware, "desk");
  const plan::Run same{.work = CountedWork{"codec", 1e6, 1e11, 1e10}};
  EXPECT_TRUE(predict(same, hardware.at("desk"), c).outside.empty());
  plan::Run far{.model = named_model("385m"),
                .layout = {.dp = 8, .global_batch = 8, .micro_batch = 1}};
  const Prediction p = predict(far, hardware.at("desk"), c);
  EXPECT_THAT(p.outside, ::testing::Contains(HasSubstr("network")));
  EXPECT_THAT(p.outside, ::testing::Contains(HasSubstr("borrowed from the hardware's prior")));
  EXPECT_THAT(p.outside, ::testing::Contains(HasSubstr("parameters")));
  EXPECT_NEAR(std::log(p.high_s / p.low_s), 4 * c.interval_log, 1e-9);
  write_calibration(folder_ / "desk.json", c);
  EXPECT_EQ(to_text(to_json(read_calibration(folder_ / "desk.json"))), to_text(to_json(c)));
}

}  // namespace
}  // namespace hum::plan
