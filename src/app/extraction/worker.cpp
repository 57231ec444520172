#include "app/extraction/worker.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/log.h"
#include "data/shards/tar.h"

namespace hum::app {
namespace {

using Clock = std::chrono::steady_clock;

// Renews a lease until it ends itself.
class Heartbeat {
 public:
  Heartbeat(RecordingTable& table, int64_t lease, double lease_s)
      : thread_([this, &table, lease, lease_s](const std::stop_token& stop) {
          const auto pause = std::chrono::duration<double>(lease_s / 4);
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
            if (!renew(table, lease)) is_lost_ = true;
          }
        }) {}

  bool is_lost() const { return is_lost_; }

 private:
  static bool renew(RecordingTable& table, int64_t lease) {
    try {
      return table.renew(lease);
    } catch (const Error& error) {
      spdlog::warn("the lease is not renewed: {}", error.message());
      return true;  // the next beat tries again, and the table decides in the end
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::atomic<bool> is_lost_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

// Why the recording is set aside, if reading it fails; else empty.
std::string failure_of(const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    return error.hint().empty() ? error.message()
                                : fmt::format("{} ({})", error.message(), error.hint());
  }
}

}  // namespace

struct Worker::Batch {
  Batch(RecordingTable& table, int64_t token, double lease_s, const data::TokenEncoder& encoder)
      : lease(token), heartbeat(table, token, lease_s), pool(encoder) {}

  // Moves what has been heard to the archive.
  void write() {
    pool.flush();
    for (RecordingFeatures& features : heard) {
      add_references(features);
      for (const auto& sample : features.samples) data::add_features(*archive, sample);
      items += std::ssize(features.samples);
    }
    heard.clear();
  }
  // Forgets all features.
  void drop() {
    pool.flush();  // into those that were heard
    heard.clear();
    archive = std::make_unique<data::TarWriter>();
    items = 0;
  }

  int64_t lease;
  Heartbeat heartbeat;
  CodePool pool;
  std::deque<RecordingFeatures> heard;
  std::unique_ptr<data::TarWriter> archive = std::make_unique<data::TarWriter>();
  int64_t items = 0;
  std::vector<RecordingResult> results;
  // A recording of several parts is alone in its batch, so that it can be given up in the middle.
  bool is_for_long_one = false;
};

bool Worker::work() {
  if (options_.should_stop()) return false;
  const Claim claim = this->claim();
  if (claim.recordings.empty()) return false;
  Batch batch(table_, claim.lease, options_.lease_s, tools_.encoder);
  bool is_held = true;
  int64_t to_read = std::ssize(claim.recordings);
  for (const ClaimedRecording& recording : claim.recordings) {
    if (options_.should_stop() || batch.is_for_long_one) break;
    metrics_.claim_holds(--to_read);
    is_held = !batch.heartbeat.is_lost() && extract(recording, batch);
    if (!is_held) break;
  }
  metrics_.claim_holds(0);
  if (!is_held || !list(batch)) {
    metrics_.lost_lease();
    spdlog::warn(
        "another process has taken over {} recordings: this one was too slow to say that "
        "it lives; a longer --lease helps",
        claim.recordings.size());
  }
  return !options_.should_stop();
}

Claim Worker::claim() {
  const auto start = Clock::now();
  Claim claim = table_.claim(options_.batch);
  metrics_.claimed(seconds_since(start));
  return claim;
}

bool Worker::extract(const ClaimedRecording& recording, Batch& batch) {
  RecordingResult result{.number = recording.number, .failure = {}};
  std::optional<RecordingParts> parts;
  result.failure = failure_of(
      [&] { parts.emplace(recording, decoders_, options_.max_seconds, options_.part_windows); });
  if (parts) {
    const Content content = table_.note_content(batch.lease, recording.number, parts->sha256());
    if (content == Content::kLeaseLost) return false;
    if (content == Content::kDuplicate) {
      metrics_.found_duplicate();
      options_.extracted_one(0);
      return true;
    }
    if (!take(*parts, batch, result)) return true;
  }
  options_.extracted_one(result.seconds);
  batch.results.push_back(std::move(result));
  return true;
}

bool Worker::take(RecordingParts& parts, Batch& batch, RecordingResult& result) {
  while (true) {
    std::optional<RecordingSound> part;
    result.failure = failure_of([&] { part = parts.next(); });
    if (!part) break;
    if (!part->is_last) batch.is_for_long_one = true;
    if (batch.is_for_long_one && !batch.results.empty()) return false;
    if (batch.is_for_long_one && (options_.should_stop() || batch.heartbeat.is_lost())) {
      batch.drop();
      return false;
    }
    const auto& features = batch.heard.emplace_back(begin_features(*part, tools_, batch.pool));
    result.seconds += features.seconds;
    result.windows.kept += features.windows.kept;
    result.windows.silent += features.windows.silent;
    result.windows.without_notes += features.windows.without_notes;
    if (batch.is_for_long_one) batch.write();
  }
  if (!result.failure.empty() && batch.is_for_long_one) {
    batch.drop();
    result.seconds = 0;
    result.windows = {};
  }
  return true;
}

bool Worker::list(Batch& batch) {
  batch.write();
  std::optional<data::ShardEntry> shard;
  if (batch.items > 0) {
    const std::string bytes = batch.archive->finish();
    shard = shard_entry(bytes, batch.items);
    if (!table_.announce(batch.lease, shard->name)) return false;
    const auto start = Clock::now();
    store_.put(*shard, bytes);
    metrics_.stored_shard(seconds_since(start), shard->bytes);
  }
  if (!table_.finish(batch.lease, batch.results, shard)) return false;
  metrics_.finished(batch.results);
  return true;
}

}  // namespace hum::app
