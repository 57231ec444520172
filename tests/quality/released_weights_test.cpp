// The released weights held to floors: six test clips, judged like rows of `hum evaluate model
// --clips 6`. The floors are in tests/data; what is measured is printed, so that they can be
// raised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/evaluation/model_systems.h"
#include "app/evaluation/test_sounds.h"
#include "app/play/references.h"
#include "app/play/stored_residuals.h"
#include "app/session_options.h"
#include "base/env.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/json.h"
#include "base/quantile.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "data/synthesis/features.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/sine.h"
#include "data/synthesis/sound_fonts.h"
#include "data/synthesis/timing.h"
#include "eval/harness/evaluation.h"
#include "eval/metrics/timbre.h"
#include "pipeline/play.h"
#include "runtime/weights.h"

namespace hum::quality {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kClips = 6;

// How much worse than the stored figure a mean over the clips may be.
struct Held {
  std::string_view metric;
  double slack;
};
constexpr Held kHeld[] = {
    {"chroma", 0.02}, {"note_f1", 0.02}, {"mel_distance", 0.01}, {"timbre", 2}};

using Figures = std::map<std::string, double, std::less<>>;

constexpr std::string_view kDefaultPath = "hum", kLanguageModel = "plain decoder, true notes";

fs::path released() { return source_folder() / "weights"; }

double mean(std::span<const eval::Figures> clips, std::string_view metric) {
  double sum = 0;
  for (const auto& clip : clips) sum += clip[eval::metric_index(metric)];
  return sum / static_cast<double>(clips.size());
}

// Of a row of `hum evaluate model`.
Figures figures_of(const fs::path& weights, std::string_view row) {
  runtime::Session session(app::session_options());
  app::ModelSystems model(session, weights);
  const app::TestSounds sounds(weights, data::installed_path(data::find_sound_font("musescore")));
  const eval::TestSetOptions options{.clips = kClips};
  const auto systems = model.systems();
  const auto system = std::ranges::find(systems, row, &eval::System::name);
  HUM_REQUIRE(system != systems.end(), "there is no row '{}'", row);
  const auto make = [&](const eval::TestClipPlan& plan) {
    auto clip = eval::make_test_clip(plan, options, sounds.sources());
    model.prepare(clip);
    return clip;
  };
  const auto evaluation =
      eval::evaluate(eval::plan_test_set(options, sounds.sources()), make, std::span(&*system, 1),
                     {.transcribe = app::transcriber(session, {})}, {});
  Figures figures;
  for (const Held& held : kHeld) {
    figures.emplace(held.metric, mean(evaluation.systems[0].clips, held.metric));
  }
  return figures;
}

// Each figure that is worse than the stored one of its row by more than its slack; one that is not
// a number is worse.
std::vector<std::string> missed_floors(std::string_view row, const Figures& figures) {
  const Json stored = read_json(source_folder() / "tests/data/quality/released_weights.json");
  std::vector<std::string> missed;
  for (const auto& [metric, slack] : kHeld) {
    const double today = stored["figures"].at(std::string(row)).at(std::string(metric));
    const double measured = figures.find(metric)->second;
    const auto& kind = eval::metrics()[eval::metric_index(metric)];
    const double worse_by =
        kind.better == eval::Better::kHigher ? today - measured : measured - today;
    std::cout << fmt::format("{} {:.4f}, stored {:.4f}, may be worse by {}\n", metric, measured,
                             today, slack);
    if (!(worse_by <= slack)) missed.emplace_back(metric);
  }
  return missed;
}

// Writes the released weights to `folder`, with one tensor of one part set to zero.
void write_damaged(const ScratchFolder& folder, const std::string& part, std::string_view tensor) {
  write_file(folder / "builds_on", released().string());
  auto weights = runtime::read_weights(released() / part);
  const auto found =
      std::ranges::find(weights.tensors, tensor, &runtime::NamedTensors::value_type::first);
  HUM_REQUIRE(found != weights.tensors.end(), "{} has no {}", part, tensor);
  std::ranges::fill(found->second.bytes(), std::byte{0});
  runtime::write_weights(folder / part, weights);
}

// For tools/golden/released_weights.py.
void record(std::string_view row, const Figures& figures) {
  testing::Test::RecordProperty("row", std::string(row));
  for (const auto& [metric, figure] : figures) {
    testing::Test::RecordProperty(metric, fmt::format("{:.6f}", figure));
  }
}

TEST(ReleasedWeights, MeetTheirFloors) {
  const auto figures = figures_of(released(), kDefaultPath);
  record(kDefaultPath, figures);
  EXPECT_THAT(missed_floors(kDefaultPath, figures), IsEmpty());
}

// Coarse LM, upsampler, the codec's own decoder.
TEST(ReleasedWeights, MeetTheirFloorsThroughTheLanguageModel) {
  const auto figures = figures_of(released(), kLanguageModel);
  record(kLanguageModel, figures);
  EXPECT_THAT(missed_floors(kLanguageModel, figures), IsEmpty());
}

TEST(ReleasedWeights, MissTheirFloorsOnceATensorIsDamaged) {
  const ScratchFolder damaged;
  write_damaged(damaged, "voice", "head.weight");
  EXPECT_THAT(missed_floors(kDefaultPath, figures_of(damaged.path(), kDefaultPath)),
              Not(IsEmpty()));
}

// Plays test clips with timbres that are given as clips of sound.
class Player {
 public:
  Player() : plans_(eval::plan_test_set(options_, sounds_.sources())) {}

  size_t clips() const { return plans_.size(); }
  eval::TestClip clip(size_t i) const {
    return eval::make_test_clip(plans_[i], options_, sounds_.sources());
  }
  // With the correction of latents, and with that of bands.
  eval::Timbre play(const std::vector<audio::Note>& notes, app::TimbreClip timbre,
                    bool corrects_bands = true) {
    auto source = synthesizer_.clip_timbre({std::move(timbre)});
    if (!corrects_bands) source.sound.clear();
    return eval::timbre_of(pipeline::play(notes, synthesizer_.instrument(source, {}), 1),
                           data::kSampleRate);
  }

 private:
  runtime::Session session_{app::session_options()};
  app::Synthesizer synthesizer_{session_, released()};
  const app::TestSounds sounds_{released(),
                                data::installed_path(data::find_sound_font("musescore"))};
  const eval::TestSetOptions options_{.clips = kClips};
  const std::vector<eval::TestClipPlan> plans_;
};

TEST(ReleasedWeights, NearlyRestoreATimbreThatIsItsOwnReference) {
  Player player;
  double by_itself = 0, without_bands = 0, between_instruments = 0;
  std::vector<eval::Timbre> truths;
  for (size_t i = 0; i < player.clips(); ++i) {
    const auto clip = player.clip(i);
    truths.push_back(eval::timbre_of(clip.truth, data::kSampleRate));
    const auto distance = [&](bool corrects_bands) {
      const auto played = player.play(clip.notes, {clip.truth, clip.notes}, corrects_bands);
      return eval::timbre_distance(played, truths[i]);
    };
    by_itself += distance(true);
    without_bands += distance(false);
  }
  for (size_t i = 0; i < truths.size(); ++i) {
    between_instruments += eval::timbre_distance(truths[i], truths[(i + 1) % truths.size()]);
  }
  std::cout << fmt::format(
      "timbre distance {:.1f}, without bands {:.1f}, between instruments {:.1f}\n",
      by_itself / kClips, without_bands / kClips, between_instruments / kClips);
  EXPECT_LT(by_itself, 0.15 * between_instruments);
  EXPECT_LT(by_itself, 0.8 * without_bands);
}

// Nobody hears the polarity of a sound, but the codec's latents follow it.
TEST(ReleasedWeights, DoNotTakeTimbreFromThePolarityOfAReference) {
  Player player;
  const auto notes = player.clip(0).notes;
  double by_polarity = 0, between_instruments = 0;
  std::vector<eval::Timbre> played;
  for (size_t i = 0; i < player.clips(); ++i) {
    const auto clip = player.clip(i);
    auto turned = clip.truth;
    for (float& sample : turned) sample = -sample;
    played.push_back(player.play(notes, {clip.truth, clip.notes}));
    by_polarity += eval::timbre_distance(played[i], player.play(notes, {turned, clip.notes}));
  }
  for (size_t i = 0; i < played.size(); ++i) {
    between_instruments += eval::timbre_distance(played[i], played[(i + 1) % played.size()]);
  }
  std::cout << fmt::format("timbre distance by polarity {:.1f}, between instruments {:.1f}\n",
                           by_polarity / kClips, between_instruments / kClips);
  EXPECT_LT(by_polarity, 0.1 * between_instruments);
}

// 7 s, of which the models read 5, from within the first note on.
struct LongClip {
  static constexpr double kFrom_s = 1, kTo_s = 6, kSeconds = 7;
  std::vector<audio::Note> notes = {{.start_s = 0.2, .end_s = 1.8, .pitch = 60, .bends = {0, 3, 0}},
                                    {.start_s = 2, .end_s = 6.8, .pitch = 64}};
  std::vector<float> samples = data::render_sine(notes, std::llround(kSeconds* data::kSampleRate));
};

TEST(ReleasedWeights, ReadAPartOfALongReferenceWithTheAgesOfItsNotes) {
  runtime::Session session{app::session_options()};
  app::Synthesizer synthesizer(session, released());
  const LongClip clip;
  const auto read = synthesizer.clip_timbre({{.samples = clip.samples,
                                              .notes = clip.notes,
                                              .read_from_s = LongClip::kFrom_s,
                                              .read_to_s = LongClip::kTo_s}});
  const auto whole =
      data::melody_features(clip.notes, data::frame_of(LongClip::kTo_s), data::kAllMelodyFeatures);
  const auto first = data::frame_of(LongClip::kFrom_s) * data::kAllMelodyFeatures;
  EXPECT_EQ(read.reference.melody, std::vector(whole.begin() + first, whole.end()));
}

// The fall of a held note between 1 and 3.5 s after its onset at 0, in dB.
double late_fall_db(std::span<const float> samples) {
  const auto level_db = [&](double at_s) {
    const auto part = samples.subspan(static_cast<size_t>(at_s * data::kSampleRate),
                                      static_cast<size_t>(0.2 * data::kSampleRate));
    double power = 1e-9;
    for (const float x : part) power += x * x;
    return 10 * std::log10(power);
  };
  return level_db(1) - level_db(3.5);
}

TEST(ReleasedWeights, LetHeldNotesDieAwayAsTheSoundFontDoes) {
  runtime::Session session{app::session_options()};
  app::Synthesizer synthesizer(session, released());
  data::FluidRenderer font;
  const std::vector<audio::Note> held = {{.end_s = 4, .pitch = 60}};
  for (const char* name : {"acoustic-grand-piano", "nylon-guitar", "harp", "vibraphone",
                           "finger-bass", "violin", "trumpet", "drawbar-organ"}) {
    const data::Preset& preset = data::find_preset(name);
    std::vector<std::string> warnings;
    const auto instrument = synthesizer.instrument(synthesizer.preset_timbre(preset, warnings), {});
    const double fall = late_fall_db(pipeline::play(held, instrument, 1));
    const double truth = late_fall_db(font.render(held, preset.program, 5));
    std::cout << fmt::format("{}: {:.1f} dB, sound font {:.1f} dB\n", name, fall, truth);
    EXPECT_NEAR(fall, truth, 8) << name;
  }
}

TEST(ReleasedWeights, TakeNoCorrectionFromARecordingWithoutNotes) {
  runtime::Session session{app::session_options()};
  app::Synthesizer synthesizer(session, released());
  const LongClip clip;
  const app::TimbreClip heard{.samples = clip.samples, .notes = clip.notes};
  std::vector<float> noise(clip.samples.size());
  Rng rng(1, "noise");
  for (float& sample : noise) sample = static_cast<float>(0.1 * rng.normal());
  const app::TimbreClip unheard{.samples = noise, .notes = std::vector<audio::Note>()};
  const auto alone = synthesizer.clip_timbre({heard});
  const auto both = synthesizer.clip_timbre({unheard, heard, unheard});
  EXPECT_EQ(both.notes, alone.notes);
  EXPECT_EQ(both.sound, alone.sound);
  EXPECT_EQ(both.latents, alone.latents);
  EXPECT_NE(both.reference.latents, alone.reference.latents);
  EXPECT_FALSE(synthesizer.clip_timbre({unheard}).sound.empty());
}

TEST(ReleasedWeights, HaveTheResidualOfEachPreset) {
  constexpr int64_t kLatent = 64;
  const auto known = app::known_presets(released());
  EXPECT_THAT(known, Not(IsEmpty()));
  for (const data::Preset* preset : known) {
    EXPECT_NE(app::stored_residual(released(), *preset, kLatent), nullptr)
        << preset->name << ": hum data references --weights weights";
  }
}

// Of what follows the columns that describe each stretch. Shapes: [stretches, width].
double norm_of_residuals(std::span<const float> table, size_t width) {
  double sum = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    if (i % width >= models::humming::Residual::kTableColumns) sum += table[i] * table[i];
  }
  return std::sqrt(sum);
}

// Melody features, phases and drafts are still those that the stored residuals were made with. The
// processors that make and read them round differently.
TEST(ReleasedWeights, DraftTheResidualsThatAreStored) {
  runtime::Session session(app::session_options());
  app::Synthesizer synthesizer(session, released());
  std::vector<std::string> warnings;
  const data::Preset& preset = data::find_preset("violin");
  const auto timbre = synthesizer.preset_timbre(preset, warnings);
  const auto drafted = synthesizer.residual(timbre)->table();
  const int64_t latent = synthesizer.humming().common().latent;
  const auto stored = app::stored_residual(released(), preset, latent);
  ASSERT_NE(stored, nullptr);
  auto difference = stored->table();
  ASSERT_EQ(difference.size(), drafted.size());
  const size_t columns = models::humming::Residual::kTableColumns;
  const size_t width = columns + static_cast<size_t>(latent);
  for (size_t i = 0; i < drafted.size(); ++i) {
    difference[i] -= drafted[i];
    if (i % width >= columns) continue;
    EXPECT_NEAR(difference[i], 0, 1e-3) << "phase, pitch or frames";
  }
  EXPECT_LT(norm_of_residuals(difference, width), 0.05 * norm_of_residuals(drafted, width));
}

}  // namespace
}  // namespace hum::quality
