// Songs from an upload to stems and remixes, with tiny weights of Spleeter and released
// instruments.
#include <cstdlib>

#include "app/separation/testing.h"
#include "audio/io.h"
#include "base/files.h"
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

namespace fs = std::filesystem;

class SongService : public ServiceTest {
 protected:
  void start_with_spleeter() {
    app::testing::write_tiny_spleeter(scratch_.path() / "wheels/spleeter");
    ::setenv("HUM_THIRD_PARTY", (scratch_ / "wheels").c_str(), 1);
    start();
    ::unsetenv("HUM_THIRD_PARTY");
    wait_until_ready();
  }
  // The example, in stereo, so many times.
  std::string upload_song(int times = 1) const {
    auto song = audio::widened(audio::read_audio(example_recording()), 2);
    const auto once = song.samples;
    for (int i = 1; i < times; ++i) {
      song.samples.insert(song.samples.end(), once.begin(), once.end());
    }
    audio::write_audio(scratch_.path() / "song.wav", song);
    return upload(scratch_.path() / "song.wav", "song");
  }
};

TEST_F(SongService, ASongIsSeparatedAndOneStemPlayed) {
  start_with_spleeter();
  const std::string song = upload_song();
  const std::string stems =
      begin({{"upload", song}, {"task", "separate"}, {"options", {{"stems", "vocals,rest"}}}});
  const std::string remix = begin(
      {{"upload", song}, {"task", "remix"}, {"options", {{"preset", "violin"}, {"keep", true}}}});
  const Json separated = finish(stems);
  ASSERT_EQ(separated["status"], "done") << to_text(separated);
  ASSERT_EQ(separated["results"].size(), 2U);
  EXPECT_EQ(separated["results"][0]["name"], "vocals.wav");
  EXPECT_EQ(separated["results"][1]["name"], "rest.wav");
  EXPECT_EQ(result(stems, "rest.flac").substr(0, 4), "fLaC");
  const Json played = finish(remix);
  ASSERT_EQ(played["status"], "done") << to_text(played);
  EXPECT_EQ(played["results"][0]["name"], "remix.wav");
  EXPECT_GT(played["notes"]["notes"].size(), 5U);
  EXPECT_EQ(result(remix, "melody.mid").substr(0, 4), "MThd");
  EXPECT_EQ(result(remix, "remix.wav").size(), result(stems, "vocals.wav").size())
      << "both are as long as the song, and stereo";
}

TEST_F(SongService, ARemovedJobLeavesNothing) {
  start_with_spleeter();
  const std::string song = upload_song(/*times=*/12);
  const std::string id = begin({{"upload", song}, {"task", "separate"}});
  wait_for_stage(id, "separate");
  EXPECT_EQ(ask("DELETE", "/v1/jobs/" + id).status, 204);
  EXPECT_EQ(ask("DELETE", "/v1/uploads/" + song).status, 204);
  const auto is_gone = [&] {
    for (const auto& entry : fs::recursive_directory_iterator(data_ / "sounds")) {
      if (entry.is_regular_file()) return false;
    }
    return true;
  };
  EXPECT_TRUE(eventually(is_gone));
}

}  // namespace
}  // namespace hum::serve
