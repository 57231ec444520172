// Event streams of jobs: watches the records and pushes each new state of a job to those who follow
// it, also when only its place in the queue has changed. A state is the whole job, so that nobody
// needs the states before it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "serve/http/events.h"
#include "serve/storage/records.h"

namespace hum::serve {

class JobEvents {
 public:
  // `records`: not the object that the API uses, since it must see the API's changes. `show`: the
  // job as clients see it. Both must outlive this object.
  JobEvents(Records& records, std::function<Json(const Job&, int64_t position)> show);
  // Ends all streams.
  ~JobEvents();
  JobEvents(const JobEvents&) = delete;
  JobEvents& operator=(const JobEvents&) = delete;

  // The stream of a job, which begins with its present state and ends with its last.
  std::shared_ptr<EventStream> follow(const Job& job);
  // Notifies when any job may have changed.
  std::shared_ptr<Signal> changes() const { return changes_; }
  int64_t followed() const;

 private:
  struct Followed {
    std::shared_ptr<EventStream> stream;
    int64_t version = 0, position = 0;
    std::chrono::steady_clock::time_point used;
  };

  void watch(const std::stop_token& stop);
  void update_all();
  void forget_unused();
  // What the listeners of the open streams have.
  std::map<std::string, JobState> shown() const;
  void push(Followed& followed, const Job& job, int64_t position);
  // In the queue; 0 if it is not there.
  int64_t position_of(const Job& job);

  Records& records_;
  std::function<Json(const Job&, int64_t position)> show_;
  std::shared_ptr<Signal> changes_ = std::make_shared<Signal>();
  mutable std::mutex mutex_;
  std::map<std::string, Followed> streams_;
  std::atomic<bool> is_stale_ = false;  // a stream may lack the last state
  std::jthread watcher_;                // last: it uses the others
};

}  // namespace hum::serve
