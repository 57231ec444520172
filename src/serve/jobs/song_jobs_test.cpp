// Jobs on songs as a worker does them, with tiny weights that find stems and released instruments.
#include "serve/jobs/song_jobs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "app/separation/testing.h"
#include "audio/io.h"
#include "audio/notes.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/testing/refusal.h"
#include "data/synthesis/hum_voice.h"
#include "models/testing.h"
#include "serve/jobs/job_work.h"
#include "serve/jobs/source_format.h"
#include "serve/storage/test_jobs.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

using audio::AudioBuffer;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A singer in all channels.
AudioBuffer song(int channels = 2) {
  std::vector<audio::Note> notes;
  for (int i = 0; i < 5; ++i) {
    notes.push_back({.start_s = 0.2 + 0.6 * i, .end_s = 0.75 + 0.6 * i, .pitch = 57 + 2 * i});
  }
  auto voice = data::render_hum(notes, 3.1, 1, 3);
  for (float& sample : voice) sample *= 0.3F;
  return audio::widened(audio::resample({22050, 1, std::move(voice)}, 44100), channels);
}

class SongJob : public testing::RecordsTest {
 protected:
  static void SetUpTestSuite() {
    shared_.emplace();
    app::testing::write_tiny_spleeter(shared_->path() / "spleeter");
    models::write_tiny_separator(shared_->path() / "weights");
    models_ = std::make_shared<app::LoadedModels>("");
  }
  static void TearDownTestSuite() {
    models_.reset();
    shared_.reset();
  }

  // Queues a job on this song.
  void begin(Task task, Json options, const AudioBuffer& sound) {
    Upload upload = testing::some_upload();
    upload.seconds = sound.seconds();
    audio::write_audio(store_.aside() / "song.wav", sound, audio::SampleFormat::kFloat);
    store_.put(upload_key(upload.id), store_.aside() / "song.wav");
    records_.add_upload(upload, std::nullopt);
    JobRequest request{.id = new_id(), .task = task, .upload = upload.id};
    JobOptions parsed = parse_job_options(options, task);
    validate(parsed, request);
    request.options = hum::to_json(parsed);
    accept(records_, request);
  }
  // Does it. `step`: called for each report.
  Json work(const JobWork::Report& step = [](const JobWork::Step&) {}) {
    const auto claimed = records_.claim("w");
    lease_ = claimed->second;
    Estimates estimates(rates_);
    app::SharedStemModels stem_models(stem_models_);
    JobWork work(records_, store_, estimates, models_, stem_models, claimed->first, lease_, step);
    return work.run();
  }
  AudioBuffer result(const std::string& name) const {
    return audio::read_audio(*store_.find(result_key(lease_.job, name)));
  }
  static std::vector<std::string> names(const Json& results) {
    std::vector<std::string> names;
    for (const Json& result : results) names.push_back(result["name"]);
    return names;
  }

  FolderStore store_{scratch_.path() / "sounds"};
  SqliteRecords records_{file()};
  StageRates rates_;
  Lease lease_;
  app::StemModelOptions stem_models_{.weights = shared_->path() / "weights",
                                     .only_vocals = true,
                                     .spleeter = shared_->path() / "spleeter"};
  static inline std::optional<ScratchFolder> shared_;
  static inline std::shared_ptr<app::LoadedModels> models_;
};

TEST_F(SongJob, ASongIsSeparatedIntoStemsThatAddUp) {
  const AudioBuffer original = song();
  begin(Task::kSeparate, {{"bits", "float"}}, original);
  std::vector<std::string> stages;
  const Json results = work([&](const JobWork::Step& step) {
    if (stages.empty() || stages.back() != step.stage) stages.emplace_back(step.stage);
  });
  EXPECT_THAT(stages, ElementsAre("separate", "write"));
  EXPECT_THAT(names(results), ElementsAre("drums.wav", "bass.wav", "vocals.wav", "lead.wav",
                                          "chordal.wav", "other.wav"));
  std::vector<float> sum(original.samples.size());
  for (const Json& stem : results) {
    EXPECT_EQ(stem["type"], "audio/wav");
    EXPECT_NEAR(stem["seconds"].get<double>(), original.seconds(), 1e-6);
    const AudioBuffer sound = result(stem["name"]);
    EXPECT_EQ(sound.channels, 2);
    ASSERT_EQ(sound.samples.size(), sum.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += sound.samples[i];
  }
  for (size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(sum[i], original.samples[i], 1e-5);
}

TEST_F(SongJob, SpleeterAloneFindsTheVocalsAndTheRest) {
  stem_models_.weights = scratch_.path();
  begin(Task::kSeparate, {{"format", "flac"}}, song(1));
  EXPECT_THAT(names(work()), ElementsAre("vocals.flac", "rest.flac"));
  EXPECT_EQ(result("rest.flac").channels, 1);
  begin(Task::kSeparate, {{"stems", "bass,rest"}}, song());
  EXPECT_THAT(message_of([&] { work(); }), HasSubstr("no other stem than the vocals"));
}

TEST_F(SongJob, AStemIsPlayedInTheSong) {
  const AudioBuffer original = song();
  begin(Task::kRemix, {{"preset", "violin"}, {"stem", "vocals"}}, original);
  std::vector<std::string> stages;
  const Json results = work([&](const JobWork::Step& step) {
    if (stages.empty() || stages.back() != step.stage) stages.emplace_back(step.stage);
    if (step.stage == "play") {
      const Json heard = records_.any_job(lease_.job)->heard;
      EXPECT_GE(heard["notes"].size(), 4U) << "the notes are told as soon as they are heard";
    }
  });
  EXPECT_THAT(stages, ElementsAre("separate", "hear", "play", "write"));
  EXPECT_THAT(names(results), ElementsAre("remix.wav", "melody.mid", "melody.json"));
  const AudioBuffer mix = result("remix.wav");
  EXPECT_EQ(mix.channels, 2);
  EXPECT_EQ(mix.rate_hz, original.rate_hz);
  EXPECT_EQ(mix.frames(), original.frames());
  const auto notes = audio::read_notes(*store_.find(result_key(lease_.job, "melody.json")));
  EXPECT_EQ(notes.size(), records_.any_job(lease_.job)->heard["notes"].size());
}

TEST_F(SongJob, AnotherStemNeedsTheModelOfSix) {
  begin(Task::kRemix, {{"preset", "violin"}, {"stem", "lead"}, {"format", "mp3"}}, song());
  EXPECT_EQ(names(work())[0], "remix.mp3");
}

TEST_F(SongJob, StopsAndLeavesNothing) {
  for (const Task task : {Task::kSeparate, Task::kRemix}) {
    for (const char* last : {"separate", "write"}) {
      begin(task, {{"preset", "violin"}}, song());
      const auto stop = [&](const JobWork::Step& step) {
        if (step.stage == last) fail(ExitCode::kFailure, "the job was stopped");
      };
      EXPECT_THAT(message_of([&] { work(stop); }), HasSubstr("the job was stopped"));
      EXPECT_THAT(store_.list(job_prefix(lease_.job)), IsEmpty());
      EXPECT_TRUE(fs::is_empty(store_.aside()));
    }
  }
}

TEST_F(SongJob, AStemWithoutAMelodyIsTheJobsFault) {
  begin(Task::kRemix, {{"preset", "violin"}}, app::testing::noise(44100, 2, 88200, 0.02));
  std::string hint;
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_EQ(error.message(), "no melody was found in the stem vocals of the song");
    hint = error.hint();
  }
  EXPECT_THAT(hint, AllOf(HasSubstr(R"("task": "separate" lets you hear it; stem names another)"),
                          Not(HasSubstr("hum "))));
}

TEST(SongJobs, NeedRoomOnTheDisk) {
  const JobOptions all, two{.stems = "vocals,rest"};
  EXPECT_EQ(least_bytes(all, Task::kSeparate, 100, /*finds_six=*/true), 600);
  EXPECT_EQ(least_bytes(all, Task::kSeparate, 100, /*finds_six=*/false), 200);
  EXPECT_EQ(least_bytes(two, Task::kSeparate, 100, /*finds_six=*/true), 200);
  EXPECT_EQ(least_bytes(all, Task::kRemix, 100, /*finds_six=*/true), 200);
  const fs::space_info disk{.capacity = 1000, .free = 600, .available = 500};
  EXPECT_NO_THROW(require_room(500, disk));
  EXPECT_EQ(hum::testing::code_of([&] { require_room(501, disk); }), ExitCode::kCannotCreate)
      << "the job waits";
  EXPECT_EQ(hum::testing::code_of([&] { require_room(1001, disk); }), ExitCode::kUsage)
      << "the job fails";
}

TEST(SongOptions, AreCheckedByTheTask) {
  constexpr const char* kNone = "nothing was thrown";
  const auto refusal = [](Task task, Json options, JobRequest request = {}) {
    request.task = task;
    return message_of([&] { validate(parse_job_options(options, task), request); });
  };
  EXPECT_EQ(refusal(Task::kSeparate, Json::object()), kNone);
  EXPECT_EQ(refusal(Task::kRemix, {{"preset", "flute"}, {"gain", 3}}), kNone);
  EXPECT_EQ(refusal(Task::kRemix, Json::object(), {.timbre = "id"}), kNone);
  EXPECT_THAT(refusal(Task::kRemix, {{"preset", "flute"}, {"lm", true}, {"takes", 2}}),
              HasSubstr("one take"));
  EXPECT_THAT(refusal(Task::kRemix, {{"preset", "flute"}, {"stem", "rest"}}),
              HasSubstr("stem: there is no stem 'rest'"));
  EXPECT_THAT(refusal(Task::kRemix, {{"preset", "flute"}, {"gain", 99}}), HasSubstr("gain 99"));
  EXPECT_THAT(refusal(Task::kRemix, {{"preset", "flute"}}, {.backing = "id"}),
              HasSubstr("the task remix takes no backing"));
  EXPECT_THAT(refusal(Task::kSeparate, {{"takes", 2}}), HasSubstr("one take"));
  EXPECT_THAT(refusal(Task::kSeparate, Json::object(), {.timbre = "id"}), HasSubstr("neither"));
  EXPECT_THAT(refusal(Task::kSeparate, {{"stems", "bass,bass"}}), HasSubstr("stems names bass tw"));
  EXPECT_THAT(refusal(Task::kSeparate, {{"format", "ogg"}}), HasSubstr("wav, flac or mp3"));
  EXPECT_THAT(refusal(Task::kSeparate, {{"stereo", true}}), HasSubstr("rate and stereo"));
  const auto remix = parse_job_options(Json::object(), Task::kRemix);
  EXPECT_EQ(remix.hum.tuning, pipeline::Tuning::kOff) << "as in hum remix";
}

}  // namespace
}  // namespace hum::serve
