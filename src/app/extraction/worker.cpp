#include "app/extraction/worker.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "data/shards/tar.h"

namespace hum::app {
namespace {

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

void read_reference(const std::string& location, double max_seconds, RecordingSound& sound) {
  const std::string bytes = read_recording_bytes(location);
  sound.reference = mean_of(decode_channels(bytes, max_seconds));
  sound.reference_sha256 = sha256(bytes);
}

}  // namespace

struct Worker::Batch {
  Batch(int64_t token, const data::TokenEncoder& encoder) : lease(token), pool(encoder) {}

  int64_t lease;
  CodePool pool;
  std::deque<RecordingFeatures> features;  // of the results that did not fail, in their order
  std::vector<RecordingResult> results;
};

struct Worker::ReadRecording {
  RecordingSound sound;
  std::string failure;
};

bool Worker::work() {
  if (options_.should_stop()) return false;
  const Claim claim = table_.claim(options_.batch);
  if (claim.recordings.empty()) return false;
  Heartbeat heartbeat(table_, claim.lease, options_.lease_s);
  Batch batch(claim.lease, tools_.encoder);
  bool is_held = true;
  for (const ClaimedRecording& recording : claim.recordings) {
    if (options_.should_stop()) break;
    is_held = !heartbeat.is_lost() && extract(recording, batch);
    if (!is_held) break;
  }
  if (!is_held || !list(batch)) {
    spdlog::warn(
        "another process has taken over {} recordings: this one was too slow to say that "
        "it lives; a longer --lease helps",
        claim.recordings.size());
  }
  return !options_.should_stop();
}

bool Worker::extract(const ClaimedRecording& recording, Batch& batch) {
  ReadRecording read;
  const Content content = this->read(recording, batch.lease, read);
  if (content == Content::kLeaseLost) return false;
  if (content == Content::kDuplicate) {
    options_.extracted_one(0);
    return true;
  }
  RecordingResult result{.number = recording.number, .failure = read.failure};
  if (result.failure.empty()) {
    const auto& features =
        batch.features.emplace_back(begin_features(read.sound, tools_, batch.pool));
    result.seconds = features.seconds;
    result.windows = features.windows;
  }
  options_.extracted_one(result.seconds);
  batch.results.push_back(std::move(result));
  return true;
}

Content Worker::read(const ClaimedRecording& recording, int64_t lease, ReadRecording& read) {
  std::string bytes;
  read.failure = failure_of([&] { bytes = read_recording_bytes(recording.location); });
  if (!read.failure.empty()) return Content::kNew;
  read.sound.sha256 = sha256(bytes);
  const Content content = table_.note_content(lease, recording.number, read.sound.sha256);
  if (content != Content::kNew) return content;
  read.failure =
      failure_of([&] { read.sound.channels = decode_channels(bytes, options_.max_seconds); });
  if (read.failure.empty() && !recording.reference.empty()) {
    read.failure =
        failure_of([&] { read_reference(recording.reference, options_.max_seconds, read.sound); });
    if (!read.failure.empty()) read.failure = "its mono reference: " + read.failure;
  }
  read.sound.licence = recording.licence;
  return content;
}

bool Worker::list(Batch& batch) {
  batch.pool.flush();
  data::TarWriter archive;
  int64_t items = 0;
  for (RecordingFeatures& features : batch.features) {
    add_references(features);
    for (const data::FeatureSample& sample : features.samples) data::add_features(archive, sample);
    items += std::ssize(features.samples);
  }
  std::optional<data::ShardEntry> shard;
  if (items > 0) {
    const std::string bytes = archive.finish();
    shard = shard_entry(bytes, items);
    if (!table_.announce(batch.lease, shard->name)) return false;
    store_.put(*shard, bytes);
  }
  return table_.finish(batch.lease, batch.results, shard);
}

}  // namespace hum::app
