// serve-fuzz: wrong requests and hostile sounds. Each gets a reason or a valid result; 1,000 jobs
// leave no memory behind. tests/fuzz damages requests and sounds at random.
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/serve/service.h"
#include "tests/serve/fuzz_cases.h"
#include "tests/serve/hostile_sounds.h"

namespace hum::bench {
namespace {

constexpr double kMostSeconds = 600;  // the service's default
constexpr int kLeastCases = 500, kJobs = 1000, kSmokeJobs = 5;

std::vector<serve::FuzzCase> cases_for(const Service& service, const Scale& scale) {
  const std::string job = service.do_job(serve::good_sound(), {{"preset", "violin"}});
  const Json upload = (*service.job(job))["upload"];
  const auto all = serve::fuzz_cases({job, upload}, kMostSeconds);
  std::vector<serve::FuzzCase> some;
  for (size_t i = 0; i < all.size(); i += scale.smoke ? 10 : 1) some.push_back(all[i]);
  return some;
}

// With tiny weights: the sounds are as long, and so is what a leak leaves, but 1,000 jobs take
// minutes instead of half an hour.
serve::MemoryGrowth growth_after(int jobs) {
  serve::RunningService service(
      {.program = kHumProgram, .environment = {{"HUM_WEIGHTS", serve::tiny_weights().string()}}});
  service.start();
  service.wait_until_ready();
  return serve::growth_after(service, jobs);
}

}  // namespace

eval::Bar serve_fuzz(const Scale& scale) {
  std::set<std::string> names;
  std::vector<std::string> faults;
  bool is_healthy = false;
  {
    Service service(1);
    service.start();
    service.wait_until_ready();
    const auto cases = cases_for(service, scale);
    for (const auto& one : cases) names.insert(one.name);
    faults = serve::send_fuzz_cases(cases, service.port());
    is_healthy = service.ask("GET", "/health").status == 200;
  }
  for (const std::string& fault : faults) spdlog::error("{}", fault);
  const auto growth = growth_after(scale.smoke ? kSmokeJobs : kJobs);
  eval::Bar bar{.name = "serve-fuzz",
                .value = static_cast<int64_t>(names.size()),
                .unit = "wrong requests, each answered with its reason",
                .bar = fmt::format("at least {} cases: a 4xx that says why, or a valid result; {} "
                                   "jobs leave at most {} MB in server and worker",
                                   kLeastCases, kJobs, serve::kMostGrowth_mb)};
  bar.checks.at_least("cases", static_cast<double>(names.size()), kLeastCases);
  bar.checks.at_most("faults", static_cast<double>(faults.size()), 0);
  bar.checks.at_most("server_growth_mb", growth.server_mb, serve::kMostGrowth_mb);
  bar.checks.at_most("worker_growth_mb", growth.worker_mb, serve::kMostGrowth_mb);
  bar.checks.holds("healthy", is_healthy);
  return bar;
}

}  // namespace hum::bench
