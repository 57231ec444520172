#include "serve/api/metrics.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>
#include <sstream>

namespace hum::serve {
namespace {

using ::testing::HasSubstr;

Exchange exchange(const std::string& route, int status, double seconds) {
  return {.method = "GET",
          .route = route,
          .status = status,
          .received_bytes = 10,
          .sent_bytes = 20,
          .seconds = seconds};
}

TEST(Metrics, CountRequestsByRouteAndStatus) {
  Metrics metrics;
  metrics.count(exchange("/v1/jobs/{id}", 200, 0.01));
  metrics.count(exchange("/v1/jobs/{id}", 200, 0.3));
  metrics.count(exchange("", 404, 0.001));
  const std::string text = metrics.text({});
  EXPECT_THAT(text, HasSubstr("hum_http_requests_total{method=\"GET\",route=\"/v1/jobs/{id}\","
                              "status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("route=\"none\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{route=\"/v1/jobs/{id}\",le=\"0.02\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{route=\"/v1/jobs/{id}\",le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_count{route=\"/v1/jobs/{id}\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("hum_http_sent_bytes_total 60\n"));
}

TEST(Metrics, TellTheStateOfJobsAndWorkers) {
  const std::string text = Metrics().text(
      {.counts = {.queued = 3, .dead_letters = 1}, .workers = {{"a", true}, {"b", false}}});
  EXPECT_THAT(text, HasSubstr("hum_jobs{status=\"queued\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("hum_workers{state=\"ready\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("hum_dead_letters 1\n"));
}

TEST(Metrics, EveryLineHasPrometheusForm) {
  Metrics metrics;
  metrics.count(exchange("/health", 200, 100));
  const std::regex sample(R"((hum_[a-z_]+)(\{[^}]*(\{[a-z]+\}[^}]*)*\})? [0-9.e+-]+)");
  std::istringstream lines(metrics.text({}));
  std::set<std::string> families;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (!line.starts_with("# TYPE ")) {
      EXPECT_TRUE(std::regex_match(line, sample)) << line;
      EXPECT_TRUE(line.starts_with(family)) << line;
    }
  }
  EXPECT_GT(families.size(), 8U);
}

}  // namespace
}  // namespace hum::serve
