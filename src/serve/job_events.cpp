#include "serve/job_events.h"

#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace hum::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWait{100};
// A state replaces those before it, so that who falls behind misses nothing by reconnecting.
constexpr size_t kKeptStates = 16;
// A stream without listeners is kept this long: one of them may only be reconnecting.
constexpr std::chrono::seconds kKeepUnused{10};

Event event_of(int64_t version, const Json& data) {
  return {std::to_string(version), "job", to_text(data)};
}

}  // namespace

JobEvents::JobEvents(Records& records, std::function<Json(const Job&)> show)
    : records_(records), show_(std::move(show)) {
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

JobEvents::~JobEvents() {
  watcher_.request_stop();
  if (watcher_.joinable()) watcher_.join();
  for (auto& [unused, followed] : streams_) followed.stream->close();
}

std::shared_ptr<EventStream> JobEvents::follow(const Job& job) {
  const std::scoped_lock lock(mutex_);
  Followed& followed = streams_[job.request.id];
  if (!followed.stream) followed.stream = std::make_shared<EventStream>(kKeptStates);
  followed.used = Clock::now();
  push(followed, job);
  return followed.stream;
}

int64_t JobEvents::followed() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int64_t>(streams_.size());
}

void JobEvents::push(Followed& followed, const Job& job) {
  if (job.version <= followed.version || followed.stream->is_closed()) return;
  followed.version = job.version;
  followed.stream->push(event_of(job.version, show_(job)));
  if (is_final(job.status)) followed.stream->close();
}

void JobEvents::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (records_.wait_for_change(kWait)) changes_->notify();
      update_all();
    } catch (const Error& error) {
      spdlog::error("event streams: {}", error.message());
      std::this_thread::sleep_for(kWait);
    }
  }
}

void JobEvents::update_all() {
  std::vector<std::string> ids;
  {
    const std::scoped_lock lock(mutex_);
    for (auto at = streams_.begin(); at != streams_.end();) {
      Followed& followed = at->second;
      if (followed.stream->listeners() > 0) followed.used = Clock::now();
      const bool is_unused = Clock::now() - followed.used > kKeepUnused;
      if (!followed.stream->is_closed()) ids.push_back(at->first);
      at = is_unused ? streams_.erase(at) : std::next(at);
    }
  }
  for (const std::string& id : ids) {
    const auto job = records_.any_job(id);
    const std::scoped_lock lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) continue;
    Followed& followed = found->second;
    if (job) {
      push(followed, *job);
    } else if (!followed.stream->is_closed()) {  // somebody has removed it
      followed.stream->push(
          event_of(followed.version + 1, {{"id", id}, {"status", to_name(Status::kCancelled)}}));
      followed.stream->close();
    }
  }
}

}  // namespace hum::serve
