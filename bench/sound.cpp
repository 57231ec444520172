// The sound-* bars: one report (sound_report.h), read by six bars. "True" figures are those of
// the real renderings under the same judges; "true tokens" are the codec's tokens of the real
// rendering.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "bench/bars.h"
#include "bench/sound_report.h"
#include "eval/harness/summary.h"

namespace hum::bench {
namespace {

constexpr const char* kHum = "hum";
constexpr const char* kTrue = "true rendering";
constexpr const char* kPlainCopy = "codec on the true rendering";
constexpr const char* kGuidedCopy = "guided decoder on true tokens";
constexpr const char* kByName = "hum, by name";
constexpr const char* kReferenceCopy = "copy of the reference";
constexpr const char* kRetrieval = "retrieval";
constexpr const char* kSampler = "sampler";
constexpr const char* kSeen = "seen";
constexpr const char* kUnseen = "unseen preset";
constexpr const char* kFont = "unseen sound font";

// Prints the rows of a group side by side to stderr.
void show(const SoundReport& report, const std::string& group,
          const std::vector<std::string>& metrics) {
  std::vector<std::string> header = {"row, " + group};
  header.insert(header.end(), metrics.begin(), metrics.end());
  eval::TextTable table(std::move(header));
  for (const Json& row : report.json()["rows"]) {
    const std::string name = row["name"];
    std::vector<std::string> cells = {name};
    for (const auto& metric : metrics) {
      cells.push_back(fmt::format("{:.3f}", report.value(name, metric, group)));
    }
    table.row(std::move(cells));
  }
  std::cerr << table.text();
}

Json figures(const SoundReport& report, const std::string& row, const std::string& group,
             const std::vector<std::string>& metrics) {
  Json result = Json::object();
  for (const auto& metric : metrics) result[metric] = report.figure(row, metric, group);
  return result;
}

// A language model's sound from the hum, and its tokens given the true notes.
Json language_model_figures(const SoundReport& report, const std::string& row,
                            const std::string& group) {
  Json result = figures(report, row, group, {"note_f1", "timbre", "mel_distance"});
  result.update(figures(report, row + ", true notes", group, {"token_ce", "token_top1"}));
  return result;
}

// Ceilings and floors.
Json peer_rows(const SoundReport& report, const std::string& group,
               const std::vector<std::string>& metrics) {
  Json result = Json::object();
  for (const char* row : {kTrue, kGuidedCopy, kPlainCopy, "sine", "hum copy", "wrong melody",
                          kReferenceCopy, kRetrieval, kSampler}) {
    result[row] = figures(report, row, group, metrics);
  }
  return result;
}

void add_rows(eval::Bar& bar, const SoundReport& report, const std::string& group,
              const std::vector<std::string>& metrics) {
  show(report, group, metrics);
  bar.ours["hum"] = figures(report, kHum, group, metrics);
  bar.peer.update(peer_rows(report, group, metrics));
}

const std::vector<std::string> kGenerationMetrics = {
    "chroma",    "note_f1",     "note_f1_100_ms", "timbre",       "timbre_60",         "nearest_1",
    "nearest_3", "preset_top1", "preset_family",  "mel_distance", "mel_distance_heard"};

// Whether the whole interval of the difference to the other row is on the worse side of 0.
bool is_worse(const Json& difference, bool higher_is_better) {
  if (!difference.is_object() || difference["low"].is_null()) return false;
  return higher_is_better ? difference["high"] < 0.0 : difference["low"] > 0.0;
}

// hum's timbre must be nearer to the true one than what can be had without a model: the reference
// itself, and the training preset that is nearest to it.
void check_against_rivals(eval::Bar& bar, const SoundReport& report, const std::string& group) {
  for (const char* rival : {kReferenceCopy, kRetrieval}) {
    for (const char* metric : {"timbre", "timbre_60"}) {
      const Json& more = report.difference(rival, metric, group);
      bar.checks.holds(fmt::format("{}, {}", rival, metric), is_worse(more, false));
      bar.peer["less hum's"][rival][metric] = more;
    }
  }
}

}  // namespace

eval::Bar sound_codec(const Scale& scale) {
  const SoundReport report(scale);
  const std::vector<std::string> metrics = {"chroma", "note_f1", "note_f1_100_ms", "mel_distance",
                                            "timbre"};
  eval::Bar bar{
      .name = "sound-codec",
      .value = report.ratio(kPlainCopy, kTrue, "note_f1"),
      .unit = "note F1 relative to the true rendering",
      .bar =
          "plain codec on true tokens: chroma >= 0.98, note F1 >= 0.85 of the true "
          "rendering's; mel distance <= 0.12; octave bands within 2 dB from 62 Hz up (but for "
          "those 40 dB below the strongest), 3 dB at 31 Hz; used entries >= 0.9 of each "
          "book"};
  bar.checks.at_least("chroma_of_true", report.ratio(kPlainCopy, kTrue, "chroma"), 0.98);
  bar.checks.at_least("note_f1_of_true", bar.value.get<double>(), 0.85);
  bar.checks.at_most("mel_distance", report.value(kPlainCopy, "mel_distance"), 0.12);
  const Json& octaves = report.row(kPlainCopy)["octaves"];
  bar.checks.at_most("octave_db_from_62_hz", octaves["largest_db_from_62_hz"], 2);
  bar.checks.at_most("octave_db_at_31_hz",
                     std::abs(octaves["bands"][0]["difference_db"].get<double>()), 3);
  bar.ours["octaves"] = octaves;
  std::vector<double> used;
  for (const Json& book : report.json()["codebooks"]) {
    if (book["sound"] != kTrue) continue;
    used.push_back(book["used"]);
  }
  HUM_REQUIRE(!used.empty(), "sound-codec: the report has no tokens of true renderings");
  bar.checks.at_least("used", std::ranges::min(used), 0.9);
  bar.ours["used_by_book"] = used;
  bar.ours["guided"] = figures(report, kGuidedCopy, "all", metrics);
  add_rows(bar, report, "all", metrics);
  return bar;
}

eval::Bar sound_seen(const Scale& scale) {
  const SoundReport report(scale);
  const std::string group = kSeen;
  eval::Bar bar{.name = "sound-seen",
                .value = report.ratio(kByName, kTrue, "note_f1", group),
                .unit = "note F1 relative to the true rendering, by name",
                .bar =
                    "from a hum, seen presets by name: chroma and note F1 >= 0.95 of the true "
                    "rendering's; classifier's top 1 >= 0.85 of that on true tokens; mel distance "
                    "to the instrument playing the heard notes <= 1.25 x that of true tokens; "
                    "timbre distance <= 24 and less than the sampler's"};
  bar.checks.at_least("chroma_of_true", report.ratio(kByName, kTrue, "chroma", group), 0.95);
  bar.checks.at_least("note_f1_of_true", bar.value.get<double>(), 0.95);
  bar.checks.at_least("preset_top1_of_true_tokens",
                      report.ratio(kByName, kGuidedCopy, "preset_top1", group), 0.85);
  bar.checks.at_most("mel_distance_of_true_tokens",
                     report.value(kByName, "mel_distance_heard", group) /
                         report.value(kGuidedCopy, "mel_distance", group),
                     1.25);
  const double timbre = report.value(kByName, "timbre", group);
  bar.checks.at_most("timbre", timbre, 24);
  bar.checks.at_most("timbre_of_sampler", timbre / report.value(kSampler, "timbre", group), 1);
  add_rows(bar, report, group, kGenerationMetrics);
  bar.ours[kByName] = figures(report, kByName, group, kGenerationMetrics);
  return bar;
}

eval::Bar sound_unseen(const Scale& scale) {
  const SoundReport report(scale);
  const std::string group = kUnseen;
  eval::Bar bar{
      .name = "sound-unseen",
      .unit = "nearest 3 of 20, relative to true tokens, reference in the melody's register",
      .bar = fmt::format(
          "unseen presets from a clip of 3 s: if its median pitch is within {} semitones of the "
          "melody's, the true preset is in the nearest 3 of 20 >= 0.85 of the rate on true tokens; "
          "in any register, timbre distance lower than that of a copy of the reference and of "
          "FluidSynth on the nearest training preset (intervals exclude 0, floors at 80 and 60 dB)",
          eval::kSameRegister_semitones)};
  bar.value = report.ratio(kHum, kGuidedCopy, "nearest_3", eval::kSameRegister);
  bar.checks.at_least("nearest_3_of_true_tokens", bar.value.get<double>(), 0.85);
  bar.ours[eval::kSameRegister] = figures(report, kHum, eval::kSameRegister, kGenerationMetrics);
  bar.peer[eval::kSameRegister] = peer_rows(report, eval::kSameRegister, kGenerationMetrics);
  check_against_rivals(bar, report, group);
  add_rows(bar, report, group, kGenerationMetrics);
  return bar;
}

eval::Bar sound_font(const Scale& scale) {
  const SoundReport report(scale);
  eval::Bar bar{
      .name = "sound-font",
      .unit = "nearest 3 of 20",
      .bar =
          "a sound font that no training used, from a clip of 3 s: timbre distance lower than that "
          "of a copy of the reference and of FluidSynth on the nearest training preset (intervals "
          "exclude 0, floors at 80 and 60 dB)"};
  if (!report.has(kFont)) {
    bar.reason = "the sound font is not installed (apt install timgm6mb-soundfont)";
    return bar;
  }
  bar.value = report.value(kHum, "nearest_3", kFont);
  check_against_rivals(bar, report, kFont);
  add_rows(bar, report, kFont, kGenerationMetrics);
  return bar;
}

eval::Bar sound_valle(const Scale& scale) {
  const SoundReport report(scale);
  eval::Bar bar{.name = "sound-valle",
                .unit = "note F1, VALL-E-style baseline minus hum's model with the same training",
                .bar =
                    "95 % intervals of the paired differences exclude 0: cross-entropy and "
                    "accuracy of book 1, note F1, timbre"};
  if (bar.reason = report.why_not("valle"); !bar.reason.empty()) return bar;
  const Json& heard = report.row("valle")["differences"]["all"];
  const Json& told = report.row("valle, true notes")["differences"]["all"];
  bar.value = heard["note_f1"]["value"];
  bar.checks.holds("token_ce", is_worse(told["token_ce"], false));
  bar.checks.holds("token_top1", is_worse(told["token_top1"], true));
  bar.checks.holds("note_f1", is_worse(heard["note_f1"], true));
  bar.checks.holds("timbre", is_worse(heard["timbre"], false));
  const std::string own = report.row("valle")["against"];
  bar.peer["compared with"] = own;
  bar.peer["baseline less that, from the hum"] = heard;
  bar.peer["baseline less that, true notes"] = told;
  for (const char* group : {kSeen, kUnseen, kFont}) {
    if (!report.has(group)) continue;
    bar.ours[group] = language_model_figures(report, own, group);
    bar.peer[group] = language_model_figures(report, "valle", group);
    for (const char* metric : {"token_ce", "token_top1"}) {
      bar.peer["baseline less that, true notes, by split"][group][metric] =
          report.difference("valle, true notes", metric, group);
    }
  }
  show(report, "all", {"token_ce", "token_top1", "token_top10", "note_f1", "timbre", "si_sdr"});
  return bar;
}

eval::Bar sound_augmentation(const Scale& scale) {
  const SoundReport report(scale);
  eval::Bar bar{.name = "sound-augmentation",
                .unit = "note F1, without augmentation minus with",
                .bar = "reported with intervals, over all clips and per mode; no limit"};
  if (bar.reason = report.why_not("no-augmentation"); !bar.reason.empty()) return bar;
  const Json& differences = report.row("no-augmentation")["differences"];
  bar.ours["compared with"] = report.row("no-augmentation")["against"];
  bar.value = differences["all"]["note_f1"]["value"];
  bar.checks.holds("measured", bar.value.is_number());
  for (const auto& [group, metrics] : differences.items()) {
    for (const char* metric : {"note_f1", "chroma", "timbre", "mel_distance", "si_sdr"}) {
      bar.ours["without less with"][group][metric] = metrics[metric];
    }
  }
  bar.ours["true notes"] = report.row("no-augmentation, true notes")["differences"]["all"];
  return bar;
}

}  // namespace hum::bench
