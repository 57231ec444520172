// Figures of an extraction for Prometheus: what this worker has done, and what its table still
// holds. They are written to a file for node_exporter's textfile collector, because a worker is a
// batch job, perhaps one of many on a host, and has no address to scrape. No names of recordings.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "app/extraction/recording_table.h"
#include "monitor/exposition.h"

namespace hum::app {

// Thread-safe.
class ExtractionMetrics {
 public:
  // A claim took so long.
  void claimed(double seconds);
  // So many recordings of the claim are still to be read.
  void claim_holds(int64_t recordings);
  void found_duplicate();
  void stored_shard(double seconds, int64_t bytes);
  // What the table has accepted.
  void finished(std::span<const RecordingResult> results);
  void lost_lease();
  // A request to the shards' server that failed is sent again.
  void repeated_request();
  // What the table holds of all workers.
  void table_holds(const TableCounts& counts);

  // The label `worker` of all figures is this name.
  std::string text(const std::string& worker) const;

 private:
  void add_work(monitor::Exposition& text, const std::string& worker) const;
  void add_table(monitor::Exposition& text, const std::string& worker) const;

  mutable std::mutex mutex_;  // guards all below
  TableCounts table_;
  int64_t to_read_ = 0;
  int64_t done_ = 0, failed_ = 0, duplicates_ = 0;
  WindowCounts windows_;
  double sound_s_ = 0;
  int64_t shards_ = 0, stored_bytes_ = 0, lost_leases_ = 0, repeated_requests_ = 0;
  static constexpr double kClaimEnds_s[] = {0.001, 0.005, 0.025, 0.1, 0.5, 2, 10};
  static constexpr double kStoreEnds_s[] = {0.01, 0.05, 0.25, 1, 5, 20, 60};
  monitor::Durations claims_{kClaimEnds_s}, stores_{kStoreEnds_s};
};

// Writes the figures when it begins, every `pause`, and at its end. The file is replaced as a
// whole.
class MetricsFile {
 public:
  // NAME.prom; the worker is NAME. `metrics` must outlive it. Throws: kUsage for another ending,
  // kCannotCreate if it cannot be written. If that fails later, a warning says so.
  MetricsFile(std::filesystem::path path, const ExtractionMetrics& metrics,
              std::chrono::milliseconds pause = std::chrono::seconds(10));

 private:
  void write() const;
  void try_to_write() const;

  std::filesystem::path path_;
  const ExtractionMetrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace hum::app
