#include "monitor/spans.h"

#include <gtest/gtest.h>

#include <thread>

namespace hum::monitor {
namespace {

using std::chrono::milliseconds;

TEST(Spans, AreKeptOnlyWhileRecording) {
  { const Timed before(SpanKind::kProgram, "before"); }
  start_recording();
  { const Timed during(SpanKind::kUpload, "", 12); }
  std::thread([] { const Timed elsewhere(SpanKind::kKernel, "hum.matmul"); }).join();
  const auto spans = stop_recording();
  { const Timed after(SpanKind::kProgram, "after"); }
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].kind, SpanKind::kUpload);
  EXPECT_EQ(spans[0].bytes, 12);
  EXPECT_EQ(spans[1].name, "hum.matmul");
  EXPECT_NE(spans[0].thread, spans[1].thread);
  EXPECT_LE(spans[1].begin, spans[1].end);
}

TEST(CoveredSeconds, CountsOverlapsOnceAndCutsToTheRange) {
  const Clock::time_point zero{};
  const auto span = [&](int from_ms, int to_ms) {
    return Span{SpanKind::kKernel, "k", zero + milliseconds(from_ms), zero + milliseconds(to_ms)};
  };
  const Span a = span(0, 40), b = span(30, 60), c = span(35, 38), d = span(100, 200);
  EXPECT_NEAR(covered_seconds({&d, &c, &b, &a}, zero + milliseconds(10), zero + milliseconds(150)),
              0.100, 1e-9);
  EXPECT_EQ(covered_seconds({}, zero, zero + milliseconds(5)), 0);
}

}  // namespace
}  // namespace hum::monitor
