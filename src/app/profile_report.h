// What a recording says of where the time went.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "monitor/spans.h"

namespace hum::app {

struct Profile {
  int exit_code = 0;  // what the work returned
  monitor::Clock::time_point begin, end;
  std::vector<monitor::Span> spans;  // those of hum's kernels included
};
Profile record_profile(const std::function<int()>& work);

// {"seconds", "programs": {name: {"runs", "seconds", "kernel_seconds", "xla_seconds"}}, "kernels":
// {name: {"calls", "seconds"}}, "compile_seconds", "load_seconds", "upload_seconds",
// "upload_bytes", "download_seconds", "download_bytes", "host_seconds"}. A program's XLA share is
// the time when none of our kernels ran: XLA's own loops, copies between them, and waiting. Host:
// when nothing ran.
Json profile_report(const std::vector<monitor::Span>& spans, monitor::Clock::time_point begin,
                    monitor::Clock::time_point end);

// The report as tables for people.
std::string profile_text(const Json& report);

// The spans in the trace event format of Chrome and Perfetto.
Json trace_events(const std::vector<monitor::Span>& spans, monitor::Clock::time_point begin);

}  // namespace hum::app
