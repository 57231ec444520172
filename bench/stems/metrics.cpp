// stems-metrics: figures of separated stems on the signals of tools/golden/separation.py, against
// museval, mir_eval and their definitions.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/folders.h"
#include "bench/bars.h"
#include "eval/metrics/bss_eval.h"
#include "eval/metrics/si_sdr.h"
#include "eval/metrics/stem_figures.h"
#include "eval/metrics/testing_separation.h"

namespace hum::bench {
namespace {

constexpr double kMostWhole_db = 1e-6, kMostBss_db = 1e-4;
constexpr std::pair<const char*, std::vector<double> eval::BssScores::*> kParts[] = {
    {"SDR", &eval::BssScores::sdr},
    {"ISR", &eval::BssScores::isr},
    {"SIR", &eval::BssScores::sir},
    {"SAR", &eval::BssScores::sar}};

// The largest differences to the references.
struct Differences {
  double sdr = 0, si_sdr = 0, bss = 0;
  int64_t figures = 0, nan = 0, nan_elsewhere = 0;

  void add(double& worst, double ours, const Json& theirs) {
    ++figures;
    if (theirs.is_null() || std::isnan(ours)) {
      ++(theirs.is_null() && std::isnan(ours) ? nan : nan_elsewhere);
    } else {
      worst = std::max(worst, std::fabs(ours - theirs.get<double>()));
    }
  }
  void add_frames(const std::vector<eval::BssScores>& scores, const Json& theirs) {
    for (const auto& [name, part] : kParts) {
      for (size_t stem = 0; stem < scores.size(); ++stem) {
        const std::vector<double>& frames = scores[stem].*part;
        for (size_t i = 0; i < frames.size(); ++i) add(bss, frames[i], theirs[name][stem][i]);
      }
    }
  }
};

void compare(const Json& row, Differences& differences) {
  const auto sounds = eval::testing::separation_of(row);
  for (size_t stem = 0; stem < sounds.references.size(); ++stem) {
    const auto &truth = sounds.references[stem].samples, &heard = sounds.estimates[stem].samples;
    differences.add(differences.sdr, eval::sdr_db(truth, heard), row["sdr"][stem]);
    differences.add(differences.si_sdr, eval::si_sdr_db(truth, heard), row["si_sdr"][stem]);
  }
  const eval::BssEval judge(sounds.references, row["window"].get<int64_t>(), 1);
  differences.add_frames(judge.score(sounds.estimates), row["frames"]);
  if (!row.contains("whole")) return;
  const eval::BssEval whole(sounds.references, row["samples"].get<int64_t>(), 1);
  const auto scores = whole.score(sounds.estimates);
  for (const auto& [name, part] : kParts) {
    for (size_t stem = 0; stem < scores.size(); ++stem) {
      differences.add(differences.bss, (scores[stem].*part)[0], row["whole"][name][stem]);
    }
  }
}

}  // namespace

eval::Bar stems_metrics(const Scale& scale) {
  eval::Bar bar{.name = "stems-metrics",
                .unit = "dB, largest difference of a BSSEval figure to museval's or mir_eval's",
                .bar = fmt::format("SDR and SI-SDR within {} dB, BSSEval v4 within {} dB, not a "
                                   "number exactly where museval's is not",
                                   kMostWhole_db, kMostBss_db)};
  const Json golden = read_json(source_folder() / "tests/data/eval/separation.json");
  eval::TextTable table({"signals", "SDR", "SI-SDR", "BSSEval", "figures", "not a number"});
  Differences all;
  for (const Json& row : golden["cases"]) {
    Differences here;
    compare(row, here);
    table.row({row["name"].get<std::string>(), fmt::format("{:.1e}", here.sdr),
               fmt::format("{:.1e}", here.si_sdr), fmt::format("{:.1e}", here.bss),
               fmt::format("{}", here.figures), fmt::format("{}", here.nan)});
    all.sdr = std::max(all.sdr, here.sdr);
    all.si_sdr = std::max(all.si_sdr, here.si_sdr);
    all.bss = std::max(all.bss, here.bss);
    all.figures += here.figures;
    all.nan += here.nan;
    all.nan_elsewhere += here.nan_elsewhere;
    if (scale.smoke) break;
  }
  std::cerr << table.text();
  bar.value = all.bss;
  bar.checks.at_most("sdr_db", all.sdr, kMostWhole_db);
  bar.checks.at_most("si_sdr_db", all.si_sdr, kMostWhole_db);
  bar.checks.at_most("bss_db", all.bss, kMostBss_db);
  bar.checks.at_most("nan_elsewhere", static_cast<double>(all.nan_elsewhere), 0);
  bar.ours["figures"] = all.figures;
  bar.ours["not a number"] = all.nan;
  bar.peer = {{"museval", golden["made_by"]["museval"]},
              {"mir_eval", golden["made_by"]["mir_eval"]}};
  return bar;
}

}  // namespace hum::bench
