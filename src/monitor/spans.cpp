#include "monitor/spans.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace hum::monitor {
namespace {

struct Recording {
  std::atomic<bool> on = false;
  std::mutex mutex;
  std::vector<Span> spans;
  std::vector<std::thread::id> threads;
};
Recording& the_recording() {
  static auto* recording = new Recording();  // the plugin's threads may outlive main
  return *recording;
}

}  // namespace

void start_recording() {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  HUM_REQUIRE(!recording.on, "spans: a recording is already running");
  recording.spans.clear();
  recording.threads.clear();
  recording.on = true;
}

std::vector<Span> stop_recording() {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  recording.on = false;
  return std::move(recording.spans);
}

bool recording() { return the_recording().on.load(std::memory_order_relaxed); }

void record(SpanKind kind, std::string_view name, Clock::time_point begin, Clock::time_point end,
            int64_t bytes) {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  if (!recording.on) return;
  auto& threads = recording.threads;
  const auto id = std::this_thread::get_id();
  const auto found = std::ranges::find(threads, id);
  const auto number = static_cast<int>(found - threads.begin());
  if (found == threads.end()) threads.push_back(id);
  recording.spans.push_back({kind, std::string(name), begin, end, number, bytes});
}

double covered_seconds(const std::vector<const Span*>& spans, Clock::time_point begin,
                       Clock::time_point end) {
  std::vector<std::pair<Clock::time_point, Clock::time_point>> parts;
  for (const Span* span : spans) {
    const auto from = std::max(span->begin, begin), to = std::min(span->end, end);
    if (from < to) parts.emplace_back(from, to);
  }
  std::ranges::sort(parts);
  std::chrono::duration<double> covered{0};
  auto done = begin;
  for (const auto& [from, to] : parts) {
    if (to <= done) continue;
    covered += to - std::max(from, done);
    done = to;
  }
  return covered.count();
}

}  // namespace hum::monitor
