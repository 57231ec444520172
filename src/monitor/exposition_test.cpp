#include "monitor/exposition.h"

#include <gmock/gmock.h>

namespace hum::monitor {
namespace {

TEST(Exposition, WritesFamiliesWithTheirFigures) {
  Exposition text;
  text.family("hum_jobs", "gauge", "Jobs by status.");
  text.value("status=\"done\"", 3);
  text.value("", 0.5);
  EXPECT_EQ(std::move(text).take(),
            "# HELP hum_jobs Jobs by status.\n# TYPE hum_jobs gauge\n"
            "hum_jobs{status=\"done\"} 3\nhum_jobs 0.5\n");
}

TEST(Exposition, CountsDurationsUpToTheEndsOfTheirBuckets) {
  constexpr double kEnds_s[] = {0.5, 2};
  Durations durations(kEnds_s);
  for (const double seconds : {0.25, 0.5, 1.0, 100.0}) durations.add(seconds);
  Exposition text;
  text.family("hum_waits", "histogram", "Waits.");
  text.value("", durations);
  text.value("a=\"b\"", durations);
  EXPECT_EQ(std::move(text).take(),
            "# HELP hum_waits Waits.\n# TYPE hum_waits histogram\n"
            "hum_waits_bucket{le=\"0.5\"} 2\nhum_waits_bucket{le=\"2\"} 3\n"
            "hum_waits_bucket{le=\"+Inf\"} 4\nhum_waits_sum 101.75\nhum_waits_count 4\n"
            "hum_waits_bucket{a=\"b\",le=\"0.5\"} 2\nhum_waits_bucket{a=\"b\",le=\"2\"} 3\n"
            "hum_waits_bucket{a=\"b\",le=\"+Inf\"} 4\nhum_waits_sum{a=\"b\"} 101.75\n"
            "hum_waits_count{a=\"b\"} 4\n");
}

TEST(Exposition, LeavesOutWhatALabelCannotHold) {
  EXPECT_EQ(plain_label("a\"b\\c\nd e"), "abcd e");
}

}  // namespace
}  // namespace hum::monitor
