// Test sets, figures, evaluations and their summary: figures separate different sounds, and the
// true rendering scores best.
#include "eval/harness/evaluation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/testing/refusal.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "data/synthesis/timing.h"
#include "eval/harness/instrument_row.h"
#include "eval/harness/summary.h"
#include "eval/harness/testing_impl.h"

namespace hum::eval {
namespace {

const TestSetOptions kOptions{.seed = 5, .clips = 4, .seconds = 4};

TestSources sources() {
  static const std::vector seen = {&data::find_preset("flute"), &data::find_preset("violin")};
  static const std::vector unseen = {&data::find_preset("harmonica")};
  return {.seen = seen, .unseen = unseen, .render = testing::render};
}

TEST(TestSet, TakesSplitsModesAndPresetsInTurn) {
  auto with_font = sources();
  with_font.render_other_font = testing::render;
  const auto plans = plan_test_set({.clips = 42}, with_font);
  std::map<Split, std::set<data::Mode>> modes;
  std::set<uint64_t> melodies;
  for (const auto& plan : plans) {
    modes[plan.split].insert(plan.mode);
    melodies.insert(plan.melody);
    EXPECT_EQ(plan.preset->name == "harmonica", plan.split == Split::kUnseenPreset);
  }
  EXPECT_EQ(melodies.size(), 42u);
  for (const Split split : kSplits) EXPECT_EQ(modes[split].size(), 7u) << split_name(split);
}

TEST(TestSet, TheOtherFontHasAFifthOfTheClipsAtMost) {
  auto with_font = sources();
  with_font.render_other_font = testing::render;
  std::map<Split, int> counts;
  for (const auto& plan : plan_test_set({.clips = 50}, with_font)) ++counts[plan.split];
  EXPECT_EQ(counts[Split::kSeen], 20);
  EXPECT_EQ(counts[Split::kUnseenPreset], 20);
  EXPECT_EQ(counts[Split::kUnseenFont], 10);
  EXPECT_EQ(plan_test_set({.clips = 3}, with_font)[2].split, Split::kUnseenFont);
}

TEST(TestSet, SaysHowFarTheReferenceIsFromTheMelodysRegister) {
  const auto distances = [](const TestSetOptions& options) {
    std::vector<double> result;
    for (const auto& plan : plan_test_set(options, sources())) {
      result.push_back(plan.register_semitones);
    }
    return result;
  };
  const auto all = distances({.clips = 20});
  EXPECT_GT(std::set(all.begin(), all.end()).size(), 5u);
  // A reference of another length has other notes.
  EXPECT_NE(distances({.clips = 20, .reference_s = 2}), all);
}

TEST(TestSet, LeavesOutSplitsThatCannotBe) {
  auto few = sources();
  few.unseen = {};
  for (const auto& plan : plan_test_set({.clips = 5}, few)) EXPECT_EQ(plan.split, Split::kSeen);
  EXPECT_THROW(plan_test_set({.clips = 0}, few), Error);
  few.seen = {};
  EXPECT_THROW(plan_test_set({.clips = 5}, few), Error);
}

TEST(TestSet, MakesTheClipThatWasPlanned) {
  const auto plans = plan_test_set(kOptions, sources());
  const TestClip clip = make_test_clip(plans[1], kOptions, sources());
  EXPECT_EQ(clip.plan.preset->name, "harmonica");
  EXPECT_EQ(data::make_melody(5, plans[1].melody, *plans[1].preset, {.seconds = 4}).mode,
            plans[1].mode);
  EXPECT_EQ(std::ssize(clip.truth), data::sample_of(4));
  EXPECT_EQ(std::ssize(clip.reference), data::sample_of(kOptions.reference_s));
  EXPECT_NEAR(data::active_rms(clip.truth), data::kTargetRms, 1e-3);
  EXPECT_NE(clip.truth, clip.play_truth(wrong_notes(clip.notes)));
  EXPECT_EQ(clip.truth, clip.play_truth(clip.notes));
  EXPECT_EQ(clip.true_timbre, timbre_of(clip.truth, data::kSampleRate));
  EXPECT_EQ(clip.hum_shift_semitones % 12, 0);
  EXPECT_EQ(make_test_clip(plans[1], kOptions, sources()).hum, clip.hum);
  for (const auto& note : clip.notes) {
    EXPECT_GE(note.pitch + clip.hum_shift_semitones, data::kHumLow - 6);
  }
}

TEST(TestSet, RivalsAreOtherPresets) {
  const auto plans = plan_test_set(kOptions, sources());
  const auto clip = make_test_clip(plans[0], kOptions, sources());
  const auto rivals = rival_presets(plans[0], kOptions, sources());
  ASSERT_EQ(rivals.size(), 2U);
  ASSERT_EQ(clip.rivals.size(), 2U);
  for (size_t i = 0; i < rivals.size(); ++i) {
    EXPECT_NE(rivals[i], plans[0].preset);
    const auto sound = testing::render(clip.notes, *rivals[i], kOptions.seconds);
    EXPECT_EQ(clip.rivals[i], timbre_of(sound, data::kSampleRate));
  }
}

TEST(Metrics, HaveOneKeyEach) {
  std::set<std::string_view> keys;
  for (const Metric& metric : metrics()) keys.insert(metric.key);
  EXPECT_EQ(keys.size(), metrics().size());
  EXPECT_EQ(metrics()[metric_index("si_sdr")].key, "si_sdr");
  EXPECT_THROW(metric_index("beauty"), Error);
}

// Two numbers that distinguish loud from quiet and flute from violin, which is enough for this
// test.
Classification classify(std::span<const float> samples, const data::Preset& preset) {
  const auto rms = static_cast<float>(data::active_rms(samples));
  const int32_t target = preset.name == "flute" ? 0 : preset.name == "violin" ? 1 : -1;
  return {{rms, 1 - rms}, {1, 0, 0.5F}, target};
}

// One evaluation for all tests below: the truth first, then half of it, then the floors.
struct Judged {
  Evaluation evaluation;
  Json summary;
  size_t heard = 0, progress = 0;
};

const Judged& judged() {
  static const Judged result = [] {
    Judged judged;
    std::vector<System> systems = {
        {.name = "half",
         .what = "the truth, falling silent",
         .play =
             [](const TestClip& clip) {
               return std::vector<float>(clip.truth.begin(),
                                         clip.truth.begin() + std::ssize(clip.truth) / 2);
             },
         .tokens =
             [](const TestClip&) {
               return TokenLogits{{3, 2, 1, 0, 0, 1, 2, 3}, 4, {0, 0}};
             }},
        {.name = "mute", .what = "", .play = [](const TestClip&) { return std::vector<float>(); }},
        true_rendering()};
    for (auto& floor : floors()) systems.push_back(std::move(floor));
    judged.evaluation =
        evaluate(plan_test_set(kOptions, sources()),
                 [](const TestClipPlan& plan) { return make_test_clip(plan, kOptions, sources()); },
                 systems, {testing::basic_pitch(), classify},
                 {.progress = [&](size_t done) { judged.progress = done; },
                  .heard = [&](size_t, const TestClip&, const System&,
                               std::span<const float>) { ++judged.heard; }});
    judged.summary = summarise(judged.evaluation, {.resamples = 200});
    return judged;
  }();
  return result;
}

double mean_of(const std::string& row, const char* metric, const char* group = "all") {
  for (const Json& json : judged().summary["rows"]) {
    if (json["name"] == row) return json["groups"][group][metric]["value"];
  }
  ADD_FAILURE() << row;
  return NAN;
}

TEST(Evaluation, HearsEverySystemOnEveryClip) {
  EXPECT_EQ(judged().progress, 4u);
  EXPECT_EQ(judged().heard, 4u * 8);
  for (const auto& system : judged().evaluation.systems) {
    EXPECT_EQ(system.clips.size(), 4u);
    EXPECT_EQ(system.embeddings.rows, 4);
  }
}

TEST(Evaluation, TheTruthIsTheTruth) {
  const std::string truth = true_rendering().name;
  EXPECT_GT(mean_of(truth, "chroma"), 0.85);
  for (const char* distance :
       {"mel_distance", "stft_distance", "log_spectral_distance", "timbre", "dac_mel"}) {
    EXPECT_EQ(mean_of(truth, distance), 0) << distance;
  }
  EXPECT_EQ(mean_of(truth, "chroma_cosine"), 1);
  EXPECT_NEAR(mean_of(truth, "envelope"), 1, 1e-9);
}

TEST(Evaluation, EachFloorFailsAtWhatItLacks) {
  for (const char* sound : {"hum copy", "sine", "excitation alone", "copy of the reference"}) {
    EXPECT_GT(mean_of(sound, "mel_distance"), 0.15) << sound;
  }
  EXPECT_GT(mean_of("sine", "chroma"), 0.95);
  EXPECT_GT(mean_of("sine", "timbre"), mean_of("copy of the reference", "timbre"));
  for (const char* sound : {"copy of the reference", "wrong melody"}) {
    EXPECT_LT(mean_of(sound, "chroma"), 0.5) << sound;
    EXPECT_LT(mean_of(sound, "note_f1"), 0.3) << sound;
  }
  EXPECT_LT(mean_of("wrong melody", "timbre"), mean_of("sine", "timbre"));
}

TEST(Evaluation, MoreNotesCountWithinAHundredMilliseconds) {
  for (const auto& system : judged().evaluation.systems) {
    EXPECT_GE(mean_of(system.name, "note_f1_100_ms"), mean_of(system.name, "note_f1"))
        << system.name;
  }
  EXPECT_GT(mean_of("hum copy", "note_f1_100_ms"), mean_of("hum copy", "note_f1"));
}

TEST(Evaluation, ASystemThatFallsSilentLosesTheRest) {
  EXPECT_LT(mean_of("half", "chroma"), 0.75);
  EXPECT_EQ(mean_of("mute", "note_f1"), 0);
  EXPECT_EQ(mean_of("mute", "raw_pitch"), 0);
  EXPECT_GE(mean_of("half", "real_time_factor"), 0);
  EXPECT_EQ(mean_of("half", "token_top1"), 0.5);  // the second row's target is its smallest logit
  EXPECT_EQ(mean_of("half", "token_top10"), 1);
}

TEST(Evaluation, ABrokenSystemIsNamed) {
  const std::vector<System> broken = {{.name = "broken", .what = "", .play = [](const TestClip&) {
                                         return std::vector<float>{0, NAN};
                                       }}};
  const auto judge = [&] {
    evaluate(plan_test_set(kOptions, sources()),
             [](const TestClipPlan& plan) { return make_test_clip(plan, kOptions, sources()); },
             broken, {testing::basic_pitch(), classify}, {});
  };
  EXPECT_THAT(hum::testing::message_of(judge),
              ::testing::HasSubstr("'broken' plays samples that are not finite"));
}

TEST(Evaluation, TheTrueInstrumentIsTheNearest) {
  EXPECT_EQ(mean_of("true rendering", "nearest_1"), 1);
  EXPECT_EQ(mean_of("wrong melody", "nearest_3"), 1);  // timbre alone counts
  EXPECT_EQ(mean_of("sine", "nearest_1"), 0);
}

TEST(Evaluation, TheTrueTokensLikelihoodIsTheirs) {
  // Rows 3 2 1 0 and 0 1 2 3, the first class is true in both.
  const double sum = 1 + std::exp(-1.0) + std::exp(-2.0) + std::exp(-3.0);
  EXPECT_NEAR(mean_of("half", "token_ce"), std::log(sum) + 1.5, 1e-6);
}

TEST(Summary, UnseenPresetsInTheMelodysRegisterAreAGroup) {
  const std::vector<TestClipPlan> plans = {
      {.split = Split::kUnseenPreset, .register_semitones = -6},
      {.split = Split::kUnseenPreset, .register_semitones = 6.5},
      {.split = Split::kSeen, .register_semitones = 0},
      {.split = Split::kUnseenPreset, .register_semitones = 2}};
  const auto groups = clip_groups(plans);
  const auto found = std::ranges::find(groups, kSameRegister, &ClipGroup::name);
  ASSERT_NE(found, groups.end());
  EXPECT_EQ(found->clips, (std::vector<size_t>{0, 3}));
}

TEST(Summary, HasTheBalanceOfOctaves) {
  const Json& rows = judged().summary["rows"];
  EXPECT_EQ(rows[2]["octaves"]["largest_db"], 0);
  const Json& half = rows[0]["octaves"];
  EXPECT_GT(half["largest_db"], 1);
  double largest_db = 0;
  for (size_t band = 1; band < half["bands"].size(); ++band) {
    largest_db = std::max(largest_db, std::abs(half["bands"][band]["difference_db"].get<double>()));
  }
  EXPECT_LE(half["largest_db_from_62_hz"], largest_db);
  EXPECT_GT(half["largest_db_from_62_hz"], 1);
  EXPECT_EQ(rows[2]["octaves"]["largest_db_from_62_hz"], 0);
  EXPECT_EQ(half["bands"][4]["hz"], 500);
  EXPECT_LT(half["bands"][4]["difference_db"], 0);
}

TEST(Summary, LeavesOutWhatCannotBeSaid) {
  const Json& rows = judged().summary["rows"];
  const Json& truth = rows[2]["groups"]["all"];
  EXPECT_TRUE(truth["token_top1"].is_null());
  EXPECT_TRUE(truth["real_time_factor"].is_null());
  EXPECT_TRUE(truth["si_sdr"].is_null());  // infinite
  // The classifier does not know the harmonica of two of the four clips.
  EXPECT_EQ(truth["preset_top1"]["clips"], 2);
  EXPECT_EQ(truth["preset_top1"]["value"], 0.5);
  EXPECT_EQ(truth["preset_top3"]["value"], 1);
  EXPECT_TRUE(rows[2]["groups"]["unseen preset"]["preset_top1"].is_null());
}

TEST(Summary, HasGroupsIntervalsDifferencesAndTheFrechetDistance) {
  const Json& summary = judged().summary;
  EXPECT_EQ(summary["groups"]["all"], 4);
  EXPECT_EQ(summary["groups"]["seen"], 2);
  EXPECT_EQ(summary["groups"]["ionian"], 2);
  EXPECT_FALSE(summary["groups"].contains("locrian"));
  const Json& half = summary["rows"][0];
  const Json& chroma = half["groups"]["all"]["chroma"];
  EXPECT_LE(chroma["low"], chroma["value"]);
  EXPECT_GE(chroma["high"], chroma["value"]);
  EXPECT_EQ(chroma["clips"], 4);
  EXPECT_FALSE(half.contains("differences"));
  EXPECT_NEAR(summary["rows"][2]["differences"]["all"]["chroma"]["value"].get<double>(),
              mean_of("true rendering", "chroma") - chroma["value"].get<double>(), 1e-12);
  EXPECT_NEAR(summary["rows"][2]["fad"]["value"].get<double>(), 0, 1e-9);
  EXPECT_GT(summary["rows"][1]["fad"]["value"], 1e-3);
  EXPECT_EQ(half["fad"]["embedding"], kFadName);
}

TEST(Summary, CsvHasALineAClipAndRow) {
  const std::string csv = clips_csv(judged().evaluation);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 4 * 8);
  EXPECT_THAT(csv, ::testing::StartsWith("row,clip,split,preset,mode,chroma,"));
  EXPECT_THAT(csv, ::testing::HasSubstr("\n\"copy of the reference\",1,unseen preset,harmonica,"));
}

TEST(Summary, QuotesInNamesAreDoubledInTheCsv) {
  Evaluation evaluation = judged().evaluation;
  evaluation.systems[0].name = "a\"b";
  EXPECT_THAT(clips_csv(evaluation), ::testing::HasSubstr("\n\"a\"\"b\",0,"));
}

TEST(Evaluation, NeedsSystemsAndClips) { EXPECT_THROW(evaluate({}, {}, {}, {}, {}), Error); }

}  // namespace
}  // namespace hum::eval
