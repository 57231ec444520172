// Records timed spans of the process's work. Off by default; while a recording runs, each span
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
  std::string name;  // of the program or the kernel; empty for copies
  Clock::time_point begin, end;
  int thread = 0;     // numbered in the order of appearance
  int64_t bytes = 0;  // of copies
};

// There is one recording at a time for the whole process, because the process has one plugin, whose
// kernels have no context.
void start_recording();
// Ends the recording. Returns the spans in the order in which they ended.
std::vector<Span> stop_recording();
bool recording();

void record(SpanKind kind, std::string_view name, Clock::time_point begin, Clock::time_point end,
            int64_t bytes = 0);

// A span with the lifetime of this object.
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
