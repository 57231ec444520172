// hum client: has a job done by a `hum serve`.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands/commands.h"
#include "cli/commands/conversion_flags.h"
#include "serve/client/remote_job.h"

namespace hum::cli {
namespace {

struct Args {
  serve::ClientOptions options;
  bool json = false;

  template <class V>
  void declare(V& v) {
    v.positional(
        "recording", options.recording,
        "a recording of a hummed or sung melody, or a song to separate or remix: wav, flac, ogg, "
        "mp3, webm or m4a");
    v.short_flag('o', "output", options.output,
                 "sound (.wav, .flac, .ogg, .mp3), melody (.mid, .csv, .json) or .zip to write; or "
                 "a folder for all results");
    options.visit_fields(v);
    v("stream", options.stream, "write a wav to stdout while the server makes it");
    v("json", json, "print the job as JSON, with its notes");
    group_conversion_flags(v);
    v.group("Server", {"server", "server_key", "server_ca"});
    v.group("Loops and backing", {"loop", "beats", "backing", "gain", "style"});
    v.group("Songs", {"stem", "keep", "stems"});
  }
};

// How far a job is: "play 62 %, 3.1s left".
std::string state_text(const Json& job) {
  const std::string status = job.value("status", "");
  if (status == "sending") return "sending the recording";
  if (status == "queued") {
    const int64_t position = job.value("position", int64_t{1});
    return position > 1 ? fmt::format("waiting, {} jobs before", position - 1) : "waiting";
  }
  if (status == "busy" || status == "lost") {
    const bool is_lost = status == "lost";
    return fmt::format("{}{}; tries again {} {}", job.value("detail", ""),
                       job.contains("id") ? "; the job is kept" : "", is_lost ? "for" : "in",
                       format_duration(job.value(is_lost ? "patience_s" : "pause_s", 0.0)));
  }
  if (status != "running") return status;
  const std::string text =
      fmt::format("{} {:.0f} %", job.value("stage", ""), 100 * job.value("progress", 0.0));
  const auto left = job.find("seconds_left");
  if (left == job.end() || !left->is_number()) return text;
  return text + ", " + format_duration(left->get<double>()) + " left";
}

// One line on a terminal, redrawn in place; elsewhere one line for each status and stage.
class StateLine {
 public:
  StateLine() : is_terminal_(isatty(STDERR_FILENO) == 1) {}
  ~StateLine() {
    if (is_drawn_ && is_terminal_) std::fputs("\r\033[K", stderr);
  }
  StateLine(const StateLine&) = delete;
  StateLine& operator=(const StateLine&) = delete;

  void show(const Json& job) {
    if (!spdlog::should_log(spdlog::level::info)) return;
    const std::string stage = job.value("status", "") + job.value("stage", "");
    if (!is_terminal_ && stage == stage_) return;
    stage_ = stage;
    std::fprintf(stderr, is_terminal_ ? "\r\033[K%s" : "%s\n", state_text(job).c_str());
    std::fflush(stderr);
    is_drawn_ = true;
  }

 private:
  bool is_terminal_, is_drawn_ = false;
  std::string stage_;
};

int run(Args& args) {
  require_one_on_stdout("--stream", args.options.stream, args.json);
  if (args.options.output.empty() && !args.options.stream && !args.json) {
    fail(ExitCode::kUsage, "hum client needs a place for the results",
         "-o violin.wav, -o FOLDER, --stream, or --json");
  }
  Json job;
  {
    StateLine line;
    job = serve::run_remote_job(args.options, [&](const Json& state) { line.show(state); });
  }
  if (args.json) {
    print_json(job);
    return 0;
  }
  for (const Json& file : job["files"]) {
    (args.options.stream ? std::cerr : std::cout) << file.get<std::string>() << '\n';
  }
  return 0;
}

}  // namespace

const Command kClient = {
    "client", "have a hum serve turn a hum into an instrument",
    "hum client hum.wav --server http://127.0.0.1:8417 --preset violin -o violin.wav",
    make_command<Args, run>};

}  // namespace hum::cli
