// Timed spans: what the process did from when to when. Off until somebody records; then each span
// costs two clock readings and a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hum::monitor {

using Clock = std::chrono::steady_clock;

enum class SpanKind { kProgram, kKernel, kCompile, kLoad, kTrace, kUpload, kDownload };

struct Span {
  SpanKind kind;
  std::string name;  // of the program, of the kernel; empty for copies
  Clock::time_point begin, end;
  int thread = 0;     // numbered in the order of appearance
  int64_t bytes = 0;  // of copies
};

// One recording at a time. The process has one plugin, whose kernels come without context, so the
// recording is the process's too.
void start_recording();
// Ends it. The spans in the order in which they ended.
std::vector<Span> stop_recording();
bool recording();

void record(SpanKind kind, std::string_view name, Clock::time_point begin, Clock::time_point end,
            int64_t bytes = 0);

// A span that lasts as long as the object.
class Timed {
 public:
  Timed(SpanKind kind, std::string_view name, int64_t bytes = 0)
      : kind_(kind), name_(name), bytes_(bytes), on_(recording()) {
    if (on_) begin_ = Clock::now();
  }
  ~Timed() {
    if (on_) record(kind_, name_, begin_, Clock::now(), bytes_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  SpanKind kind_;
  std::string_view name_;
  int64_t bytes_;
  bool on_;
  Clock::time_point begin_;
};

// Seconds during which at least one of the spans ran, cut to [begin, end].
double covered_seconds(const std::vector<const Span*>& spans, Clock::time_point begin,
                       Clock::time_point end);

}  // namespace hum::monitor
