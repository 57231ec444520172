// Reports where the time of a recorded command went.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "monitor/spans.h"

namespace hum::app {

struct Profile {
  int exit_code = 0;  // the return value of the work
  monitor::Clock::time_point begin, end;
  std::vector<monitor::Span> spans;  // including those of hum's kernels
};
Profile record_profile(const std::function<int()>& work);

// {"seconds", "programs": {name: {"runs", "seconds", "kernel_seconds", "xla_seconds"}}, "kernels":
// {name: {"calls", "seconds"}}, "compile_seconds", "load_seconds", "upload_seconds",
// "upload_bytes", "download_seconds", "download_bytes", "host_seconds"}. xla_seconds is the time of
// a program without a running hum kernel: XLA's loops, copies between them, and waits. host_seconds
// is the time when nothing ran.
Json profile_report(const std::vector<monitor::Span>& spans, monitor::Clock::time_point begin,
                    monitor::Clock::time_point end);

// The report as text tables.
std::string profile_text(const Json& report);

// The spans in the trace event format of Chrome and Perfetto.
Json trace_events(const std::vector<monitor::Span>& spans, monitor::Clock::time_point begin);

}  // namespace hum::app
