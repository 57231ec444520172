// serve-latency: one user sends a hum of 9 s and waits, with models loaded. serve-idle: the server
// without workers, at rest.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "base/elapsed.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/quantile.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/program.h"
#include "bench/serve/service.h"

namespace hum::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCores = 2;
constexpr double kMaxNotes_s = 1.0, kMaxFirstAudio_s = 1.5, kMaxSlower = 1.5, kMaxExtra_s = 0.5;
constexpr double kMaxIdle_mb = 60, kMaxStart_s = 0.3;
constexpr std::chrono::milliseconds kPoll{10};

struct Latency {
  double notes_s = 0, first_audio_s = 0, result_s = 0;
};

// Seconds from the start of the upload.
Latency measure(const Service& service, const std::string& recording, int64_t seed) {
  const auto start = Clock::now();
  const std::string id = service.begin(recording, {{"preset", "violin"}, {"seed", seed}});
  HUM_REQUIRE(!id.empty(), "the service takes no job");
  Latency latency;
  std::jthread listener([&] {
    constexpr size_t kHeaderBytes = 44;
    size_t bytes = 0;
    service.ask("GET", "/v1/jobs/" + id + "/results/stream.wav", {}, {},
                [&](std::string_view part) {
                  bytes += part.size();
                  if (bytes > kHeaderBytes && latency.first_audio_s == 0)
                    latency.first_audio_s = seconds_since(start);
                });
  });
  while (true) {
    const auto job = service.job(id);
    HUM_REQUIRE(job.has_value(), "the service does not answer");
    if (latency.notes_s == 0 && !(*job)["notes"].is_null()) latency.notes_s = seconds_since(start);
    if (has_ended(*job)) {
      HUM_REQUIRE((*job)["status"] == "done", "the job ended: {}", to_text(*job));
      break;
    }
    std::this_thread::sleep_for(kPoll);
  }
  latency.result_s = seconds_since(start);
  listener.join();
  return latency;
}

// What `hum generate` takes for the same recording, without loading its models.
double generate_s() {
  const ScratchFolder folder;
  const Json report = parse_json(run_hum({"generate", example_recording().string(), "--preset",
                                          "violin", "-o", folder / "out.wav", "--json"})
                                     .out);
  const Json& laps = report["seconds"];
  return laps["total"].get<double>() - laps["load"].get<double>();
}

}  // namespace

eval::Bar serve_latency(const Scale& scale) {
  use_cores(kCores);
  const std::string recording = read_file(example_recording());
  std::vector<double> generate, notes, first_audio, result;
  if (!scale.smoke) generate_s();  // fills the cache
  for (int i = 0; i < scale.rounds; ++i) generate.push_back(generate_s());
  Service service(1);
  service.start();
  service.wait_until_ready();
  measure(service, recording, 0);
  for (int i = 0; i < 2 * scale.rounds; ++i) {
    const Latency one = measure(service, recording, i + 1);
    notes.push_back(one.notes_s);
    first_audio.push_back(one.first_audio_s);
    result.push_back(one.result_s);
    spdlog::info("notes {:.2f} s, first audio {:.2f} s, result {:.2f} s", one.notes_s,
                 one.first_audio_s, one.result_s);
  }
  const double limit_s = kMaxSlower * median(generate) + kMaxExtra_s;
  eval::Bar bar{.name = "serve-latency",
                .value = median(first_audio),
                .unit = "s from the upload to the first audio",
                .bar = fmt::format("a hum of 9 s, {} cores, models loaded, median: notes <= {} s, "
                                   "first audio <= {} s, result <= {} x hum generate + {} s",
                                   kCores, kMaxNotes_s, kMaxFirstAudio_s, kMaxSlower, kMaxExtra_s)};
  bar.checks.at_most("notes_s", median(notes), kMaxNotes_s);
  bar.checks.at_most("first_audio_s", median(first_audio), kMaxFirstAudio_s);
  bar.checks.at_most("result_s", median(result), limit_s);
  bar.peer["hum_generate_s"] = median(generate);
  bar.ours["slowest"] = {{"notes_s", std::ranges::max(notes)},
                         {"first_audio_s", std::ranges::max(first_audio)},
                         {"result_s", std::ranges::max(result)}};
  eval::TextTable table({"", "median s", "slowest s", "limit s"});
  const auto row = [&](const char* name, const std::vector<double>& values, double limit) {
    table.row({name, fmt::format("{:.2f}", median(values)),
               fmt::format("{:.2f}", std::ranges::max(values)), fmt::format("{:.2f}", limit)});
  };
  row("notes", notes, kMaxNotes_s);
  row("first audio", first_audio, kMaxFirstAudio_s);
  row("result", result, limit_s);
  std::cerr << table.text();
  return bar;
}

eval::Bar serve_idle(const Scale& scale) {
  use_cores(kCores);
  std::vector<double> starts, sizes;
  for (int i = 0; i < scale.rounds; ++i) {
    Service service(0);
    starts.push_back(service.start());
    HUM_REQUIRE(service.ask("GET", "/health").status == 200, "the server is not healthy");
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const int64_t bytes = testing::resident_bytes(service.process().pid());
    sizes.push_back(static_cast<double>(bytes) / 1e6);
  }
  eval::Bar bar{.name = "serve-idle",
                .value = std::ranges::max(sizes),
                .unit = "MB resident",
                .bar = fmt::format("the server process at rest < {} MB, accepts connections within "
                                   "{} s (median of {})",
                                   kMaxIdle_mb, kMaxStart_s, starts.size())};
  bar.checks.at_most("resident_mb", std::ranges::max(sizes), kMaxIdle_mb);
  bar.checks.at_most("start_s", median(starts), kMaxStart_s);
  return bar;
}

}  // namespace hum::bench
