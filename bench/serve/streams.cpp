// serve-idle-streams: other calls while many event streams are open.
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <stop_token>
#include <thread>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/quantile.h"
#include "bench/bars.h"
#include "bench/program.h"
#include "bench/serve/service.h"

namespace hum::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCores = 2, kStreams = 200, kCalls = 100;
constexpr double kMaxSlower = 1.2;

// A job that waits, since there is no worker. Returns its id.
std::string begin_job(const Service& service) {
  const Json request = {{"notes", Json::array({{{"start", 0}, {"end", 1}, {"pitch", 69}}})},
                        {"options", {{"preset", "violin"}}}};
  const auto answer =
      service.ask("POST", "/v1/jobs", to_text(request), {"Content-Type: application/json"});
  HUM_REQUIRE(answer.status == 202, "the job was refused: {}", answer.body);
  return parse_json(answer.body)["id"];
}

// Keeps the streams of these jobs open as long as it lives.
class OpenStreams {
 public:
  OpenStreams(const Service& service, const std::vector<std::string>& jobs) {
    for (const std::string& job : jobs) {
      threads_.emplace_back([&service, job, this](const std::stop_token& stop) {
        bool is_open = false;
        service.follow(job, stop, [&] {
          if (!is_open) ++open_;
          is_open = true;
        });
      });
    }
    const bool are_open = testing::eventually([&] { return open_ == std::ssize(jobs); });
    HUM_REQUIRE(are_open, "{} of {} streams are open", open_.load(), jobs.size());
  }
  ~OpenStreams() {
    for (auto& thread : threads_) thread.request_stop();  // all at once: each takes a while
  }
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

 private:
  std::atomic<int64_t> open_ = 0;
  std::vector<std::jthread> threads_;
};

using Times = std::map<std::string, std::vector<double>>;  // seconds, by call

void measure_calls(const Service& service, const std::string& job, int calls, Times& times) {
  const auto timed = [&](const std::string& name, const auto& call) {
    const auto start = Clock::now();
    call();
    times[name].push_back(seconds_since(start));
  };
  const auto get = [&](const std::string& path) {
    timed("GET " + path, [&] {
      const auto answer = service.ask("GET", path);
      HUM_REQUIRE(answer.status == 200, "GET {}: {}", path, answer.status);
    });
  };
  for (int i = 0; i < calls; ++i) {
    get("/health");
    get("/v1/presets");
    get("/v1/jobs");
    timed("GET /v1/jobs/ID", [&] { service.ask("GET", "/v1/jobs/" + job); });
    std::string id;
    timed("POST /v1/jobs", [&] { id = begin_job(service); });
    timed("DELETE /v1/jobs", [&] { service.ask("DELETE", "/v1/jobs/" + id); });
  }
}

}  // namespace

eval::Bar serve_idle_streams(const Scale& scale) {
  use_cores(kCores);
  const int streams = scale.smoke ? 10 : kStreams, calls = scale.smoke ? 2 : kCalls;
  Service service(0);
  service.start();
  std::vector<std::string> jobs;
  for (int i = 0; i < streams; ++i) jobs.push_back(begin_job(service));
  Times warm_up, quiet, busy;
  measure_calls(service, jobs[0], calls, warm_up);
  for (int round = 0; round < scale.rounds; ++round) {
    measure_calls(service, jobs[0], calls, quiet);
    const OpenStreams open(service, jobs);
    measure_calls(service, jobs[0], calls, busy);
  }
  double quiet_s = 0, busy_s = 0;
  eval::TextTable table({"call", "ms without streams", "ms with them", "ratio"});
  for (const auto& [name, times] : quiet) {
    const double without_s = median(times), with_s = median(busy.at(name));
    quiet_s += without_s;
    busy_s += with_s;
    table.row({name, fmt::format("{:.2f}", 1000 * without_s), fmt::format("{:.2f}", 1000 * with_s),
               fmt::format("{:.2f}", with_s / without_s)});
  }
  std::cerr << table.text();
  eval::Bar bar{.name = "serve-idle-streams",
                .value = busy_s / quiet_s,
                .unit = "x the time of other calls",
                .bar = fmt::format("{} open event streams, {} cores: six kinds of other calls take "
                                   "<= {} x their time without streams (sum of their medians)",
                                   streams, kCores, kMaxSlower)};
  bar.checks.at_most("slower", busy_s / quiet_s, kMaxSlower);
  bar.ours["calls_ms"] = 1000 * busy_s;
  bar.peer["calls_ms_without_streams"] = 1000 * quiet_s;
  return bar;
}

}  // namespace hum::bench
