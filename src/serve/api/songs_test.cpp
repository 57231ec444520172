// Songs that come in: what they become, and what is refused.
#include <gmock/gmock.h>

#include "app/separation/testing.h"
#include "models/testing.h"
#include "serve/api/test_api.h"

namespace hum::serve {
namespace {

using testing::Answer;
using testing::ApiTest;
using testing::Form;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kForm;
using testing::kNotes;
using testing::TestClient;
using testing::wav_of;

std::string song(int channels = 2, int64_t frames = 44100) {
  return wav_of(app::testing::noise(44100, channels, frames));
}

// A server without models that find stems, until a test installs some.
class SongApi : public ApiTest {
 protected:
  SongApi() {
    std::filesystem::create_directories(weights_);
    Router router;
    songs_.add_routes(router);
    song_server_ = std::make_unique<HttpServer>(ServerOptions{.spool_folder = store_.aside()},
                                                std::move(router));
  }
  void install_spleeter() { app::testing::write_tiny_spleeter(spleeter_); }
  void install_separator() { models::write_tiny_separator(weights_); }

  Answer send(const std::string& target, const Form& form) const {
    return TestClient(song_server_->port()).ask("POST", target, kForm, form.whole());
  }
  Answer begin(const std::string& task, const std::string& options,
               const std::string& sound = song()) const {
    return send("/v1/jobs", Form().add("@audio", sound).add("task", task).add("options", options));
  }
  // The upload of a job that was accepted.
  audio::AudioBuffer stored(const Answer& answer) {
    EXPECT_EQ(answer.status, 202) << answer.body;
    const auto job = records_.any_job(parse_json(answer.body)["id"]);
    return audio::read_audio(*store_.find(upload_key(job->request.upload)));
  }
  void expect_nothing_left() {
    EXPECT_EQ(records_.counts().queued, 0);
    EXPECT_EQ(records_.counts().uploads, 0);
    EXPECT_THAT(store_.list("uploads"), IsEmpty());
    EXPECT_THAT(store_.list("aside"), IsEmpty());
  }

  const std::filesystem::path weights_ = scratch_.path() / "weights";
  const std::filesystem::path spleeter_ = scratch_.path() / "spleeter";
  Api songs_{records_,
             store_,
             events_,
             {.max_seconds = 3, .weights = weights_.string(), .spleeter = spleeter_}};
  std::unique_ptr<HttpServer> song_server_;
};

TEST_F(SongApi, ASongKeepsItsTwoChannels) {
  install_spleeter();
  const auto separated = stored(begin("separate", "{}"));
  EXPECT_EQ(separated.channels, 2);
  EXPECT_EQ(separated.rate_hz, 44100);
  EXPECT_EQ(separated.frames(), 44100);
  EXPECT_EQ(stored(begin("remix", R"({"preset": "flute"})")).channels, 2);
  EXPECT_EQ(stored(begin("separate", "{}", song(1))).channels, 1);
  const std::string violin = R"({"preset": "violin"})";
  EXPECT_EQ(stored(begin("generate", violin)).channels, 1) << "a hum is heard in mono";
}

TEST_F(SongApi, AnUploadOfASongServesSeveralJobs) {
  install_spleeter();
  const Answer sent = send("/v1/uploads", Form().add("@song", song()));
  ASSERT_EQ(sent.status, 201) << sent.body;
  const std::string id = parse_json(sent.body)["id"];
  EXPECT_EQ(audio::read_audio(*store_.find(upload_key(id))).channels, 2);
  for (const char* task : {"separate", "remix"}) {
    const Json body = {{"upload", id}, {"task", task}, {"options", {{"preset", "flute"}}}};
    TestClient client(song_server_->port());
    EXPECT_EQ(client.ask("POST", "/v1/jobs", testing::kJson, body.dump()).status, 202);
  }
}

TEST_F(SongApi, HostileSongsAreRefusedAndLeaveNothing) {
  install_spleeter();
  const auto refused = [&](const std::string& sound, const char* why) {
    for (const char* task : {"separate", "remix"}) {
      expect_problem(begin(task, R"({"preset": "flute"})", sound), 422, why);
    }
    expect_problem(send("/v1/uploads", Form().add("@song", sound)), 422, why);
  };
  refused(wav_of({44100, 2, std::vector<float>(88200)}), "the song is silent");
  refused(song(2, 1), "the song is only 0.00 s long");
  refused(song(2, 44100 * 4), "4.0 s long, the limit is 3 s");
  refused("RIFF nonsense", "the song");
  expect_nothing_left();
  const auto eight = stored(begin("separate", "{}", song(8)));
  EXPECT_EQ(eight.channels, 1) << "more channels than two are mixed";
  EXPECT_EQ(eight.frames(), 44100);
}

TEST_F(SongApi, WithoutItsModelAJobIsRefusedWithWhatCanBeDone) {
  const std::string flute = R"({"preset": "flute"})";
  const std::string lead = R"({"preset": "flute", "stem": "lead"})";
  expect_problem(begin("separate", "{}"), 422, "no model that finds the stems");
  expect_problem(begin("remix", flute), 422, "make fetch-spleeter");
  install_spleeter();
  expect_problem(begin("remix", lead), 422, "no other stem than the vocals and the rest");
  expect_problem(begin("separate", R"({"stems": "drums,rest"})"), 422, "hum train separator");
  expect_nothing_left();
  EXPECT_EQ(begin("separate", R"({"stems": "vocals,rest"})").status, 202);
  EXPECT_EQ(begin("remix", flute).status, 202);
  install_separator();
  EXPECT_EQ(begin("remix", lead).status, 202);
  EXPECT_EQ(begin("separate", R"({"stems": "drums,rest"})").status, 202);
}

TEST_F(SongApi, TheStemsAreThoseOfTheInstalledModels) {
  const auto stems = [&] {
    return parse_json(TestClient(song_server_->port()).ask("GET", "/v1/stems").body)["stems"];
  };
  EXPECT_EQ(stems(), Json::array());
  install_spleeter();
  EXPECT_EQ(stems(), (Json{"vocals", "rest"}));
  install_separator();
  EXPECT_EQ(stems(), (Json{"drums", "bass", "vocals", "lead", "chordal", "other"}));
}

TEST_F(SongApi, WrongOptionsAreNamed) {
  install_separator();
  expect_problem(begin("remix", "{}"), 422, "neither the option preset nor a timbre");
  expect_problem(begin("remix", R"({"preset": "flute", "stem": "drums"})"), 422, "no melody");
  expect_problem(begin("separate", R"({"stems": "vocal"})"), 422, "did you mean 'vocals'?");
  const Answer notes =
      send("/v1/jobs", Form().add("@audio", song()).add("task", "separate").add("notes", kNotes));
  expect_problem(notes, 422, "the task separate takes no notes");
  expect_nothing_left();
}

}  // namespace
}  // namespace hum::serve
