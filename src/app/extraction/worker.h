// One process's part of an extraction: claims recordings, makes their features and lists the shard
// that holds them. What it does before the last step, RecordingTable::finish, nobody can see, so it
// may be killed at any moment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/extraction/features.h"
#include "app/extraction/metrics.h"
#include "app/extraction/recording_parts.h"
#include "app/extraction/recording_table.h"
#include "app/extraction/shard_store.h"

namespace hum::app {

struct WorkerOptions {
  int64_t batch = 8;  // recordings of a claim, and of a shard
  double max_seconds = kLongestRecording_s;
  int64_t part_windows = kPartWindows;  // of recordings that are longer
  double lease_s = 30;
  // Called before each recording, and after each part of a long one.
  std::function<bool()> should_stop = [] { return false; };
  // Called after each recording that was read, with its seconds; 0 for one that is set aside.
  std::function<void(double seconds)> extracted_one = [](double) {};
};

class Worker {
 public:
  // All arguments must outlive it. Throws: what decode::Decoders throws.
  Worker(RecordingTable& table, ShardStore& store, const FeatureTools& tools,
         ExtractionMetrics& metrics, WorkerOptions options)
      : table_(table),
        store_(store),
        tools_(tools),
        metrics_(metrics),
        options_(std::move(options)) {}

  // Works on one claim. False: nothing waits, or it was told to stop. Recordings that cannot be
  // read are set aside. Throws: what the table, the store and the models throw.
  bool work();

 private:
  struct Batch;
  Claim claim();
  // False: the lease is lost.
  bool extract(const ClaimedRecording& recording, Batch& batch);
  // Adds the recording's features to the batch. False: they are left for another batch.
  bool take(RecordingParts& parts, Batch& batch, RecordingResult& result);
  bool list(Batch& batch);

  RecordingTable& table_;
  ShardStore& store_;
  const FeatureTools& tools_;
  ExtractionMetrics& metrics_;
  WorkerOptions options_;
  decode::Decoders decoders_{decoding_limits()};
};

}  // namespace hum::app
