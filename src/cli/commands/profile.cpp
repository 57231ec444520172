// hum profile: runs another command and says where its time went.
#include <algorithm>
#include <iostream>

#include "app/profile_report.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/dispatch.h"
#include "kernels/table.h"
#include "pjrt/ffi.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> command;
  std::string trace;
  std::string json;
  template <class V>
  void declare(V& v) {
    v("trace", trace, "also write every span here, for chrome://tracing or ui.perfetto.dev");
    v("json", json, "also write the report here, as JSON");
    v.rest(command);
  }
};

void record_kernel(XLA_FFI_Handler* kernel, monitor::Clock::time_point begin,
                   monitor::Clock::time_point end) {
  static const auto kRows = kernels::table();
  const auto row = std::ranges::find(kRows, kernel, &pjrt::KernelRow::handler);
  monitor::record(monitor::SpanKind::kKernel, row == kRows.end() ? "(unknown)" : row->name, begin,
                  end);
}

int run(Args& args) {
  if (args.command.empty() || args.command[0] == "profile") {
    fail(ExitCode::kUsage, "name a command to profile", "hum profile notes song.wav -o song.mid");
  }
  const auto begin = monitor::Clock::now();
  monitor::start_recording();
  pjrt::ffi::observe_kernels(record_kernel);
  const int code = dispatch(args.command);
  pjrt::ffi::observe_kernels(nullptr);
  const auto spans = monitor::stop_recording();
  const Json report = app::profile_report(spans, begin, monitor::Clock::now());
  std::cerr << '\n' << app::profile_text(report);
  if (!args.json.empty()) write_json(args.json, report);
  if (!args.trace.empty()) write_json(args.trace, app::trace_events(spans, begin));
  return code;
}

}  // namespace

const Command kProfile = {
    "profile", "run another command and show where its time went",
    "hum profile generate examples/vocadito_10.wav --preset violin -o violin.wav",
    make_command<Args, run>};

}  // namespace hum::cli
