#include "serve/http/events.h"

#include <algorithm>

#include "base/error.h"

namespace hum::serve {
namespace {

// Adds "name: value" for each line of the value.
void add_lines(std::string& frame, std::string_view name, std::string_view value) {
  for (;;) {
    const size_t end = value.find_first_of("\r\n");
    frame.append(name).append(": ").append(value.substr(0, end)).append("\n");
    if (end == value.npos) return;
    value.remove_prefix(end + (value.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

}  // namespace

void Signal::notify() {
  std::vector<Subscription> live;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& callback : callbacks_) {
      if (auto subscription = callback.lock()) live.push_back(std::move(subscription));
    }
  }
  for (const Subscription& callback : live) (*callback)();
}

Signal::Subscription Signal::subscribe(std::function<void()> callback) {
  auto subscription = std::make_shared<std::function<void()>>(std::move(callback));
  const std::lock_guard lock(mutex_);
  std::erase_if(callbacks_, [](const auto& other) { return other.expired(); });
  callbacks_.push_back(subscription);
  return subscription;
}

int Signal::subscribers() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(
      std::ranges::count_if(callbacks_, [](const auto& callback) { return !callback.expired(); }));
}

void EventStream::push(const Event& event) {
  HUM_CHECK(is_one_line(event.id) && is_one_line(event.event),
            "an event's id and name are single lines");
  std::string frame;
  if (!event.id.empty()) add_lines(frame, "id", event.id);
  if (!event.event.empty()) add_lines(frame, "event", event.event);
  add_lines(frame, "data", event.data);
  frame += '\n';
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    frames_.emplace_back(event.id, std::move(frame));
    if (frames_.size() > keep_) {
      frames_.pop_front();
      ++first_;
    }
  }
  signal_.notify();
}

void EventStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  signal_.notify();
}

bool EventStream::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

int64_t EventStream::position_after(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  if (id.empty()) return first_;
  for (size_t i = frames_.size(); i > 0; --i) {
    if (frames_[i - 1].first == id) return first_ + static_cast<int64_t>(i);
  }
  return first_;
}

EventStream::Batch EventStream::read(int64_t position, size_t most_bytes) const {
  const std::lock_guard lock(mutex_);
  Batch batch{.frames = {}, .next = std::max(position, first_), .end = false};
  const int64_t end = first_ + static_cast<int64_t>(frames_.size());
  for (; batch.next < end; ++batch.next) {
    const std::string& frame = frames_[static_cast<size_t>(batch.next - first_)].second;
    if (!batch.frames.empty() && batch.frames.size() + frame.size() > most_bytes) break;
    batch.frames += frame;
  }
  batch.end = closed_ && batch.next >= end;
  return batch;
}

}  // namespace hum::serve
