#include "app/profile_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace hum::app {
namespace {

using monitor::Clock;
using monitor::Span;
using monitor::SpanKind;

Span span(SpanKind kind, const char* name, int from_ms, int to_ms, int64_t bytes = 0) {
  const Clock::time_point zero{};
  return {kind,
          name,
          zero + std::chrono::milliseconds(from_ms),
          zero + std::chrono::milliseconds(to_ms),
          0,
          bytes};
}

// One run of 100 ms with two kernels that overlap, an upload before it, 50 ms idle after it.
std::vector<Span> example() {
  return {span(SpanKind::kUpload, "", 0, 10, 4096), span(SpanKind::kKernel, "hum.matmul", 20, 50),
          span(SpanKind::kKernel, "hum.stft", 40, 60), span(SpanKind::kProgram, "step", 10, 110)};
}

TEST(ProfileReport, SplitsAProgramIntoKernelsAndTheRest) {
  const Clock::time_point zero{};
  const Json report = profile_report(example(), zero, zero + std::chrono::milliseconds(160));
  const Json& step = report["programs"]["step"];
  EXPECT_EQ(step["runs"], 1);
  EXPECT_NEAR(step["seconds"].get<double>(), 0.100, 1e-9);
  EXPECT_NEAR(step["kernel_seconds"].get<double>(), 0.040, 1e-9);
  EXPECT_NEAR(step["xla_seconds"].get<double>(), 0.060, 1e-9);
  EXPECT_NEAR(report["kernels"]["hum.matmul"]["seconds"].get<double>(), 0.030, 1e-9);
  EXPECT_EQ(report["upload_bytes"], 4096);
  EXPECT_NEAR(report["host_seconds"].get<double>(), 0.050, 1e-9);
  EXPECT_THAT(profile_text(report), ::testing::HasSubstr("hum.matmul"));
}

TEST(TraceEvents, AreInMicroseconds) {
  const Json events = trace_events(example(), Clock::time_point{})["traceEvents"];
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["name"], "upload");
  EXPECT_NEAR(events[1]["ts"].get<double>(), 20000, 1e-3);
  EXPECT_NEAR(events[1]["dur"].get<double>(), 30000, 1e-3);
}

}  // namespace
}  // namespace hum::app
