// hum_bars NAME: measures one bar. The last line on stdout is its JSON (tools/bench adds the
// machine). Exit code 0 when it is met, 1 when it is missed or could not be measured.
#include "bench/bars.h"

#include <iostream>
#include <span>
#include <string_view>

#include "base/error.h"
#include "bench/plan.h"
#include "bench/run_main.h"

namespace hum::bench {
namespace {

struct Row {
  std::string_view name;
  eval::Bar (*measure)();
};

constexpr Row kBars[] = {{"notes-real", notes_real},
                         {"codec-notes", codec_notes},
                         {"codec-ladder", codec_ladder},
                         {"hum-to-preset", hum_to_preset},
                         {"sound-codec", sound_codec},
                         {"sound-seen", sound_seen},
                         {"sound-unseen", sound_unseen},
                         {"sound-real", sound_real},
                         {"sound-valle", sound_valle},
                         {"sound-augmentation", sound_augmentation},
                         {"sound-hum", sound_hum},
                         {"demo-time", demo_time},
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
                         {"plan-a100-multi", plan_a100_multi},
                         {"plan-a100-single", plan_a100_single},
                         {"plan-megatron", plan_megatron},
                         {"plan-trn1", plan_trn1},
                         {"plan-recompute", plan_recompute},
                         {"plan-regret", plan_regret},
                         {"plan-memory", plan_memory}};

int run(std::span<char* const> arguments) {
  for (const auto& [name, measure] : kBars) {
    if (arguments.size() != 1 || name != arguments[0]) continue;
    const eval::Bar bar = measure();
    HUM_CHECK(bar.name == name);
    std::cout << eval::to_json(bar).dump() << std::endl;
    return bar.checks.ok() ? 0 : 1;
  }
  std::string names;
  for (const auto& row : kBars) names += fmt::format("{}{}", names.empty() ? "" : "|", row.name);
  fail(ExitCode::kUsage, "usage: hum_bars " + names);
}

}  // namespace
}  // namespace hum::bench

int main(int argc, char** argv) { hum::bench::run_main("hum_bars", argc, argv, hum::bench::run); }
