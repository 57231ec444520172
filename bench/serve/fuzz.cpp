// serve-fuzz: wrong requests and hostile sounds. Each gets a reason or a valid result; 1,000 jobs
// leave no memory behind. tests/fuzz damages requests and sounds at random.
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/serve/service.h"
#include "tests/serve/fuzz_cases.h"
#include "tests/serve/hostile_sounds.h"

namespace hum::bench {
namespace {

constexpr double kMostSeconds = 600;
constexpr int kLeastCases = 500, kJobs = 1000, kSmokeJobs = 5;
// What fragments of the heap vary by.
constexpr double kMostGrowth_mb = 5;

std::string do_job(const Service& service, const std::string& sound) {
  const std::string id = service.begin(sound, {{"preset", "violin"}});
  HUM_REQUIRE(!id.empty(), "the service takes no job");
  const bool is_over = serve::eventually([&] {
    const auto job = service.job(id);
    return job && has_ended(*job);
  });
  HUM_REQUIRE(is_over, "job {} does not end", id);
  return id;
}

double resident_mb(pid_t process) {
  return static_cast<double>(serve::resident_bytes(process)) / 1e6;
}

// How much server and worker grow from the first fifth of the jobs to the last, in MB.
double growth_mb(Service& service, int jobs) {
  const std::string sound = serve::good_sound();
  const auto all_mb = [&] {
    double sum_mb = resident_mb(service.process().pid());
    for (const pid_t worker : service.process().children()) sum_mb += resident_mb(worker);
    return sum_mb;
  };
  double early_mb = 0;
  for (int i = 0; i < jobs; ++i) {
    service.ask("DELETE", "/v1/jobs/" + do_job(service, sound));
    if (i == jobs / 5) early_mb = all_mb();
  }
  return all_mb() - early_mb;
}

}  // namespace

eval::Bar serve_fuzz(const Scale& scale) {
  Service service(1);
  service.start();
  service.wait_until_ready();
  const std::string job = do_job(service, serve::good_sound());
  const Json upload = (*service.job(job))["upload"];
  const auto cases = serve::fuzz_cases({job, upload}, kMostSeconds);
  std::set<std::string> names;
  int64_t faults = 0;
  for (size_t i = 0; i < cases.size(); i += scale.smoke ? 10 : 1) {
    const auto answer = serve::send_fuzz_case(cases[i], service.port());
    names.insert(cases[i].name);
    if (!answer.made.empty()) service.ask("DELETE", answer.made);
    if (answer.fault.empty()) continue;
    ++faults;
    spdlog::error("{}: {}", cases[i].name, answer.fault);
  }
  const double grown_mb = growth_mb(service, scale.smoke ? kSmokeJobs : kJobs);
  eval::Bar bar{.name = "serve-fuzz",
                .value = static_cast<int64_t>(names.size()),
                .unit = "wrong requests, each answered with its reason",
                .bar = fmt::format("at least {} cases: a 4xx that says why, or a valid result; {} "
                                   "jobs leave at most {} MB",
                                   kLeastCases, kJobs, kMostGrowth_mb)};
  bar.checks.at_least("cases", static_cast<double>(names.size()), kLeastCases);
  bar.checks.at_most("faults", static_cast<double>(faults), 0);
  bar.checks.at_most("growth_mb", grown_mb, kMostGrowth_mb);
  bar.checks.holds("healthy", service.ask("GET", "/health").status == 200);
  return bar;
}

}  // namespace hum::bench
