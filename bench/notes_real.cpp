// notes-real: our Basic Pitch against the notes and posteriors of basic-pitch itself.
#include <cmath>
#include <iostream>

#include "app/session_options.h"
#include "base/error.h"
#include "base/folders.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "eval/metrics/note_score.h"
#include "models/basic_pitch/test_data.h"
#include "models/basic_pitch/transcriber.h"

namespace hum::bench {
namespace {

using models::basic_pitch::Matrix;

// The stored posteriors were trimmed by an older rule and have five more frames.
constexpr int64_t kFrames = 782;
constexpr double kMaxDifference = 1e-3;

double mean_difference(const Matrix<float>& ours, const Matrix<float>& theirs) {
  HUM_REQUIRE(ours.rows >= kFrames && theirs.rows >= kFrames && ours.columns == theirs.columns,
              "posteriors: [{}, {}] against [{}, {}]", ours.rows, ours.columns, theirs.rows,
              theirs.columns);
  const auto count = static_cast<size_t>(kFrames * ours.columns);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += std::fabs(ours.values[i] - theirs.values[i]);
  return sum / static_cast<double>(count);
}

}  // namespace

eval::Bar notes_real(const Scale& /*scale*/) {
  runtime::Session session(app::session_options());
  const models::basic_pitch::Transcriber model(session);
  const auto posteriors = model.posteriors(read_example());
  const auto notes = models::basic_pitch::create_notes(posteriors);
  const auto stored = models::basic_pitch::test::stored_posteriors();
  const auto reference = audio::read_notes(source_folder() / "tests/data/basic-pitch/notes.json");
  const auto score = eval::score_notes(reference, notes);

  eval::Bar bar{.name = "notes-real",
                .value = score.f1,
                .unit = "F1",
                .bar = fmt::format("F1 = 1 (50 ms, 50 cents); posteriors of the first {} frames: "
                                   "mean absolute difference <= {}",
                                   kFrames, kMaxDifference)};
  bar.checks.at_least("f1", score.f1, 1);
  bar.checks.at_most("note_posteriors", mean_difference(posteriors.note, stored.note),
                     kMaxDifference);
  bar.checks.at_most("onset_posteriors", mean_difference(posteriors.onset, stored.onset),
                     kMaxDifference);
  bar.checks.at_most("contour_posteriors", mean_difference(posteriors.contour, stored.contour),
                     kMaxDifference);
  bar.ours["notes"] = notes.size();
  bar.peer = {{"basic-pitch", {{"notes", reference.size()}}}};

  eval::TextTable table({"row", "notes", "F1", "note", "onset", "contour"});
  auto difference = [&](const char* name) {
    return fmt::format("{:.1e}", bar.checks.values()[name].get<double>());
  };
  table.row({"hum", std::to_string(notes.size()), fmt::format("{:.3f}", score.f1),
             difference("note_posteriors"), difference("onset_posteriors"),
             difference("contour_posteriors")});
  table.row({"basic-pitch", std::to_string(reference.size()), "1.000", "0", "0", "0"});
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
