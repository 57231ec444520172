// Jobs of different length beside each other.
#include "tests/serve/service.h"

namespace hum::serve {
namespace {

// A melody of notes of one second.
Json melody(int seconds) {
  Json notes = Json::array();
  for (int i = 0; i < seconds; ++i) {
    notes.push_back({{"start", i}, {"end", i + 0.9}, {"pitch", 60 + i % 12}});
  }
  return notes;
}

Json request(int seconds, bool lm = false) {
  return {{"notes", melody(seconds)}, {"options", {{"preset", "violin"}, {"lm", lm}}}};
}

TEST_F(ServiceTest, ShortJobsPassJobsOfTenMinutesWhichGoOnNevertheless) {
  start();
  wait_until_ready();
  // The language model takes minutes for them: they outlast all the short ones.
  const Json long_one = request(600, /*lm=*/true);
  const std::string song = begin(long_one), other_song = begin(long_one);
  ASSERT_TRUE(wait_for_stage(song, "play"));
  const double before = job(song)["progress"];
  std::vector<std::string> short_ones;
  for (int i = 0; i < 10; ++i) short_ones.push_back(begin(request(2)));
  for (const std::string& id : short_ones) EXPECT_EQ(finish(id)["status"], "done");
  const auto has_gone_on = [&] { return job(song)["progress"] > before; };
  for (int more = 0; more < 100 && !has_gone_on(); ++more) finish(begin(request(2)));
  EXPECT_TRUE(has_gone_on()) << "short ones took all turns";
  EXPECT_EQ(job(song)["status"], "running");
  EXPECT_EQ(job(other_song)["status"], "queued") << "it would take the place of short ones";
  for (const std::string& id : {song, other_song}) {
    EXPECT_EQ(ask("DELETE", "/v1/jobs/" + id).status, 204);
  }
  EXPECT_EQ(finish(begin(request(2)))["status"], "done");
}

}  // namespace
}  // namespace hum::serve
