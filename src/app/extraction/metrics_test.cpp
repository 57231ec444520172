#include "app/extraction/metrics.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"
#include "base/testing/refusal.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using hum::testing::code_of;
using hum::testing::eventually;
using ::testing::HasSubstr;

TEST(ExtractionMetrics, CountsWhatTheTableAccepts) {
  ExtractionMetrics metrics;
  const RecordingResult results[] = {
      {.number = 1, .failure = {}, .seconds = 20, .windows = {2, 1, 1}},
      {.number = 2, .failure = {}, .seconds = 1.5, .windows = {1, 0, 0}},
      {.number = 3, .failure = "no sound", .seconds = 30, .windows = {}}};
  metrics.finished(results);
  metrics.claimed(0.003);
  metrics.claimed(0.3);
  metrics.repeated_request();
  metrics.lost_lease();
  const std::string text = metrics.text("a\"b");
  for (const char* line :
       {"recordings_total{worker=\"ab\",outcome=\"done\"} 2",
        "recordings_total{worker=\"ab\",outcome=\"failed\"} 1",
        "windows_total{worker=\"ab\",outcome=\"kept\"} 3",
        "windows_total{worker=\"ab\",outcome=\"silent\"} 1",
        "sound_seconds_total{worker=\"ab\"} 21.5",
        "claim_seconds_bucket{worker=\"ab\",le=\"0.005\"} 1",
        "claim_seconds_count{worker=\"ab\"} 2", "repeated_requests_total{worker=\"ab\"} 1",
        "lost_leases_total{worker=\"ab\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\nhum_extract_{}\n", line)));
  }
}

TEST(MetricsFile, IsRewrittenAsLongAsItLives) {
  const ScratchFolder folder;
  const fs::path path = folder.path() / "worker.prom";
  ExtractionMetrics metrics;
  const auto shows = [&](int64_t shards) {
    const std::string line =
        fmt::format("\nhum_extract_shards_total{{worker=\"worker\"}} {}\n", shards);
    return read_file(path).find(line) != std::string::npos;
  };
  {
    const MetricsFile file(path, metrics, std::chrono::milliseconds(20));
    EXPECT_TRUE(shows(0));
    metrics.stored_shard(0.1, 1000);
    EXPECT_TRUE(eventually([&] { return shows(1); }));
  }
  {
    const MetricsFile file(path, metrics, std::chrono::hours(1));
    metrics.stored_shard(0.1, 1000);
  }
  EXPECT_TRUE(shows(2));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(MetricsFile, ThatCannotBeWrittenIsSaidSoAtOnce) {
  const ScratchFolder folder;
  const ExtractionMetrics metrics;
  EXPECT_EQ(code_of([&] { MetricsFile(folder / "no/worker.prom", metrics); }),
            ExitCode::kCannotCreate);
  EXPECT_EQ(code_of([&] { MetricsFile(folder / "worker.txt", metrics); }), ExitCode::kUsage);
  fs::create_directories(folder.path() / "folder.prom");
  EXPECT_EQ(code_of([&] { MetricsFile(folder / "folder.prom", metrics); }),
            ExitCode::kCannotCreate);
}

}  // namespace
}  // namespace hum::app
