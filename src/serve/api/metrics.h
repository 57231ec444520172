// What Prometheus may know: requests, jobs, workers. No ids, names of files, notes or callers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "monitor/exposition.h"
#include "serve/http/server.h"
#include "serve/storage/records.h"

namespace hum::serve {

class Metrics {
 public:
  // Counts a request that has ended. Thread-safe, as is text().
  void count(const Exchange& exchange);

  struct State {
    Counts counts;
    std::vector<WorkerInfo> workers;
    int64_t connections = 0, followed_jobs = 0;
  };
  // In Prometheus's text format, version 0.0.4.
  std::string text(const State& state) const;

 private:
  // The upper ends of buckets.
  static constexpr std::array kBuckets_s = {0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0};

  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, std::string, int>, int64_t> requests_;  // method, route, status
  std::map<std::string, monitor::Durations> durations_;                    // by route
  int64_t received_bytes_ = 0, sent_bytes_ = 0;
};

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace hum::serve
