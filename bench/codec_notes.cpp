// codec-notes: encodes and decodes 24 clips unseen in training. The tokens are the codec's own
// ("true"): no language model takes part. The guided decoder gets the excitation of the clip's true
// notes, as in training; a separate row gives it the notes that Basic Pitch finds in the clip. The
// scores are always of the notes that Basic Pitch finds in the copy.
#include <algorithm>
#include <iostream>

#include "app/session_options.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "bench/true_tokens.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/level.h"
#include "data/synthesis/sine.h"

namespace hum::bench {
namespace {

using eval::Clip;
using eval::Copies;

struct Limits {
  double chroma, f1, octave_db;
};
constexpr Limits kGuided{0.96, 0.95, 3}, kPlain{0.92, 0.65, 3};
constexpr double kMinUsed = 0.9;  // of each book's entries

struct Row {
  std::string name;
  Copies copies;
};

std::vector<Row> judge(const std::vector<Clip>& clips, const TrueTokens& tokens,
                       const eval::Transcriber& transcribe) {
  const std::pair<const char*, eval::CopyFunction> systems[] = {
      {"ceiling", [](const Clip& clip, size_t) { return clip.samples; }},
      {"guided", [&](const Clip& clip, size_t i) { return tokens.guided(i, clip.notes); }},
      {"plain", [&](const Clip&, size_t i) { return tokens.plain(i); }},
      {"guided, heard notes",
       [&](const Clip& clip, size_t i) {
         const auto heard = transcribe(clip.samples);
         return heard.empty() ? std::vector<float>{} : tokens.guided(i, heard);
       }},
      {"excitation alone",
       [](const Clip& clip, size_t) {
         return data::levelled(data::render_excitation(clip.notes, std::ssize(clip.samples)));
       }},
      {"sine", [](const Clip& clip, size_t) {
         return data::levelled(data::render_sine(clip.notes, std::ssize(clip.samples)));
       }}};
  std::vector<Row> rows;
  for (const auto& [name, copy] : systems) {
    Progress progress(name, std::ssize(clips));
    rows.push_back({name, eval::judge_copies(clips, copy, transcribe, [&](size_t done) {
                      progress.update(static_cast<int64_t>(done));
                    })});
  }
  return rows;
}

bool passes(const Copies& copies, const Copies& ceiling, const Limits& limits) {
  const auto kept = of_ceiling(copies.mean, ceiling.mean);
  return kept.chroma >= limits.chroma && kept.f1 >= limits.f1 &&
         copies.octave_db <= limits.octave_db;
}

Json figures(const Row& row, const Copies& ceiling) {
  const auto kept = of_ceiling(row.copies.mean, ceiling.mean);
  Json bands = Json::object();
  for (const auto& band : row.copies.bands) {
    bands[fmt::format("{:.0f} Hz", band.center_hz)] = band.difference_db();
  }
  return {{"chroma", row.copies.mean.chroma},
          {"f1", row.copies.mean.f1},
          {"f1_100_ms", row.copies.mean.f1_sung},
          {"chroma_of_ceiling", kept.chroma},
          {"f1_of_ceiling", kept.f1},
          {"f1_100_ms_of_ceiling", kept.f1_sung},
          {"octave_db", row.copies.octave_db},
          {"octave_bands_db", std::move(bands)}};
}

// Differences in dB per octave band, summed over all clips.
std::string band_table(const std::vector<Row>& rows) {
  std::vector<std::string> header = {"octave bands, Hz"}, energy = {"the clips' energy, dB"};
  for (const auto& band : rows[0].copies.bands) {
    header.push_back(fmt::format("{:.0f}", band.center_hz));
    energy.push_back(fmt::format("{:.1f}", band.reference_db));
  }
  eval::TextTable table(std::move(header));
  table.row(std::move(energy));
  for (const auto& row : rows) {
    std::vector<std::string> cells = {row.name};
    for (const auto& band : row.copies.bands) {
      cells.push_back(fmt::format("{:+.1f}", band.difference_db()));
    }
    table.row(std::move(cells));
  }
  return table.text();
}

void show(const std::vector<Row>& rows, const std::vector<Clip>& clips,
          std::span<const double> used) {
  eval::TextTable presets({"preset", "notes", "ceiling", "guided", "plain", "(chroma / F1)"});
  auto cell = [](const eval::MelodyScore& score) {
    return fmt::format("{:.2f} / {:.2f}", score.chroma, score.f1);
  };
  for (size_t i = 0; i < clips.size(); ++i) {
    presets.row({std::string(clips[i].preset->name), std::to_string(clips[i].notes.size()),
                 cell(rows[0].copies.clips[i]), cell(rows[1].copies.clips[i]),
                 cell(rows[2].copies.clips[i]), ""});
  }
  eval::TextTable table(
      {"row", "chroma", "F1", "chroma/ceiling", "F1/ceiling", "octaves dB", "a clip"});
  for (const auto& row : rows) {
    const auto kept = of_ceiling(row.copies.mean, rows[0].copies.mean);
    table.row({row.name, fmt::format("{:.3f}", row.copies.mean.chroma),
               fmt::format("{:.3f}", row.copies.mean.f1), fmt::format("{:.3f}", kept.chroma),
               fmt::format("{:.3f}", kept.f1), fmt::format("{:.2f}", row.copies.octave_db),
               fmt::format("{:.2f}", row.copies.clip_octave_db)});
  }
  std::cerr << presets.text() << '\n'
            << table.text() << '\n'
            << band_table(rows)
            << fmt::format("used entries of each book: {:.3f}\n", fmt::join(used, " "));
}

}  // namespace

eval::Bar codec_notes(const Scale& scale) {
  runtime::Session session(app::session_options());
  const auto clips = unseen_clips(scale);
  const TrueTokens tokens(session, clips);
  const auto rows = judge(clips, tokens, transcriber(session));
  const auto used = tokens.used();
  show(rows, clips, used);

  const Copies &ceiling = rows[0].copies, &guided = rows[1].copies, &plain = rows[2].copies;
  eval::Bar bar{
      .name = "codec-notes",
      .value = of_ceiling(guided.mean, ceiling.mean).f1,
      .unit = "note F1 relative to the ceiling, guided",
      .bar = fmt::format(
          "relative to the ceiling: guided chroma >= {}, F1 >= {}; plain >= {}, >= {}; "
          "used entries >= {} of each book in these clips; octave bands within {} dB",
          kGuided.chroma, kGuided.f1, kPlain.chroma, kPlain.f1, kMinUsed, kGuided.octave_db)};
  auto check = [&](const std::string& name, const Copies& copies, const Limits& limits) {
    const auto kept = of_ceiling(copies.mean, ceiling.mean);
    bar.checks.at_least(name + "_chroma", kept.chroma, limits.chroma);
    bar.checks.at_least(name + "_f1", kept.f1, limits.f1);
    bar.checks.at_most(name + "_octave_db", copies.octave_db, limits.octave_db);
  };
  check("guided", guided, kGuided);
  check("plain", plain, kPlain);
  bar.checks.at_least("used", std::ranges::min(used), kMinUsed);
  bar.ours["used_by_book"] = used;
  for (const auto& row : rows) {
    const bool ours = &row == &rows[1] || &row == &rows[2] || &row == &rows[3];
    (ours ? bar.ours : bar.peer)[row.name] = figures(row, ceiling);
  }
  // Both contain the melody; neither has the octave balance of an instrument.
  for (size_t floor : {4, 5}) {
    bar.checks.holds(rows[floor].name + " fails", !passes(rows[floor].copies, ceiling, kPlain));
  }
  return bar;
}

}  // namespace hum::bench
