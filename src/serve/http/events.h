// What responses wait for: a signal that something has changed, and streams of server-sent events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hum::serve {

// Wakes those who wait for a change. Any thread may call any function.
class Signal {
 public:
  // Ends the subscription when destroyed. The callback may still run once in another thread.
  using Subscription = std::shared_ptr<std::function<void()>>;

  void notify();
  // The callback runs in the thread that notifies; it must be short and must not throw.
  [[nodiscard]] Subscription subscribe(std::function<void()> callback);
  int subscribers() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<std::function<void()>>> callbacks_;
};

struct Event {
  std::string id;     // without line ends
  std::string event;  // without line ends; "" for the default, "message"
  std::string data;   // may have several lines
};

// Server-sent events: a short log that any number of responses send, each at its own pace. Any
// thread may call any function. A response ends after close(); its browser then connects again,
// unless the page has closed its EventSource.
class EventStream {
 public:
  // keep: how many events stay for those who come later or are slow. 1 suits events that each
  // replace the one before.
  explicit EventStream(size_t keep = 256) : keep_(keep) {}

  void push(const Event& event);
  // The responses end when they have sent everything.
  void close();
  bool is_closed() const;
  // Responses that are sending.
  int listeners() const { return signal_.subscribers(); }

  // For the server. Where a response starts: after the event with this id, else at the oldest kept.
  int64_t position_after(std::string_view id) const;
  struct Batch {
    std::string frames;  // "id: 3\nevent: progress\ndata: {}\n\n", several
    int64_t next = 0;    // where to read on
    bool end = false;    // closed, and nothing more to send
  };
  // Skips what is no longer kept.
  Batch read(int64_t position, size_t most_bytes) const;
  Signal& signal() { return signal_; }

 private:
  mutable std::mutex mutex_;
  size_t keep_;
  bool closed_ = false;
  int64_t first_ = 0;                                       // position of frames_.front()
  std::deque<std::pair<std::string, std::string>> frames_;  // id, frame
  Signal signal_;
};

}  // namespace hum::serve
