// sound-references: clips of real instruments as --timbre, two phrases each, by the default path of
// `hum generate`. Is an output nearer in colour to its own clip than to nine clips of other
// instruments? And does a plucked or struck instrument die away as its clip does? Its note lasts
// until the next one there, or until the end of the clip.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "app/play/converter.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "bench/bars.h"
#include "bench/colour_ranks.h"
#include "bench/hear/recordings.h"
#include "bench/real_instruments.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/presets.h"
#include "data/synthesis/timing.h"
#include "eval/harness/hum_set.h"
#include "eval/metrics/level_fall.h"
#include "pipeline/generate.h"

namespace hum::bench {
namespace {

constexpr size_t kRivals = 9;
constexpr double kLeastOwn = 0.70, kLeastNearestTwo = 0.90, kMaxFallDifference_db = 3;
constexpr double kLeastJudges = 2;
constexpr uint64_t kSeed = 20261126;
constexpr const char* kVoice = "vocadito/vocadito_1.wav";  // of hear::voices_folder()
constexpr double kVoice_s = 8, kSmokeHum_s = 3;

// A sound and its notes.
struct Heard {
  std::vector<float> samples;
  std::vector<audio::Note> notes;
  bool is_sung = false;  // else the notes sound as an instrument plays them

  Tones tones() const { return {samples, is_sung ? eval::as_sung(notes) : eval::as_played(notes)}; }
};

// A phrase with the timbre of a clip.
struct Played {
  std::string phrase;
  size_t clip = 0;
  Heard heard;
};

pipeline::Recording as_recording(std::vector<float> samples) {
  const double seconds = static_cast<double>(samples.size()) / data::kSampleRate;
  return {.samples = std::move(samples), .seconds = seconds, .warnings = {}};
}

// One clip each of nine other instruments.
std::vector<size_t> rivals_of(const std::vector<InstrumentClip>& clips, size_t clip) {
  Rng rng(kSeed, "rivals", clip);
  std::vector<size_t> order(clips.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
  std::set<std::string> taken = {clips[clip].instrument};
  std::vector<size_t> rivals;
  for (const size_t other : order) {
    if (rivals.size() < kRivals && taken.insert(clips[other].instrument).second) {
      rivals.push_back(other);
    }
  }
  return rivals;
}

// Plays phrases with the timbre of clips, and reads the clips as the models do.
class Studio {
 public:
  explicit Studio(const Scale& scale)
      : scale_(scale),
        models_(std::make_shared<app::LoadedModels>("")),
        hear_(models_->hear({}, {})),
        transcribe_(app::transcriber(models_->session(), {})) {}

  Heard clip(const InstrumentClip& clip) const {
    const std::string file = clip.path.string();
    std::vector<std::string> warnings;
    auto read = app::read_clips(std::span(&file, 1), audio::kDefaultMaxSeconds, warnings);
    Heard heard{.samples = std::move(read[0].samples), .notes = {}, .is_sung = true};
    auto notes = hear_(heard.samples).notes;
    if (notes.empty()) notes = transcribe_(heard.samples);  // below all voices
    heard.notes = app::one_line(std::move(notes));
    return heard;
  }

  std::vector<Played> play(const InstrumentClip& clip, size_t index) {
    app::Converter converter({.timbre = {clip.path.string()}}, models_);
    std::vector<Played> played;
    for (const auto& [phrase, recording] : phrases(index)) {
      const auto notes = converter.listen(recording).score.notes;
      auto sound = pipeline::finish(converter.play(notes), pipeline::end_of(notes),
                                    {.rate_hz = data::kSampleRate});
      played.push_back({.phrase = phrase,
                        .clip = index,
                        .heard = {.samples = std::move(sound.samples), .notes = notes}});
    }
    return played;
  }

 private:
  std::map<std::string, pipeline::Recording> phrases(size_t index) const {
    const eval::HumSetOptions options{.seconds = scale_.smoke ? kSmokeHum_s
                                                              : eval::HumSetOptions().seconds};
    std::map<std::string, pipeline::Recording> phrases;
    phrases["hum"] = as_recording(make_known_hum(eval::HumKind::kClean, options, index).samples);
    if (scale_.smoke) return phrases;
    auto voice = hear::read_sound(hear::voices_folder() / kVoice);
    voice.resize(std::min(voice.size(), static_cast<size_t>(data::sample_of(kVoice_s))));
    phrases["voice"] = as_recording(std::move(voice));
    return phrases;
  }

  const Scale& scale_;
  std::shared_ptr<app::LoadedModels> models_;
  pipeline::HearFunction hear_;
  pipeline::TranscribeFunction transcribe_;
};

// A clip whose notes last as they ring: each until the next.
Heard ringing(Heard clip) {
  const double end_s = static_cast<double>(clip.samples.size()) / data::kSampleRate;
  auto& notes = clip.notes;
  for (size_t i = 0; i < notes.size(); ++i) {
    notes[i].end_s = i + 1 < notes.size() ? notes[i + 1].start_s : end_s;
  }
  return clip;
}

// How much more an output falls than its clip; absent if either cannot be measured.
std::optional<double> more_fall_db(const Heard& output, const Heard& clip) {
  const auto ours = eval::level_fall_db(output.samples, data::kSampleRate, output.tones().notes);
  const auto own =
      eval::level_fall_db(clip.samples, data::kSampleRate, ringing(clip).tones().notes);
  return ours && own ? std::optional(*ours - *own) : std::nullopt;
}

struct Trial {
  std::vector<InstrumentClip> clips;
  std::vector<Heard> references;  // of each clip
  std::vector<Played> outputs;
};

// The smoke form imitates the first clip, beside one of another instrument.
Trial listen(const Scale& scale) {
  Trial trial{.clips = instrument_clips(scale), .references = {}, .outputs = {}};
  auto& clips = trial.clips;
  if (scale.smoke && clips.size() > 1) clips = {clips.front(), clips.back()};
  const size_t imitated = scale.smoke ? std::min<size_t>(1, clips.size()) : clips.size();
  Studio studio(scale);
  Progress progress("playing", static_cast<int64_t>(imitated));
  for (size_t i = 0; i < clips.size(); ++i) {
    trial.references.push_back(studio.clip(clips[i]));
    if (trial.references.back().notes.empty()) spdlog::warn("no notes in {}", clips[i].name);
    if (i >= imitated) continue;
    std::ranges::move(studio.play(clips[i], i), std::back_inserter(trial.outputs));
    progress.update(static_cast<int64_t>(i) + 1);
  }
  return trial;
}

// A sound font plays the clips' notes, which ring, and the outputs': what an instrument of each
// kind reaches that imitates itself.
Trial on_sound_font(const Trial& trial) {
  Trial font = trial;
  data::FluidRenderer renderer;
  const auto play = [&](Heard& heard, size_t clip) {
    const double seconds = static_cast<double>(heard.samples.size()) / data::kSampleRate;
    const auto& preset = data::find_preset(trial.clips[clip].preset);
    heard.samples = renderer.render(heard.notes, preset.program, seconds);
    heard.is_sung = false;
  };
  for (size_t i = 0; i < font.clips.size(); ++i) {
    font.references[i] = ringing(std::move(font.references[i]));
    play(font.references[i], i);
  }
  for (Played& output : font.outputs) play(output.heard, output.clip);
  return font;
}

// By judge: each output's number of nearer rivals.
std::map<std::string, std::vector<size_t>> judge_colours(const Trial& trial) {
  std::vector<Tones> references;
  for (const Heard& reference : trial.references) references.push_back(reference.tones());
  std::vector<Output> outputs;
  for (const Played& played : trial.outputs) {
    outputs.push_back({played.heard.tones(), played.clip, rivals_of(trial.clips, played.clip)});
  }
  std::map<std::string, std::vector<size_t>> nearer;
  for (const ColourJudge& judge : colour_judges()) {
    nearer[judge.name] = nearer_rivals(judge, outputs, references);
  }
  return nearer;
}

// By clip: the mean over its outputs of how many dB more they fall than it does.
std::map<std::string, double> more_falls_db(const Trial& trial) {
  std::map<std::string, std::vector<double>> of_clips;
  for (const Played& output : trial.outputs) {
    const InstrumentClip& clip = trial.clips[output.clip];
    if (!clip.dies_away) continue;
    const auto more_db = more_fall_db(output.heard, trial.references[output.clip]);
    if (more_db) of_clips[clip.name].push_back(*more_db);
  }
  std::map<std::string, double> means;
  for (const auto& [clip, more_db] : of_clips) {
    means[clip] = std::reduce(more_db.begin(), more_db.end()) / static_cast<double>(more_db.size());
  }
  return means;
}

double worst_of(const std::map<std::string, double>& falls_db) {
  double worst_db = 0;
  for (const auto& [clip, more_db] : falls_db) worst_db = std::max(worst_db, std::fabs(more_db));
  return worst_db;
}

void show(const Trial& trial, const std::map<std::string, std::vector<size_t>>& colours) {
  std::vector<std::string> header = {"instrument", "clip", "phrase"};
  for (const auto& [judge, nearer] : colours) header.push_back("rank, " + judge);
  eval::TextTable table(std::move(header));
  for (size_t i = 0; i < trial.outputs.size(); ++i) {
    const InstrumentClip& clip = trial.clips[trial.outputs[i].clip];
    std::vector<std::string> row = {clip.instrument, clip.name, trial.outputs[i].phrase};
    for (const auto& [judge, nearer] : colours) row.push_back(std::to_string(nearer[i] + 1));
    table.row(std::move(row));
  }
  std::cerr << table.text();
}

void check_colours(const Trial& trial, eval::Bar& bar) {
  const auto colours = judge_colours(trial);
  show(trial, colours);
  double agreeing = 0;
  std::vector<double> own;
  for (const auto& [judge, nearer] : colours) {
    const OwnShares shares(nearer);
    bar.ours[judge] = shares.figures();
    own.push_back(shares.own);
    agreeing += shares.own >= kLeastOwn && shares.nearest_two >= kLeastNearestTwo ? 1 : 0;
  }
  std::ranges::sort(own, std::ranges::greater());
  bar.value = own[1];
  bar.checks.at_least("judges that agree", agreeing, kLeastJudges);
}

void check_falls(const Trial& trial, eval::Bar& bar) {
  if (std::ranges::none_of(trial.clips, &InstrumentClip::dies_away)) return;
  const auto falls_db = more_falls_db(trial);
  bar.ours["falls by more dB than its clip"] = falls_db;
  bar.checks.at_most(
      "fall_db", falls_db.empty() ? std::numeric_limits<double>::quiet_NaN() : worst_of(falls_db),
      kMaxFallDifference_db);
}

Json ceiling(const Trial& trial) {
  const Trial font = on_sound_font(trial);
  Json figures = {{"fall_db", worst_of(more_falls_db(font))}};
  for (const auto& [judge, nearer] : judge_colours(font)) {
    figures[judge] = OwnShares(nearer).figures();
  }
  return figures;
}

}  // namespace

eval::Bar sound_references(const Scale& scale) {
  eval::Bar bar{
      .name = "sound-references",
      .unit = "share of outputs nearest to their own reference, by the second-best judge",
      .bar = fmt::format(
          "every clip of a real instrument as --timbre, two phrases each, beside {} clips of other "
          "instruments: nearest to its own in >= {:.2f} and among the nearest two in >= {:.2f} by "
          "at least {} judges; what is plucked or struck falls within {} dB of its reference over "
          "{} s",
          kRivals, kLeastOwn, kLeastNearestTwo, kLeastJudges, kMaxFallDifference_db, eval::kFall_s),
      .reason = instruments_missing(scale)};
  if (bar.reason.empty()) bar.reason = hear::recordings_missing();
  if (!bar.reason.empty()) return bar;
  const Trial trial = listen(scale);
  if (trial.outputs.empty()) {
    bar.reason = "none of the listed recordings of instruments is here";
    return bar;
  }
  check_colours(trial, bar);
  check_falls(trial, bar);
  bar.ours["clips"] = trial.clips.size();
  bar.peer["sound font as its own reference"] = ceiling(trial);
  return bar;
}

}  // namespace hum::bench
