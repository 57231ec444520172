// hum profile: runs another command and shows where its time went.
#include <iostream>

#include "app/profile_report.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/dispatch.h"

namespace hum::cli {
namespace {

struct Args {
  std::vector<std::string> command;
  std::string trace;
  std::string json;
  template <class V>
  void declare(V& v) {
    v("trace", trace, "file for all spans, for chrome://tracing or ui.perfetto.dev");
    v("json", json, "file for the report, as JSON");
    v.rest(command);
  }
};

int run(Args& args) {
  if (!args.command.empty() && args.command[0].starts_with('-')) {
    fail(ExitCode::kUsage, fmt::format("hum profile has no flag {}", args.command[0]),
         "'hum profile --help' lists its flags; those of the other command follow its name");
  }
  if (args.command.empty() || args.command[0] == "profile") {
    fail(ExitCode::kUsage, "no command to profile was given",
         "hum profile notes song.wav -o song.mid");
  }
  const auto profile = app::record_profile([&] { return dispatch(args.command); });
  const Json report = app::profile_report(profile.spans, profile.begin, profile.end);
  std::cerr << '\n' << app::profile_text(report);
  if (!args.json.empty()) write_json(args.json, report);
  if (!args.trace.empty()) write_json(args.trace, app::trace_events(profile.spans, profile.begin));
  return profile.exit_code;
}

}  // namespace

const Command kProfile = {
    "profile", "run another command and show where its time went",
    "hum profile generate examples/vocadito_10.wav --preset violin -o violin.wav",
    make_command<Args, run>};

}  // namespace hum::cli
