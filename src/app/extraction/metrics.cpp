#include "app/extraction/metrics.h"

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using monitor::Exposition;

constexpr const char* kExtension = ".prom";  // node_exporter reads no others

}  // namespace

void ExtractionMetrics::claimed(double seconds) {
  const std::lock_guard lock(mutex_);
  claims_.add(seconds);
}

void ExtractionMetrics::claim_holds(int64_t recordings) {
  const std::lock_guard lock(mutex_);
  to_read_ = recordings;
}

void ExtractionMetrics::found_duplicate() {
  const std::lock_guard lock(mutex_);
  ++duplicates_;
}

void ExtractionMetrics::stored_shard(double seconds, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  stores_.add(seconds);
  ++shards_;
  stored_bytes_ += bytes;
}

void ExtractionMetrics::finished(std::span<const RecordingResult> results) {
  const std::lock_guard lock(mutex_);
  for (const RecordingResult& result : results) {
    ++(result.failure.empty() ? done_ : failed_);
    if (!result.failure.empty()) continue;
    sound_s_ += result.seconds;
    windows_.kept += result.windows.kept;
    windows_.silent += result.windows.silent;
    windows_.without_notes += result.windows.without_notes;
  }
}

void ExtractionMetrics::lost_lease() {
  const std::lock_guard lock(mutex_);
  ++lost_leases_;
}

void ExtractionMetrics::repeated_request() {
  const std::lock_guard lock(mutex_);
  ++repeated_requests_;
}

void ExtractionMetrics::table_holds(const TableCounts& counts) {
  const std::lock_guard lock(mutex_);
  table_ = counts;
}

std::string ExtractionMetrics::text(const std::string& worker) const {
  const std::string label = fmt::format("worker=\"{}\"", monitor::plain_label(worker));
  const std::lock_guard lock(mutex_);
  Exposition text;
  add_table(text, label);
  add_work(text, label);
  return std::move(text).take();
}

// The mutex must be held, as for add_work().
void ExtractionMetrics::add_table(Exposition& text, const std::string& worker) const {
  text.family("hum_extract_table_recordings", "gauge",
              "Recordings of the job by state, of all workers.");
  const auto add = [&](const char* state, int64_t count) {
    text.value(fmt::format("{},state=\"{}\"", worker, state), count);
  };
  add("waiting", table_.waiting);
  add("claimed", table_.claimed);
  add("done", table_.done);
  add("failed", table_.failed);
  add("duplicate", table_.duplicate);
}

void ExtractionMetrics::add_work(Exposition& text, const std::string& worker) const {
  const auto add = [&](const char* outcome, int64_t count) {
    text.value(fmt::format("{},outcome=\"{}\"", worker, outcome), count);
  };
  text.family("hum_extract_recordings_total", "counter", "Recordings that ended here by outcome.");
  add("done", done_);
  add("failed", failed_);
  add("duplicate", duplicates_);
  text.family("hum_extract_windows_total", "counter", "Windows of 6 s by outcome.");
  add("kept", windows_.kept);
  add("silent", windows_.silent);
  add("without_notes", windows_.without_notes);
  text.family("hum_extract_sound_seconds_total", "counter", "Length of the recordings done here.");
  text.value(worker, sound_s_);
  text.family("hum_extract_claimed_recordings", "gauge", "Recordings claimed here, not yet read.");
  text.value(worker, to_read_);
  text.family("hum_extract_claim_seconds", "histogram",
              "Time that the database takes for a claim.");
  text.value(worker, claims_);
  text.family("hum_extract_store_seconds", "histogram", "Time to store and verify a shard.");
  text.value(worker, stores_);
  text.family("hum_extract_shards_total", "counter", "Shards stored.");
  text.value(worker, shards_);
  text.family("hum_extract_stored_bytes_total", "counter", "Bytes of the shards stored.");
  text.value(worker, stored_bytes_);
  text.family("hum_extract_repeated_requests_total", "counter",
              "Failed requests to the S3 server that were sent again.");
  text.value(worker, repeated_requests_);
  text.family("hum_extract_lost_leases_total", "counter", "Claims that others took over.");
  text.value(worker, lost_leases_);
}

MetricsFile::MetricsFile(fs::path path, const ExtractionMetrics& metrics,
                         std::chrono::milliseconds pause)
    : path_(std::move(path)), metrics_(metrics) {
  if (path_.extension() != kExtension) {
    fail(ExitCode::kUsage, fmt::format("--metrics-file {}: does not end in .prom", path_.string()),
         "node_exporter reads only files NAME.prom");
  }
  write();
  thread_ = std::jthread([this, pause](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
      try_to_write();
    }
    try_to_write();
  });
}

void MetricsFile::write() const {
  // An unfinished file has another ending, so that node_exporter does not read it.
  fs::path unfinished = path_;
  unfinished += ".new";
  write_file(unfinished, metrics_.text(path_.stem().string()));
  std::error_code error;
  fs::rename(unfinished, path_, error);
  if (!error) return;
  fs::remove(unfinished);
  fail(ExitCode::kCannotCreate, fmt::format("{}: {}", path_.string(), error.message()),
       "name a file in a folder that this process may write to");
}

void MetricsFile::try_to_write() const {
  try {
    write();
  } catch (const std::exception& error) {
    warn_once("metrics", fmt::format("the metrics are not written: {}", error.what()));
  }
}

}  // namespace hum::app
