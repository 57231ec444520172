// hum_bars NAME: measures one bar. The last line on stdout is its JSON (tools/bench adds the
// provenance). Exit code 0 if the bar is met, 1 if it is missed or cannot be measured.
// hum_bars NAME --smoke: its smoke form (bench/scale.h). Exit code 0 if it ran to completion.
// hum_bars NAME --ear FOLDER --annotated FOLDER --references FOLDER --singing FOLDER: with other
// inputs of the hear bars, sound-real, sound-references and stems-melody (bench/scale.h).
// hum_bars sound-notes --denominators: a part of it.
// hum_bars --about: compiler and plugin, as JSON.
#include "bench/bars.h"

#include <algorithm>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/plan.h"
#include "bench/run_main.h"
#include "pjrt/client.h"

namespace hum::bench {
namespace {

struct Row {
  std::string_view name;
  eval::Bar (*measure)(const Scale& scale);
};

constexpr Row kBars[] = {{"notes-real", notes_real},
                         {"codec-notes", codec_notes},
                         {"codec-ladder", codec_ladder},
                         {"hum-to-preset", hum_to_preset},
                         {"sound-codec", sound_codec},
                         {"sound-seen", sound_seen},
                         {"sound-unseen", sound_unseen},
                         {"sound-font", sound_font},
                         {"sound-real", sound_real},
                         {"sound-valle", sound_valle},
                         {"sound-augmentation", sound_augmentation},
                         {"sound-hum", sound_hum},
                         {"sound-residual", sound_residual},
                         {"sound-references", sound_references},
                         {"sound-notes", sound_notes},
                         {"sound-judges", sound_judges},
                         {"stems-metrics", stems_metrics},
                         {"stems-parity", stems_parity},
                         {"stems-synthetic", stems_synthetic},
                         {"stems-lead", stems_lead},
                         {"stems-confidence", stems_confidence},
                         {"stems-train", stems_train},
                         {"stems-melody", stems_melody},
                         {"stems-sum", stems_sum},
                         {"stems-speed", stems_speed},
                         {"stems-real", stems_real},
                         {"demo-time", demo_time},
                         {"extract-same", extract_same},
                         {"extract-rate", extract_rate},
                         {"extract-kill", extract_kill},
                         {"extract-scale", extract_scale},
                         {"train-time", train_time},
                         {"notes-speed", notes_speed},
                         {"train-bf16", train_bf16},
                         {"train-f32", train_f32},
                         {"train-jax", train_jax},
                         {"train-memory", train_memory},
                         {"warm-start", warm_start},
                         {"train-codec", train_codec},
                         {"decode-385m", decode_385m},
                         {"recompute-memory", recompute_memory},
                         {"scan-compile", scan_compile},
                         {"generate-speed", generate_speed},
                         {"generate-stream", generate_stream},
                         {"serve-latency", serve_latency},
                         {"serve-load", serve_load},
                         {"serve-idle", serve_idle},
                         {"serve-idle-streams", serve_idle_streams},
                         {"serve-kill", serve_kill},
                         {"serve-fuzz", serve_fuzz},
                         {"plan-a100-multi", plan_a100_multi},
                         {"plan-a100-single", plan_a100_single},
                         {"plan-megatron", plan_megatron},
                         {"plan-trn1", plan_trn1},
                         {"plan-recompute", plan_recompute},
                         {"plan-regret", plan_regret},
                         {"plan-memory", plan_memory},
                         {"hear-people", hear_people},
                         {"hear-known", hear_known},
                         {"hear-synthetic", hear_synthetic},
                         {"hear-nothing", hear_nothing},
                         {"hear-octave", hear_octave},
                         {"hear-pitch", hear_pitch},
                         {"hear-sure", hear_sure},
                         {"hear-constants", hear_constants},
                         {"hear-speed", hear_speed}};

int measure(const Row& row, const Scale& scale) {
  const eval::Bar bar = row.measure(scale);
  HUM_CHECK(bar.name == row.name);
  print_json(eval::to_json(bar));
  return scale.smoke || (bar.checks.ok() && bar.reason.empty()) ? 0 : 1;
}

int about() {
  const auto plugin = pjrt::Plugin::open();
  const auto client = pjrt::Client::create(plugin);
  const Json json = {{"compiler", HUM_COMPILER},
                     {"plugin", plugin->path().string()},
                     {"platform", client->platform_version()},
                     {"pjrt", fmt::format("0.{}", plugin->api_minor())}};
  print_json(json);
  return 0;
}

[[noreturn]] void fail_usage() {
  std::string names;
  for (const auto& row : kBars) names += fmt::format("{}{}", names.empty() ? "" : "|", row.name);
  fail(ExitCode::kUsage,
       fmt::format("usage: hum_bars {} [--smoke] [--ear FOLDER] [--annotated FOLDER] "
                   "[--references FOLDER] [--singing FOLDER] [--denominators] | hum_bars --about",
                   names));
}

Scale scale_of(std::span<const std::string_view> words) {
  const bool smoke = std::ranges::find(words, "--smoke") != words.end();
  Scale scale = smoke ? kSmoke : kFull;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--smoke") continue;
    if (words[i] == "--denominators") {
      scale.denominators = true;
      continue;
    }
    if (i + 1 == words.size()) fail_usage();
    if (words[i] == "--ear") {
      scale.ear_weights = words[++i];
    } else if (words[i] == "--annotated") {
      scale.annotated = words[++i];
    } else if (words[i] == "--references") {
      scale.references = words[++i];
    } else if (words[i] == "--singing") {
      scale.singing = words[++i];
    } else {
      fail_usage();
    }
  }
  return scale;
}

int run(std::span<char* const> arguments) {
  const std::vector<std::string_view> words(arguments.begin(), arguments.end());
  if (words == std::vector<std::string_view>{"--about"}) return about();
  if (words.empty()) fail_usage();
  for (const Row& row : kBars) {
    if (row.name == words[0]) return measure(row, scale_of(std::span(words).subspan(1)));
  }
  fail_usage();
}

}  // namespace
}  // namespace hum::bench

int main(int argc, char** argv) { hum::bench::run_main("hum_bars", argc, argv, hum::bench::run); }
