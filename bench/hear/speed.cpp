// hear-speed: how fast hum hears, beside an earlier commit in the same run. Hearing (from samples
// to a score, as `hum generate` reports it), `hum generate` as a whole, making training items, and
// peak memory. Two cores; everything is compiled before.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "app/play/synthesizer.h"
#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/log.h"
#include "base/scratch_folder.h"
#include "bench/bars.h"
#include "bench/hear/ears.h"
#include "bench/judges.h"
#include "bench/locations.h"
#include "bench/peers.h"
#include "bench/program.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kCores = 2;
// The earlier commit, which bench/peers/install.sh builds in a folder of the build folder.
constexpr const char *kHum = "hum", *kEarlier = "8ba16b9", *kEarlierFolder = "hum-8ba16b9";

struct Length {
  double seconds;
  double least_speed;  // of hearing, times real time
  // Recordings in one process, for hearing alone. The first one is not counted: it fills caches. A
  // long recording is heard once.
  int copies;
  // The shorter, the more: a process of 2 s differs by a fifth from run to run.
  int rounds;
  std::string name() const { return fmt::format("{} s", seconds); }
};
const Length kLengths[] = {{9, 60, 5, 25}, {33, 100, 3, 9}, {600, 100, 1, 3}};
const Length kSmokeLengths[] = {{3, 60, 2, 1}};
constexpr int kItems = 500, kSmokeItems = 2, kRounds = 5;

// This commit's or the earlier one's `hum`.
struct Program {
  std::string side;
  fs::path path, source;  // source: its repository
  std::map<std::string, std::string> environment = {};

  ProgramRun run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), path.string());
    return run_program(arguments, environment);
  }
};

// With --ear, weights that differ from the released ones in the ear.
Program this_program(const Scale& scale, const ScratchFolder& scratch) {
  Program program{.side = kHum, .path = kHumProgram, .source = source_folder()};
  if (scale.ear_weights.empty()) return program;
  const fs::path weights = scratch / "weights";
  fs::create_directories(weights);
  fs::create_directory_symlink(fs::absolute(hear::ear_folder(scale)), weights / "ear");
  write_file(weights / "builds_on", fs::absolute(app::weights_folder("")).string() + "\n");
  program.environment["HUM_WEIGHTS"] = weights;
  return program;
}

Program earlier_program() {
  const fs::path folder = fs::path(kBuildFolder) / kEarlierFolder;
  return {.side = kEarlier,
          .path = folder / "build/bin/hum",
          .source = folder,
          .environment = {{"HUM_SOURCE_DIR", folder},
                          {"HUM_WEIGHTS", folder / "weights"},
                          {"HUM_THIRD_PARTY", folder / "build/third_party"}}};
}

Json figures_of(const ProgramRun& run) {
  return {{"milliseconds", Json::array({1000 * run.seconds})},
          {"peak_gb", static_cast<double>(run.peak_bytes) / 1e9}};
}

// Plays a recording, or those of a folder, without the language model. "hearing_ms": of each
// recording.
Json generate(const Program& program, const std::string& input) {
  const ScratchFolder out;
  std::vector<std::string> arguments = {"generate", input,    "--preset", "violin",
                                        "-o",       out / "", "--json"};
  if (program.side == kEarlier) arguments.emplace_back("--fast");
  const ProgramRun run = program.run(arguments);
  Json result = figures_of(run), hearing_ms = Json::array();
  const Json parsed = parse_json(run.out);
  for (const Json& report : parsed.is_array() ? parsed : Json::array({parsed})) {
    hearing_ms.push_back(1000 * report.at("seconds").at("melody").get<double>());
  }
  result["hearing_ms"] = std::move(hearing_ms);
  return result;
}

// Hears a recording without playing it. The flag is --voice by the name that both commits know.
Json hear(const Program& program, const std::string& recording) {
  const ScratchFolder out;
  return figures_of(program.run({"notes", recording, "--clean-up", "-o", out / "notes.mid"}));
}

Json make_items(const Program& program, int count) {
  const ScratchFolder out;
  return figures_of(
      program.run({"data", "make", "--config", (program.source / "configs/data.yaml").string(),
                   "--count", std::to_string(count), "-o", out / "items"}));
}

using Figure = std::function<double(const Outcome& outcome)>;

double seconds_of(const Outcome& outcome) { return outcome.ms / 1000; }

double peak_gb(const Outcome& outcome) {
  std::vector<double> peaks;
  for (const Json& round : outcome.rounds) peaks.push_back(round.at("peak_gb"));
  return median(std::move(peaks));
}

// How many times faster than the recording plays.
double speed_of_hearing(const Outcome& outcome, double seconds) {
  std::vector<double> laps_ms;
  for (const Json& round : outcome.rounds) {
    auto laps = round.at("hearing_ms").get<std::vector<double>>();
    if (laps.size() > 1) laps.erase(laps.begin());
    laps_ms.push_back(median(std::move(laps)));
  }
  return 1000 * seconds / median(std::move(laps_ms));
}

// The recording, and a folder of its copies.
struct Input {
  std::string recording, copies;
};

Input write_input(const Length& length, const ScratchFolder& scratch) {
  Input input{scratch / (length.name() + ".wav"), scratch / length.name()};
  write_example(input.recording, length.seconds);
  fs::create_directories(input.copies);
  for (int i = 0; i < length.copies; ++i) {
    fs::copy_file(input.recording, fs::path(input.copies) / fmt::format("{}.wav", i));
  }
  return input;
}

// Measures the programs in turn and collects the figures.
class Race {
 public:
  Race(const Scale& scale, eval::Bar& bar) : scale_(scale), bar_(bar) {
    programs_.push_back(this_program(scale, scratch_));
    if (is_installed(kEarlierFolder)) {
      programs_.push_back(earlier_program());
      return;
    }
    bar.reason = fmt::format("{} needs bench/peers/install.sh {}", kEarlier, kEarlierFolder);
    spdlog::info("hear-speed: {}", bar.reason);
  }

  // Compiles everything.
  void warm_up(const Length& length) {
    const Input input = write_input({length.seconds, 0, 1, 1}, scratch_);
    for (const Program& program : programs_) {
      generate(program, input.recording);
      hear(program, input.recording);
      make_items(program, 1);
    }
    fs::remove_all(input.copies);
  }

  void play(const Length& length) {
    const Input input = write_input(length, scratch_);
    const auto run = [&](const std::string& path) {
      return turns(length.rounds, [&](const auto& one) { return generate(one, path); });
    };
    const auto whole = run(input.recording);
    no_more(fmt::format("generate, {}, s", length.name()), whole, seconds_of);
    no_more(fmt::format("generate, {}, peak GB", length.name()), whole, peak_gb);
    const auto hearing = length.copies > 1 ? run(input.copies) : whole;
    const std::string what = fmt::format("hearing, {}, x real time", length.name());
    add(what, hearing, [&](const auto& one) { return speed_of_hearing(one, length.seconds); });
    bar_.checks.at_least(what, bar_.ours.at(what), length.least_speed);
    if (bar_.value.is_null()) bar_.value = bar_.ours.at(what);
  }

  void memory_of_hearing(const Length& length) {
    const Input input = write_input({length.seconds, 0, 0, 1}, scratch_);
    const auto outcomes =
        turns(kRounds, [&](const auto& one) { return hear(one, input.recording); });
    no_more(fmt::format("hearing alone, {}, peak GB", length.name()), outcomes, peak_gb);
  }

  void items(int count) {
    const auto outcomes = turns(kRounds, [&](const auto& one) { return make_items(one, count); });
    no_more(fmt::format("{} training items, s", count), outcomes, seconds_of);
  }

  std::string table() const { return table_.text(); }

 private:
  std::vector<Outcome> turns(int rounds, const std::function<Json(const Program&)>& task) const {
    std::vector<Contender> contenders;
    for (const Program& program : programs_) {
      contenders.push_back({program.side, "", [&] { return task(program); }});
    }
    Scale scale = scale_;
    if (!scale.smoke) scale.rounds = rounds;
    return alternate(std::move(contenders), scale);
  }

  // Returns ours as a multiple of the earlier one's, if that ran.
  std::optional<double> add(const std::string& what, const std::vector<Outcome>& outcomes,
                            const Figure& figure) {
    std::vector<double> values;
    std::vector<std::string> cells = {what};
    for (const Outcome& outcome : outcomes) {
      values.push_back(figure(outcome));
      cells.push_back(fmt::format("{:.3f}", values.back()));
      (outcome.side == kHum ? bar_.ours : bar_.peer[outcome.side])[what] = values.back();
    }
    cells.resize(3, "-");
    table_.row(std::move(cells));
    return values.size() == 2 ? std::optional(values[0] / values[1]) : std::nullopt;
  }

  void no_more(const std::string& what, const std::vector<Outcome>& outcomes,
               const Figure& figure) {
    const auto ratio = add(what, outcomes, figure);
    if (ratio) bar_.checks.at_most(fmt::format("{}, of {}", what, kEarlier), *ratio, 1);
  }

  const Scale& scale_;
  eval::Bar& bar_;
  ScratchFolder scratch_;
  std::vector<Program> programs_;
  eval::TextTable table_{{"", kHum, kEarlier}};
};

}  // namespace

eval::Bar hear_speed(const Scale& scale) {
  use_cores(kCores);
  eval::Bar bar{.name = "hear-speed",
                .unit = "x real time, hearing a recording of 9 s",
                .bar = fmt::format("hearing >= 60 x real time at 9 s, >= 100 x at 33 s and 10 min; "
                                   "`hum generate`, its peak memory and that of hearing alone, and "
                                   "making {} training items <= 1.0 x of commit {}; on {} cores",
                                   kItems, kEarlier, kCores)};
  const std::span<const Length> lengths =
      scale.smoke ? std::span<const Length>(kSmokeLengths) : std::span<const Length>(kLengths);
  Race race(scale, bar);
  if (!scale.smoke) race.warm_up(lengths.front());
  for (const Length& length : lengths) race.play(length);
  race.memory_of_hearing(lengths.back());
  race.items(scale.smoke ? kSmokeItems : kItems);
  std::cerr << race.table();
  return bar;
}

}  // namespace hum::bench
