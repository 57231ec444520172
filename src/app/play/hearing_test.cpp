// The ear of the weights hears one voice, Basic Pitch several.
#include "app/play/hearing.h"

#include <gmock/gmock.h>

#include "app/play/synthesizer.h"
#include "base/error.h"
#include "base/scratch_folder.h"
#include "data/synthesis/hum_voice.h"
#include "data/synthesis/level.h"
#include "models/basic_pitch/transcriber.h"
#include "models/ear/ear_session.h"
#include "models/ear/notes.h"
#include "models/testing.h"
#include "runtime/testing.h"

namespace hum::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<float> hum() {
  return data::render_hum(
      std::vector<audio::Note>{{0.2, 0.7, 57, 0.63, {}}, {0.7, 1.2, 60, 0.63, {}}}, 1.5, 1, 3);
}

TEST(Hearing, OfAVoiceIsThatOfTheEar) {
  const ScratchFolder weights;
  models::write_tiny_weights(weights.path(), "ear");
  auto& session = runtime::test_session();
  const auto sound = hum();
  const auto heard = hear_function(session, weights.path())(sound);
  EXPECT_EQ(heard.heard_by, "ear");
  EXPECT_TRUE(heard.tuning_cents.has_value());
  EXPECT_TRUE(heard.voiced_share.has_value());

  const models::ear::EarSession ear(session, weights.path() / "ear");
  const auto frames = ear.listen(data::levelled(sound));
  EXPECT_EQ(heard.notes,
            data::velocity_from_rms(sound, models::ear::played_notes(frames, decode(frames))));
  EXPECT_THAT(item_heard_by(weights.path()), StartsWith("ear "));
}

TEST(Hearing, OfAVoiceNeedsAnEar) {
  const ScratchFolder weights;
  try {
    hear_function(runtime::test_session(), weights.path());
    FAIL() << "heard without an ear";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoInput);
    EXPECT_THAT(error.message(), HasSubstr(weights.path().string()));
    EXPECT_THAT(error.hint(), HasSubstr("hum train ear"));
  }
}

TEST(Hearing, OfAVoiceCanKeepItsTuning) {
  const ScratchFolder weights;
  models::write_tiny_weights(weights.path(), "ear");
  const auto heard = hear_function(runtime::test_session(), weights.path(), {},
                                   {.tuning = pipeline::Tuning::kOff})(hum());
  EXPECT_EQ(heard.heard_by, "ear");
  EXPECT_EQ(heard.tuning_cents, std::nullopt);
}

TEST(Hearing, OfOneSessionIsByOneModel) {
  runtime::Session session;
  const auto programs = [&] {
    return session.counters().compiles + session.counters().memory_hits;
  };
  const auto hear = hear_function(session, {}, {}, {.polyphonic = true});
  EXPECT_EQ(programs(), 1);
  const auto notes = transcriber(session, {.onset_threshold = 0.3})(hum());
  EXPECT_EQ(programs(), 1);
  EXPECT_EQ(notes,
            models::basic_pitch::Transcriber(session).notes(hum(), {.onset_threshold = 0.3}));
}

TEST(Hearing, OfSeveralNotesAtATimeIsThatOfBasicPitchAndNeedsNoEar) {
  auto& session = runtime::test_session();
  const auto sound = hum();
  const auto heard = hear_function(session, {}, {}, {.polyphonic = true})(sound);
  EXPECT_EQ(heard.heard_by, "basic-pitch");
  EXPECT_TRUE(heard.tuning_cents.has_value());
  const auto untuned =
      hear_function(session, {}, {}, {.polyphonic = true, .tuning = pipeline::Tuning::kOff})(sound);
  EXPECT_EQ(untuned.tuning_cents, std::nullopt);
  EXPECT_EQ(untuned.notes, transcriber(session, {})(sound));
}

TEST(Hearing, NeedsWholeWeightsOfTheEar) {
  const ScratchFolder weights;
  models::write_tiny_weights(weights.path(), "ear");
  std::filesystem::remove(weights.path() / "ear" / "model.safetensors");
  EXPECT_THROW(hear_function(runtime::test_session(), weights.path()), Error);
}

}  // namespace
}  // namespace hum::app
