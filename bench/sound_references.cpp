// sound-references: clips of real instruments as --timbre, two phrases each, by the default path of
// `hum generate`. Is an output nearer to its own clip than to nine clips of other instruments? Two
// judges measure a sound's colour: the levels of its harmonics at the pitches that are played, and
// its mean MFCC with a floor at 60 dB. And does a plucked or struck instrument die away as its clip
// does? Its note lasts until the next one there, or until the end of the clip.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "app/play/converter.h"
#include "base/error.h"
#include "base/log.h"
#include "base/rng.h"
#include "bench/bars.h"
#include "bench/embeddings.h"
#include "bench/hear/recordings.h"
#include "bench/real_instruments.h"
#include "data/synthesis/timing.h"
#include "eval/harness/hum_set.h"
#include "eval/metrics/harmonic_levels.h"
#include "eval/metrics/level_fall.h"
#include "eval/metrics/timbre.h"
#include "pipeline/generate.h"

namespace hum::bench {
namespace {

constexpr size_t kRivals = 9;
constexpr double kLeastOwn = 0.70, kLeastNearestTwo = 0.90, kMaxFallDifference_db = 3;
constexpr double kLeastJudges = 2;
constexpr uint64_t kSeed = 20261126;
constexpr const char* kVoice = "vocadito/vocadito_1.wav";  // of hear::voices_folder()
constexpr double kVoice_s = 8, kSmokeHum_s = 3;

// A sound and the notes in it, at the pitches that sound.
struct Tones {
  std::vector<float> samples;
  std::vector<eval::PitchedNote> notes;
};

// An output, the clip that it imitates, and clips of other instruments, by index.
struct Played {
  std::string phrase;
  size_t clip = 0;
  std::vector<size_t> rivals;
  Tones tones;
};

struct Judge {
  const char* name;
  std::function<Place(const Tones& tones)> place;
};

std::vector<Judge> judges() {
  return {{"harmonic levels",
           [](const Tones& tones) {
             const auto levels =
                 eval::harmonic_levels(tones.samples, data::kSampleRate, tones.notes);
             return Place(levels.begin(), levels.end());
           }},
          {"MFCC, 60 dB", [](const Tones& tones) {
             const auto timbre =
                 eval::timbre_of(tones.samples, data::kSampleRate, eval::kAudibleRange_db);
             return Place(timbre.begin(), timbre.end());
           }}};
}

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

  Tones clip(const InstrumentClip& clip) const {
    const std::string file = clip.path.string();
    std::vector<std::string> warnings;
    auto read = app::read_clips(std::span(&file, 1), audio::kDefaultMaxSeconds, warnings);
    Tones tones{.samples = std::move(read[0].samples), .notes = {}};
    auto notes = hear_(tones.samples).notes;
    if (notes.empty()) notes = transcribe_(tones.samples);  // below all voices
    tones.notes = eval::as_sung(app::one_line(std::move(notes)));
    return tones;
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
                        .rivals = {},
                        .tones = {std::move(sound.samples), eval::as_played(notes)}});
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

// How many outputs are nearest to their own clip, and among the nearest two.
struct Ranks {
  double outputs = 0, own = 0, nearest_two = 0;

  void add(size_t nearer) {
    ++outputs;
    own += nearer == 0 ? 1 : 0;
    nearest_two += nearer <= 1 ? 1 : 0;
  }
  bool meets() const {
    return own / outputs >= kLeastOwn && nearest_two / outputs >= kLeastNearestTwo;
  }
  Json figures() const {
    return {{"outputs", outputs},
            {"own", own / outputs},
            {"among the nearest two", nearest_two / outputs}};
  }
};

// The number of rivals that are at least as near as the own clip.
size_t nearer_rivals(const Judge& judge, const Played& played, const std::vector<Place>& clips) {
  const Place place = judge.place(played.tones);
  const double own = distance(place, clips[played.clip]);
  return static_cast<size_t>(std::ranges::count_if(
      played.rivals, [&](size_t rival) { return distance(place, clips[rival]) <= own; }));
}

// The notes of a clip as they ring: each until the next.
std::vector<eval::PitchedNote> ringing(const Tones& clip) {
  auto notes = clip.notes;
  const double end_s = static_cast<double>(clip.samples.size()) / data::kSampleRate;
  for (size_t i = 0; i < notes.size(); ++i) {
    notes[i].end_s = i + 1 < notes.size() ? notes[i + 1].start_s : end_s;
  }
  return notes;
}

// How much more an output falls than its clip; absent if either cannot be measured.
std::optional<double> more_fall_db(const Tones& output, const Tones& clip) {
  const auto ours = eval::level_fall_db(output.samples, data::kSampleRate, output.notes);
  const auto own = eval::level_fall_db(clip.samples, data::kSampleRate, ringing(clip));
  return ours && own ? std::optional(*ours - *own) : std::nullopt;
}

struct Heard {
  std::vector<InstrumentClip> clips;
  std::vector<Tones> references;  // of each clip
  std::vector<Played> outputs;
};

// The smoke form imitates the first clip, beside one of another instrument.
Heard listen(const Scale& scale) {
  Heard heard{.clips = instrument_clips(scale), .references = {}, .outputs = {}};
  auto& clips = heard.clips;
  if (scale.smoke && clips.size() > 1) clips = {clips.front(), clips.back()};
  const size_t imitated = scale.smoke ? std::min<size_t>(1, clips.size()) : clips.size();
  Studio studio(scale);
  Progress progress("playing", static_cast<int64_t>(imitated));
  for (size_t i = 0; i < clips.size(); ++i) {
    heard.references.push_back(studio.clip(clips[i]));
    if (heard.references.back().notes.empty()) spdlog::warn("no notes in {}", clips[i].name);
    if (i >= imitated) continue;
    for (Played& played : studio.play(clips[i], i)) {
      played.rivals = rivals_of(clips, i);
      heard.outputs.push_back(std::move(played));
    }
    progress.update(static_cast<int64_t>(i) + 1);
  }
  return heard;
}

// Adds each judge's shares to the bar, and a row for each output to the table.
void judge_colours(const Heard& heard, eval::Bar& bar,
                   std::vector<std::vector<std::string>>& rows) {
  double agreeing = 0;
  std::vector<double> own;
  for (const Judge& judge : judges()) {
    std::vector<Place> places;
    for (const Tones& reference : heard.references) places.push_back(judge.place(reference));
    Ranks ranks;
    for (size_t i = 0; i < heard.outputs.size(); ++i) {
      const size_t nearer = nearer_rivals(judge, heard.outputs[i], places);
      ranks.add(nearer);
      rows[i].push_back(std::to_string(nearer + 1));
    }
    bar.ours[judge.name] = ranks.figures();
    agreeing += ranks.meets() ? 1 : 0;
    own.push_back(ranks.own / ranks.outputs);
  }
  std::ranges::sort(own, std::ranges::greater());
  bar.value = own[1];
  bar.checks.at_least("judges that agree", agreeing, kLeastJudges);
}

void judge_falls(const Heard& heard, eval::Bar& bar, std::vector<std::vector<std::string>>& rows) {
  std::map<std::string, std::vector<double>> of_clips;
  for (size_t i = 0; i < heard.outputs.size(); ++i) {
    const Played& output = heard.outputs[i];
    const InstrumentClip& clip = heard.clips[output.clip];
    const auto more_db =
        clip.dies_away ? more_fall_db(output.tones, heard.references[output.clip]) : std::nullopt;
    if (more_db) of_clips[clip.name].push_back(*more_db);
    rows[i].push_back(more_db ? fmt::format("{:+.1f}", *more_db) : "");
  }
  Json falls = Json::object();
  double worst_db = of_clips.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (const auto& [clip, more_db] : of_clips) {
    const double mean_db =
        std::reduce(more_db.begin(), more_db.end()) / static_cast<double>(more_db.size());
    falls[clip] = mean_db;
    worst_db = std::max(worst_db, std::fabs(mean_db));
  }
  bar.ours["falls by more dB than its clip"] = std::move(falls);
  if (std::ranges::any_of(heard.clips, &InstrumentClip::dies_away)) {
    bar.checks.at_most("fall_db", worst_db, kMaxFallDifference_db);
  }
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
  const Heard heard = listen(scale);
  if (heard.outputs.empty()) {
    bar.reason = "none of the listed recordings of instruments is here";
    return bar;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Played& output : heard.outputs) {
    rows.push_back(
        {heard.clips[output.clip].instrument, heard.clips[output.clip].name, output.phrase});
  }
  judge_colours(heard, bar, rows);
  judge_falls(heard, bar, rows);
  std::vector<std::string> header = {"instrument", "clip", "phrase"};
  for (const Judge& judge : judges()) header.push_back(fmt::format("rank, {}", judge.name));
  header.emplace_back("falls by more dB");
  eval::TextTable table(std::move(header));
  for (auto& row : rows) table.row(std::move(row));
  bar.ours["clips"] = heard.clips.size();
  std::cerr << table.text();
  return bar;
}

}  // namespace hum::bench
