#include "app/plan/extraction_report.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kMachines = R"(
rate:
  sound_s_per_core_s: {value: 10, source: "a test", date: "2026-11"}
  bytes_per_sound_s: {value: 11800, source: "a test", date: "2026-11"}
  threads_per_process: {value: 2, source: "a test", date: "2026-11"}
  memory_gb_per_process: {value: 1, source: "a test", date: "2026-11"}
nodes:
  big:
    cores: {value: 100, source: "a test", date: "2026-11"}
    memory_gb: {value: 60, source: "a test", date: "2026-11"}
    network_gb_per_s: {value: 10, source: "a test", date: "2026-11"}
    price_per_node_hour: {value: 5, source: "a test", date: "2026-11"}
  full:
    cores: {value: 100, source: "a test", date: "2026-11"}
    memory_gb: {value: 40, source: "a test", date: "2026-11"}
    network_gb_per_s: {value: 10, source: "a test", date: "2026-11"}
    price_per_node_hour: {value: 5, source: "a test", date: "2026-11"}
)";

class ExtractionPlanReport : public ::testing::Test {
 protected:
  ExtractionPlanReport() { write_file(folder_ / "machines.yaml", kMachines); }
  ExtractionPlanOptions options(const std::string& cluster) const {
    return {.hours = 240'000, .cluster = cluster, .machines = folder_ / "machines.yaml"};
  }

  ScratchFolder folder_;
};

TEST_F(ExtractionPlanReport, SaysMachinesDaysMoneyAndBytes) {
  const Json report = extraction_plan(options("big:2"));
  EXPECT_DOUBLE_EQ(report["days"], 5);
  EXPECT_DOUBLE_EQ(report["dollars"]["on_demand"], 1200);
  EXPECT_TRUE(report["dollars"]["spot"].is_null());
  EXPECT_EQ(report["processes_per_machine"], 50);
  EXPECT_DOUBLE_EQ(report["input_bytes"], 240'000 * 3600 * 176'400.0);
  EXPECT_DOUBLE_EQ(report["output_bytes"], 240'000 * 3600 * 11'800.0);
  EXPECT_THAT(extraction_plan_text(report),
              AllOf(HasSubstr("240000 hours of sound, 152 TB, on 2 x big (200 cores)"),
                    HasSubstr("10 s of sound per core and second (a test, 2026-11)"),
                    HasSubstr("5 days, bound by the processor"), HasSubstr("$1200 on demand\n"),
                    HasSubstr("HUM_THREADS=2")));
  auto in_time = options("big");
  in_time.days = 3;
  EXPECT_EQ(extraction_plan(in_time)["machines"], 4);
  auto faster = options("big:2");
  faster.rate = 20;
  EXPECT_DOUBLE_EQ(extraction_plan(faster)["days"], 2.5);
  EXPECT_EQ(extraction_plan(faster)["rate"]["source"], "--rate");
}

TEST_F(ExtractionPlanReport, TakesTheSizeOfTheLibraryInBytes) {
  auto in_bytes = options("big:2");
  in_bytes.hours = 0;
  in_bytes.input_tb = 2000;
  const Json report = extraction_plan(in_bytes);
  EXPECT_DOUBLE_EQ(report["input_bytes"], 2e15);
  EXPECT_NEAR(report["sound_hours"].get<double>(), 3.149e6, 1e3);
  in_bytes.keep_audio = true;
  EXPECT_DOUBLE_EQ(extraction_plan(in_bytes)["output_bytes"].get<double>() -
                       report["output_bytes"].get<double>(),
                   report["sound_hours"].get<double>() * 3600 * 88'200);
}

TEST_F(ExtractionPlanReport, RefusesWhatDoesNotMakeAPlan) {
  const auto refused = [](ExtractionPlanOptions changed) {
    return message_of([&] { extraction_plan(changed); });
  };
  auto changed = options("big:2");
  changed.hours = 0;
  EXPECT_THAT(refused(changed), HasSubstr("the size of the library is missing"));
  changed.hours = 1;
  changed.input_tb = 1;
  EXPECT_THAT(refused(changed), HasSubstr("both state the size"));
  changed.input_tb = 0;
  changed.kbps = -1;
  EXPECT_THAT(refused(changed), HasSubstr("--kbps -1 is not above 0"));
  EXPECT_THAT(refused(options("big")), HasSubstr("how many machines is missing"));
  EXPECT_THAT(refused(options("big:0")), HasSubstr("'big:0' is not a cluster"));
  EXPECT_THAT(refused(options(":3")), HasSubstr("is not a cluster"));
  EXPECT_THAT(refused(options("bigger:2")), HasSubstr("unknown machine 'bigger'"));
  EXPECT_THAT(refused(options("full:2")), HasSubstr("50 processes need 50 GB, it has 40"));
  changed = options("big:2");
  changed.days = 3;
  EXPECT_THAT(refused(changed), HasSubstr("--days asks for one"));
  EXPECT_EQ(code_of([&] { extraction_plan(changed); }), ExitCode::kUsage);
}

}  // namespace
}  // namespace hum::app
