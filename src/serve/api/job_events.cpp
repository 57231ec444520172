#include "serve/api/job_events.h"

#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace hum::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWait{100};
// A state replaces those before it.
constexpr size_t kKeptStates = 1;
// A stream without listeners is kept this long: one of them may only be reconnecting.
constexpr std::chrono::seconds kKeepUnused{10};

Event event_of(const std::string& id, const Json& data) { return {id, "job", to_text(data)}; }

}  // namespace

JobEvents::JobEvents(Records& records, std::function<Json(const Job&, int64_t position)> show)
    : records_(records), show_(std::move(show)) {
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

JobEvents::~JobEvents() {
  watcher_.request_stop();
  if (watcher_.joinable()) watcher_.join();
  for (auto& [unused, followed] : streams_) followed.stream->close();
}

int64_t JobEvents::position_of(const Job& job) {
  return job.status == Status::kQueued ? records_.position(job) : 0;
}

std::shared_ptr<EventStream> JobEvents::follow(const Job& job) {
  const int64_t position = position_of(job);
  const std::scoped_lock lock(mutex_);
  Followed& followed = streams_[job.request.id];
  if (!followed.stream) followed.stream = std::make_shared<EventStream>(kKeptStates);
  followed.used = Clock::now();
  push(followed, job, position);
  is_stale_ = true;  // it may have changed since the caller read it
  return followed.stream;
}

int64_t JobEvents::followed() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int64_t>(streams_.size());
}

void JobEvents::push(Followed& followed, const Job& job, int64_t position) {
  const bool is_new = job.version > followed.version;
  const bool has_moved = job.version == followed.version && position != followed.position;
  if ((!is_new && !has_moved) || followed.stream->is_closed()) return;
  followed.version = job.version;
  followed.position = position;
  const std::string id =
      is_new ? std::to_string(job.version) : fmt::format("{}-{}", job.version, position);
  followed.stream->push(event_of(id, show_(job, position)));
  if (is_final(job.status)) followed.stream->close();
}

void JobEvents::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (records_.wait_for_change(kWait)) {
        changes_->notify();
        is_stale_ = true;
      }
      if (is_stale_.exchange(false)) update_all();
      forget_unused();
    } catch (const Error& error) {
      is_stale_ = true;
      spdlog::error("event streams: {}", error.message());
      std::this_thread::sleep_for(kWait);
    }
  }
}

void JobEvents::forget_unused() {
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  for (auto& [unused, followed] : streams_) {
    if (followed.stream->listeners() > 0) followed.used = now;
  }
  std::erase_if(streams_, [&](const auto& entry) { return now - entry.second.used > kKeepUnused; });
}

std::map<std::string, JobState> JobEvents::shown() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, JobState> states;
  for (const auto& [id, followed] : streams_) {
    if (!followed.stream->is_closed()) states[id] = {followed.version, followed.position};
  }
  return states;
}

void JobEvents::update_all() {
  const auto before = shown();
  std::vector<std::string> ids;
  for (const auto& [id, unused] : before) ids.push_back(id);
  const auto states = records_.states(ids);
  for (const auto& [id, old] : before) {
    const auto state = states.find(id);
    const bool exists = state != states.end();
    if (exists && state->second == old) continue;
    // Most jobs have not changed, so that only a few are read whole.
    const auto job = exists ? records_.any_job(id) : std::nullopt;
    const std::scoped_lock lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) continue;
    Followed& followed = found->second;
    if (job) {
      push(followed, *job, job->status == Status::kQueued ? state->second.position : 0);
    } else if (!followed.stream->is_closed()) {  // somebody has removed it
      followed.stream->push(event_of(std::to_string(followed.version + 1),
                                     {{"id", id}, {"status", to_name(Status::kCancelled)}}));
      followed.stream->close();
    }
  }
}

}  // namespace hum::serve
