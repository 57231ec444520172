// sound-hum: four kinds of synthetic hums with known notes, transcribed by plain Basic Pitch (with
// basic-pitch's settings: every note, no tuning) and by `hum notes --voice`, and played on an
// instrument from either transcription. Both are scored alike: 50 ms, 50 cents, after one shift of
// the whole hum by octaves or a semitone. Basic Pitch also transcribes what is played. Its score
// against the known notes is divided by that of the real instrument playing them. The instrument is
// a flute, which Basic Pitch transcribes well, played as by `hum generate`. Labels are as
// sung_note.h says: half-way through glides, without shallow dips.
#include <iostream>
#include <limits>

#include "app/play/hearing.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "base/error.h"
#include "base/log.h"
#include "bench/bars.h"
#include "bench/judges.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"
#include "eval/harness/hum_score.h"
#include "pipeline/generate.h"
#include "pipeline/hum_melody.h"

namespace hum::bench {
namespace {

using audio::Note;
using eval::HumScore;
using eval::KnownHum;
using Readings = std::vector<std::vector<Note>>;

constexpr const char* kPreset = "flute";
constexpr double kMinGain = 0.05, kMaxOnset_ms = 10;
constexpr uint64_t kNoiseSeed = 1;

// The notes of a hum, moved into the instrument's range.
std::vector<Note> read(const KnownHum& hum, const pipeline::HearFunction& hear,
                       const pipeline::HumOptions& options, const data::Preset& preset) {
  return pipeline::notes_heard(hum.samples, hear, options,
                               pipeline::PitchRange{preset.low, preset.high});
}

// All notes as transcribed.
const pipeline::HumOptions kPlain{.polyphonic = true, .tuning = pipeline::Tuning::kOff};

class Studio {
 public:
  explicit Studio(runtime::Session& session)
      : hear_all_(app::hear_function(session, app::weights_folder(""), {}, kPlain)),
        hear_voice_(app::hear_function(session, app::weights_folder(""))),
        judge_(transcriber(session)),
        render_(renderer()),
        synthesizer_(session, app::weights_folder("")),
        preset_(data::find_preset(kPreset)) {
    std::vector<std::string> warnings;
    timbre_ = synthesizer_.preset_timbre(preset_, warnings);
  }

  std::vector<Note> all_notes(const KnownHum& hum) const {
    return read(hum, hear_all_, kPlain, preset_);
  }
  std::vector<Note> voice(const KnownHum& hum) const { return read(hum, hear_voice_, {}, preset_); }
  // The transcription of these notes played by the instrument's model.
  std::vector<Note> played(const std::vector<Note>& notes) {
    if (notes.empty()) return {};
    const auto instrument = synthesizer_.instrument(timbre_, {});
    return judge_(pipeline::finish(pipeline::play(notes, instrument, kNoiseSeed),
                                   pipeline::end_of(notes), {.rate_hz = data::kSampleRate})
                      .samples);
  }
  // The transcription of the known notes played by the real instrument.
  std::vector<Note> rendered(const KnownHum& hum) const {
    const auto notes = data::shifted(
        hum.notes, 0, 12 * pipeline::choose_octave(hum.notes, {preset_.low, preset_.high}).octave);
    return judge_(render_(notes, preset_, pipeline::end_of(notes) + pipeline::kMaxRelease_s));
  }

 private:
  pipeline::HearFunction hear_all_, hear_voice_;
  eval::Transcriber judge_;
  eval::Renderer render_;
  app::Synthesizer synthesizer_;
  const data::Preset& preset_;
  app::TimbreSource timbre_;
};

struct Row {
  HumScore plain, voice, played_plain, played_voice, rendered;

  double gain() const { return voice.f1 - plain.f1; }
  double of_real(const HumScore& played) const {
    return rendered.f1 > 0 ? played.f1 / rendered.f1 : 0;
  }
  double played_gain() const { return of_real(played_voice) - of_real(played_plain); }
};

Row judge(eval::HumKind kind, const eval::HumSetOptions& options, Studio& studio) {
  std::vector<KnownHum> hums;
  Readings plain, voice, played_plain, played_voice, rendered;
  Progress progress(std::string(eval::hum_kind_name(kind)), options.count);
  for (int64_t i = 0; i < options.count; ++i) {
    hums.push_back(eval::make_known_hum(kind, options, static_cast<uint64_t>(i)));
    plain.push_back(studio.all_notes(hums.back()));
    voice.push_back(studio.voice(hums.back()));
    played_plain.push_back(studio.played(plain.back()));
    played_voice.push_back(studio.played(voice.back()));
    rendered.push_back(studio.rendered(hums.back()));
    progress.update(i + 1);
  }
  return {eval::score_hums(hums, plain), eval::score_hums(hums, voice),
          eval::score_hums(hums, played_plain), eval::score_hums(hums, played_voice),
          eval::score_hums(hums, rendered)};
}

double in_ms(std::optional<double> seconds) {
  return seconds ? 1000 * *seconds : std::numeric_limits<double>::quiet_NaN();
}

Json figures(const HumScore& read, double of_real) {
  return {{"f1", read.f1},
          {"precision", read.precision},
          {"recall", read.recall},
          {"onset_ms", in_ms(read.onset_s)},
          {"onset_within_150_ms", in_ms(read.wide_onset_s)},
          {"generated_f1_of_real", of_real}};
}

std::string table(const std::vector<std::pair<std::string, Row>>& rows) {
  eval::TextTable table({"hums", "reading", "F1", "precision", "recall", "onset ms",
                         "(within 150 ms)", "generated F1", "of the real instrument's"});
  for (const auto& [name, row] : rows) {
    auto add = [&](const char* reading, const HumScore& read, const HumScore& played) {
      table.row({name, reading, fmt::format("{:.3f}", read.f1),
                 fmt::format("{:.3f}", read.precision), fmt::format("{:.3f}", read.recall),
                 fmt::format("{:.1f}", in_ms(read.onset_s)),
                 fmt::format("{:.1f}", in_ms(read.wide_onset_s)), fmt::format("{:.3f}", played.f1),
                 fmt::format("{:.3f}", row.of_real(played))});
    };
    add("Basic Pitch", row.plain, row.played_plain);
    add("hum notes --voice", row.voice, row.played_voice);
  }
  return table.text();
}

}  // namespace

eval::Bar sound_hum(const Scale& scale) {
  eval::HumSetOptions options;
  if (scale.smoke) options.count = 1;
  runtime::Session session(app::session_options());
  Studio studio(session);
  eval::Bar bar{.name = "sound-hum",
                .value = 1.0,
                .unit = "smallest gain in note F1",
                .bar = fmt::format(
                    "{} hums of each kind: F1 of hum notes --voice >= plain Basic Pitch + "
                    "{}, the same for generation (relative to the real instrument); median onset "
                    "error <= {} ms",
                    options.count, kMinGain, kMaxOnset_ms)};
  std::vector<std::pair<std::string, Row>> rows;
  for (const eval::HumKind kind : eval::kHumKinds) {
    const std::string name(eval::hum_kind_name(kind));
    const Row row = judge(kind, options, studio);
    rows.emplace_back(name, row);
    spdlog::info("{}: F1 {:.3f} against {:.3f}, generated {:.3f} against {:.3f}", name,
                 row.voice.f1, row.plain.f1, row.of_real(row.played_voice),
                 row.of_real(row.played_plain));
    bar.value = std::min(bar.value.get<double>(), row.gain());
    bar.checks.at_least(name + ": gain", row.gain(), kMinGain);
    bar.checks.at_least(name + ": generated gain", row.played_gain(), kMinGain);
    bar.checks.at_most(name + ": onset ms", in_ms(row.voice.onset_s), kMaxOnset_ms);
    bar.checks.at_most(name + ": onset ms within 150 ms", in_ms(row.voice.wide_onset_s),
                       kMaxOnset_ms);
    bar.ours[name] = figures(row.voice, row.of_real(row.played_voice));
    bar.peer[name] = figures(row.plain, row.of_real(row.played_plain));
    bar.peer[name]["real_instrument_f1"] = row.rendered.f1;
  }
  bar.ours["seed"] = options.seed;
  bar.ours["preset"] = kPreset;
  std::cerr << table(rows);
  return bar;
}

}  // namespace hum::bench
