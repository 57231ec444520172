// generate-speed: seconds of sound per second, for 1, 8 and 32 recordings per call, and the cost of
// an hour of sound. generate-stream: time until a listener hears the first sample. Limited to two
// cores, with a warm compile cache.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "base/elapsed.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/locations.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kCores = 2;
constexpr double kMaxFirst_s = 0.6;
constexpr double kLeastSpeed = 8;  // seconds of sound per second
// Assumed price of two cores.
constexpr double kMachine_usd_per_hour = 0.10;

struct Speed {
  double audio_s = 0, wall_s = 0;  // of the whole call
  double work_s = 0;               // melody and sound only
};

Speed generate_many(const ScratchFolder& folder, int recordings,
                    const std::vector<std::string>& flags) {
  const fs::path in = folder / ("in" + std::to_string(recordings));
  fs::create_directories(in);
  for (int i = 0; i < recordings; ++i) {
    const fs::path copy = in / (std::to_string(i) + ".wav");
    if (!fs::exists(copy)) fs::copy_file(example_recording(), copy);
  }
  std::vector<std::string> command = {"generate", in.string(),     "--preset", "violin",
                                      "-o",       folder / "out/", "--json"};
  command.insert(command.end(), flags.begin(), flags.end());
  const ProgramRun run = run_hum(command);
  Speed speed{.wall_s = run.seconds};
  const Json parsed = parse_json(run.out);
  const Json reports = parsed.is_array() ? parsed : Json::array({parsed});
  for (const Json& report : reports) {
    speed.audio_s += report["audio_seconds"].get<double>();
    const Json& laps = report["seconds"];
    speed.work_s += laps["melody"].get<double>() + laps["generate"].get<double>();
  }
  return speed;
}

// Seconds from the start of the program to its first sample, as the reader of the pipe sees it.
double first_sound_s(const std::vector<std::string>& flags) {
  std::string command = std::string("'") + kHumProgram + "' generate '" +
                        example_recording().string() + "' --preset violin --stream";
  for (const auto& flag : flags) command += " " + flag;
  const auto start = std::chrono::steady_clock::now();
  std::FILE* pipe = popen(command.c_str(), "r");
  HUM_REQUIRE(pipe != nullptr, "cannot run {}", command);
  constexpr size_t kHeader = 44;
  char bytes[kHeader + 2];
  const size_t read = std::fread(bytes, 1, sizeof bytes, pipe);
  const double seconds = seconds_since(start);
  char rest[4096];
  while (std::fread(rest, 1, sizeof rest, pipe) > 0) {
  }
  HUM_REQUIRE(pclose(pipe) == 0 && read == sizeof bytes, "{} failed", command);
  return seconds;
}

}  // namespace

eval::Bar generate_speed(const Scale& scale) {
  use_cores(kCores);
  const ScratchFolder folder;
  eval::Bar bar{.name = "generate-speed",
                .unit = "s of sound per second, one recording per call",
                .bar = fmt::format(">= {} x real time with one recording per call, on {} cores",
                                   kLeastSpeed, kCores)};
  eval::TextTable table({"recordings", "flags", "audio s", "wall s", "real-time factor"});
  const std::vector<int> counts = scale.smoke ? std::vector<int>{1} : std::vector<int>{1, 8, 32};
  if (!scale.smoke) {  // fills the cache
    generate_many(folder, 1, {});
    generate_many(folder, 1, {"--lm"});
  }
  for (const auto& flags : {std::vector<std::string>{}, {"--lm"}}) {
    const std::string kind = flags.empty() ? "default" : "lm";
    for (const int recordings : counts) {
      spdlog::info("hum generate: {} recordings, {}", recordings, kind);
      const Speed speed = generate_many(folder, recordings, flags);
      Json& row = bar.ours[fmt::format("{} {}", kind, recordings)];
      row = {{"audio_s_per_s", speed.audio_s / speed.wall_s},
             {"real_time_factor", speed.wall_s / speed.audio_s},
             {"real_time_factor_without_loading", speed.work_s / speed.audio_s}};
      table.row({std::to_string(recordings), kind, fmt::format("{:.1f}", speed.audio_s),
                 fmt::format("{:.2f}", speed.wall_s),
                 fmt::format("{:.3f}", speed.wall_s / speed.audio_s)});
      if (flags.empty() && recordings == 1) {
        bar.value = speed.audio_s / speed.wall_s;
        bar.checks.at_least("audio_s_per_s", bar.value.get<double>(), kLeastSpeed);
      }
      if (recordings == counts.back()) {
        row["machine_hours_per_hour_of_audio"] = speed.wall_s / speed.audio_s;
        row["usd_per_hour_of_audio_at_0.10_an_hour"] =
            kMachine_usd_per_hour * speed.wall_s / speed.audio_s;
      }
    }
  }
  std::cerr << table.text();
  return bar;
}

eval::Bar generate_stream(const Scale& scale) {
  use_cores(kCores);
  if (!scale.smoke) {  // fills the cache
    first_sound_s({});
    first_sound_s({"--lm"});
  }
  const double default_s = first_sound_s({}), lm_s = first_sound_s({"--lm"});
  eval::Bar bar{
      .name = "generate-stream",
      .value = default_s,
      .unit = "s from process start to the first sample",
      .bar = fmt::format("<= {} s, on {} cores, a recording of 9 s", kMaxFirst_s, kCores)};
  bar.checks.at_most("first_s", default_s, kMaxFirst_s);
  bar.ours["lm_first_s"] = lm_s;
  return bar;
}

}  // namespace hum::bench
