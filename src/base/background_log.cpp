#include "base/background_log.h"

#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace hum {
namespace {

constexpr std::chrono::seconds kPatience{1};

// Blocks as long as the reader does. Returns errno, or 0.
int write_whole(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd output{descriptor, POLLOUT, 0};
      ::poll(&output, 1, -1);
    } else if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

int write_in_background(int descriptor, std::string text) {
  std::packaged_task<int()> task(
      [descriptor, text = std::move(text)] { return write_whole(descriptor, text); });
  std::future<int> error = task.get_future();
  std::thread(std::move(task)).detach();
  return error.wait_for(kPatience) == std::future_status::ready ? error.get() : 0;
}

// Shared with the writer, which may outlive the BackgroundLog.
struct BackgroundLog::Queue {
  class Sink;

  int descriptor;
  size_t most_lines;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines;
  int64_t dropped = 0;  // since the last line that was kept
  bool must_end = false, has_ended = false;

  Queue(int output, size_t most) : descriptor(output), most_lines(most) {}

  void add(std::string line) {
    const std::scoped_lock lock(mutex);
    if (lines.size() >= most_lines) {
      ++dropped;
      return;
    }
    tell_dropped();
    lines.push_back(std::move(line));
    changed.notify_all();
  }
  // Call it with the lock.
  void tell_dropped() {
    if (dropped > 0) {
      lines.push_back(
          fmt::format("warning: {} log lines were dropped: nobody read them\n", dropped));
    }
    dropped = 0;
  }
  void write_lines() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return !lines.empty() || must_end; });
      if (lines.empty()) break;
      const std::string line = std::move(lines.front());
      lines.pop_front();
      if (lines.empty()) tell_dropped();
      lock.unlock();
      write_whole(descriptor, line);  // what cannot be written is lost: there is nowhere to say so
      lock.lock();
    }
    has_ended = true;
    changed.notify_all();
  }
};

class BackgroundLog::Queue::Sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit Sink(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    queue_->add(std::string(text.data(), text.size()));
  }
  void flush_() override {}

 private:
  std::shared_ptr<Queue> queue_;
};

BackgroundLog::BackgroundLog(int descriptor, size_t most_lines)
    : queue_(std::make_shared<Queue>(descriptor, most_lines)),
      writer_([queue = queue_] { queue->write_lines(); }) {
  const auto sink = std::make_shared<Queue::Sink>(queue_);
  sink->set_pattern("%l: %v");
  replaced_ = std::exchange(spdlog::default_logger()->sinks(), {sink});
}

BackgroundLog::~BackgroundLog() {
  std::unique_lock lock(queue_->mutex);
  queue_->must_end = true;
  queue_->changed.notify_all();
  const bool has_ended =
      queue_->changed.wait_for(lock, kPatience, [this] { return queue_->has_ended; });
  lock.unlock();
  if (!has_ended) {
    writer_.detach();
    return;
  }
  writer_.join();
  spdlog::default_logger()->sinks() = std::move(replaced_);
}

}  // namespace hum
