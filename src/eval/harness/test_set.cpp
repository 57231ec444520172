#include "eval/harness/test_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/quantile.h"
#include "base/rng.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "data/synthesis/window.h"

namespace hum::eval {
namespace {

// The number of melodies to try until one is in the mode; each is in one of seven modes.
constexpr uint64_t kTries = 1000;

data::Melody melody_of(uint64_t index, const data::Preset& preset, const TestSetOptions& options) {
  return data::make_melody(static_cast<uint64_t>(options.seed), index, preset,
                           {.seconds = options.seconds, .chord_share = 0});
}

data::Melody reference_melody(const TestClipPlan& plan, const TestSetOptions& options) {
  return data::make_melody(static_cast<uint64_t>(options.seed) + 1, plan.melody, *plan.preset,
                           {.seconds = options.reference_s, .chord_share = 0});
}

double median_pitch(const std::vector<audio::Note>& notes) {
  std::vector<double> pitches;
  for (const audio::Note& note : notes) pitches.push_back(note.pitch);
  return median(std::move(pitches));
}

uint64_t melody_in_mode(uint64_t clip, const data::Preset& preset, data::Mode mode,
                        const TestSetOptions& options) {
  for (uint64_t index = clip * kTries; index < (clip + 1) * kTries; ++index) {
    if (melody_of(index, preset, options).mode == mode) return index;
  }
  HUM_CHECK(false, "no melody in {} among {}", data::mode_name(mode), kTries);
  return 0;
}

std::vector<const data::Preset*> shuffled(std::span<const data::Preset* const> presets, Rng rng) {
  std::vector<const data::Preset*> result(presets.begin(), presets.end());
  for (size_t i = result.size(); i > 1; --i) {
    std::swap(result[i - 1],
              result[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
  return result;
}

// Timbres of the notes on the clip's rivals.
std::vector<Timbre> rivals_of(const TestClip& clip, const TestSetOptions& options,
                              const TestSources& sources, const Renderer& render) {
  std::vector<Timbre> timbres;
  for (const data::Preset* rival : rival_presets(clip.plan, options, sources)) {
    timbres.push_back(timbre_of(render(clip.notes, *rival, options.seconds), data::kSampleRate));
  }
  return timbres;
}

// The split with the fewest clips so far. The other font has had enough with a fifth of all.
Split next_split(std::span<const Split> splits, std::map<Split, size_t>& counts, size_t clips) {
  if (5 * counts[Split::kUnseenFont] >= clips && splits.back() == Split::kUnseenFont) {
    splits = splits.first(splits.size() - 1);
  }
  return *std::ranges::min_element(splits, {}, [&](Split split) { return counts[split]; });
}

}  // namespace

std::string_view split_name(Split split) {
  switch (split) {
    case Split::kSeen:
      return "seen";
    case Split::kUnseenPreset:
      return "unseen preset";
    case Split::kUnseenFont:
      return "unseen sound font";
  }
  return {};
}

std::vector<TestClipPlan> plan_test_set(const TestSetOptions& options, const TestSources& sources) {
  if (options.clips < 1) {
    fail(ExitCode::kUsage, fmt::format("a test set cannot have {} clips", options.clips),
         "--clips 200");
  }
  HUM_REQUIRE(!sources.seen.empty() && sources.render, "test set: no seen presets or no renderer");
  std::vector<Split> splits = {Split::kSeen};
  if (!sources.unseen.empty()) splits.push_back(Split::kUnseenPreset);
  if (sources.render_other_font) splits.push_back(Split::kUnseenFont);
  const auto seed = static_cast<uint64_t>(options.seed);
  const auto seen = shuffled(sources.seen, Rng(seed, "seen presets"));
  const auto unseen = shuffled(sources.unseen, Rng(seed, "unseen presets"));
  std::vector<TestClipPlan> plans;
  std::map<Split, size_t> counts;
  for (size_t clip = 0; clip < static_cast<size_t>(options.clips); ++clip) {
    const Split split = next_split(splits, counts, static_cast<size_t>(options.clips));
    const size_t round = counts[split]++;
    TestClipPlan plan{.split = split, .mode = static_cast<data::Mode>(round % data::kModes)};
    const auto& presets = plan.split == Split::kUnseenPreset ? unseen : seen;
    plan.preset = presets[round % presets.size()];
    plan.melody = melody_in_mode(clip, *plan.preset, plan.mode, options);
    plan.register_semitones = median_pitch(reference_melody(plan, options).notes) -
                              median_pitch(melody_of(plan.melody, *plan.preset, options).notes);
    plans.push_back(plan);
  }
  return plans;
}

std::vector<const data::Preset*> rival_presets(const TestClipPlan& plan,
                                               const TestSetOptions& options,
                                               const TestSources& sources) {
  std::vector<const data::Preset*> others(sources.seen.begin(), sources.seen.end());
  others.insert(others.end(), sources.unseen.begin(), sources.unseen.end());
  std::erase(others, plan.preset);
  others = shuffled(others, Rng(static_cast<uint64_t>(options.seed), "rivals", plan.melody));
  others.resize(std::min(others.size(), kRivals));
  return others;
}

TestClip make_test_clip(const TestClipPlan& plan, const TestSetOptions& options,
                        const TestSources& sources) {
  const auto& preset = *plan.preset;
  const auto& render =
      plan.split == Split::kUnseenFont ? sources.render_other_font : sources.render;
  TestClip clip{.plan = plan, .notes = melody_of(plan.melody, preset, options).notes};
  clip.play_truth = [&preset, render,
                     seconds = options.seconds](std::span<const audio::Note> notes) {
    return data::levelled(render(notes, preset, seconds));
  };
  clip.truth = clip.play_truth(clip.notes);
  clip.true_timbre = timbre_of(clip.truth, data::kSampleRate);
  clip.rivals = rivals_of(clip, options, sources, render);
  clip.reference =
      data::levelled(render(reference_melody(plan, options).notes, preset, options.reference_s));
  clip.hum_shift_semitones = data::octave_shift(clip.notes, data::kHumLow, data::kHumHigh);
  clip.hum = data::render_hum(data::shifted(clip.notes, 0, clip.hum_shift_semitones),
                              options.seconds, static_cast<uint64_t>(options.seed), plan.melody);
  return clip;
}

}  // namespace hum::eval
