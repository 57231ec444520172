// hum data extract as a user runs it: several processes, killed ones, Ctrl-C, damaged shards.
#include <map>

#include "audio/io.h"
#include "base/json.h"
#include "base/postgres.h"
#include "base/testing/postgres_server.h"
#include "data/shards/manifest.h"
#include "data/shards/testing.h"
#include "data/synthesis/excitation.h"
#include "data/synthesis/timing.h"
#include "models/testing.h"
#include "tests/e2e/program.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Extract : public Program {
 protected:
  Extract() { models::write_tiny_weights(folder_ / "weights", "codec"); }

  // Recordings of one or two windows, each another melody.
  void write_music(int count) const {
    for (int i = 0; i < count; ++i) {
      const double seconds = i % 2 == 0 ? 4 : 8;
      std::vector<audio::Note> notes;
      for (int k = 0; 0.5 * k + 0.45 < seconds; ++k) {
        notes.push_back({0.5 * k, 0.5 * k + 0.45, 48 + i + 2 * (k % 5)});
      }
      const auto samples =
          data::render_excitation(notes, static_cast<int64_t>(seconds * data::kSampleRate));
      fs::create_directories(folder_ / "music");
      write_sound(fmt::format("music/{:02}.wav", i), samples, data::kSampleRate);
    }
  }
  Outcome shell(const std::string& line) const { return run_shell(line, {.folder = folder_}); }
  std::map<std::string, std::string> listed(const std::string& name) const {
    return data::files_of(folder_ / name);
  }
};

TEST_F(Extract, CountsVerifiesAndSaysWhatFailed) {
  write_music(2);
  write("music/words.wav", "no sound");
  write("music/memo.m4a", "of a format that is not extracted");
  const auto plan = shell("hum data extract music -o features --dry-run --json");
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(parse_json(plan.out).at("added"), 3);
  const auto done = shell("hum data extract music -o features --weights weights");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("3 recordings, 2 done, 1 failed; 3 windows of 6 s"),
                              HasSubstr("hum data extract status")));
  const auto status = shell("hum data extract status features");
  EXPECT_THAT(status.out, AllOf(HasSubstr("1 shard, "), HasSubstr("music/words.wav: ")));
  EXPECT_EQ(shell("hum data verify features").out, "features: 1 shard, 3 items, all intact\n");
  EXPECT_THAT(shell("hum data extract requeue --failed features").out,
              StartsWith("1 recording is waiting again"));
  const auto again = shell("hum data extract music -o features --weights weights --json");
  const Json report = parse_json(again.out);
  EXPECT_EQ(report.at("added"), 0);
  EXPECT_EQ(report.at("recordings").at("failed"), 1);
  EXPECT_EQ(report.at("extracted_seconds"), 0);
  EXPECT_THAT(shell("hum data extract gc features").out, StartsWith("0 files removed"));
}

TEST_F(Extract, NamesTheWayOutOfADamagedShard) {
  write_music(1);
  ASSERT_EQ(shell("hum data extract music -o features --weights weights").code, 0);
  const std::string shard = data::read_manifest(folder_ / "features").shards.at(0).name;
  fs::resize_file(folder_ / "features" / shard, 1000);
  expect_error(shell("hum data verify features"), 65, "1 of 1 shard is damaged",
               "hum data extract requeue --shard " + shard);
}

// Several processes at once, with another number of threads, and several that are killed leave what
// one undisturbed process does.
TEST_F(Extract, IsTheSameAfterKillsAndFromFourProcesses) {
  write_music(8);
  ASSERT_EQ(shell("HUM_THREADS=1 hum data extract music -o alone --weights weights").code, 0);
  const auto expected = listed("alone");
  EXPECT_EQ(expected.size(), 12U * 6U);
  const std::string extract = "hum data extract music --weights weights --batch 1 --lease 2 -o ";
  const auto together = shell(fmt::format(
      "export HUM_THREADS=2; for i in 1 2 3 4; do {0}four & done; wait; {0}four", extract));
  ASSERT_EQ(together.code, 0) << together.err;
  EXPECT_EQ(listed("four"), expected);
  const auto killed =
      shell(fmt::format("for s in 0.7 1.1 1.6 2.2; do timeout -s KILL $s {0}killed; done; "
                        "{0}killed & p=$!; sleep 1; {0}killed & sleep 1; kill -9 $p; wait; "
                        "{0}killed && hum data extract gc killed && hum data verify killed",
                        extract));
  ASSERT_EQ(killed.code, 0) << killed.err;
  EXPECT_EQ(listed("killed"), expected);
  int64_t shards = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "killed")) {
    shards += entry.path().extension() == ".tar" ? 1 : 0;
  }
  EXPECT_EQ(shards, std::ssize(data::read_manifest(folder_ / "killed").shards));
}

TEST_F(Extract, ResumesAfterCtrlC) {
  write_music(6);
  const std::vector<std::string> extract = {"data",      "extract",   path("music"),   "-o",
                                            path("new"), "--weights", path("weights"), "--batch",
                                            "1"};
  const auto stopped = run_hum(extract, {.interrupt_after_ms = 1500});
  if (stopped.code != 0) {
    EXPECT_EQ(stopped.code, 130) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("to resume, repeat the command"));
  }
  ASSERT_EQ(run_hum(extract).code, 0);
  EXPECT_EQ(data::read_manifest(folder_ / "new").items(), 9);
}

// The same with a table in PostgreSQL.
TEST_F(Extract, SharesADatabaseWithProcessesThatAreKilled) {
  write_music(8);
  ASSERT_EQ(shell("hum data extract music -o alone --weights weights").code, 0);
  const std::string url = hum::testing::PostgresServer::shared().new_database();
  Postgres database(url);
  database.run_script(shell("hum data extract --init-sql").out);
  database.query("CREATE TABLE recordings(id bigserial, location text)");
  for (const auto& file : fs::directory_iterator(folder_ / "music")) {
    database.query("INSERT INTO recordings(location) VALUES($1)", file.path().string());
  }
  const std::string extract = fmt::format(
      "hum data extract --from '{}' --weights weights --batch 1 --lease 2 -o features", url);
  const auto killed = shell(
      fmt::format("for s in 0.7 1.3 2; do timeout -s KILL $s {0}; done; {0} & p=$!; sleep 1; "
                  "{0} & sleep 1; kill -9 $p; wait; {0} && hum data extract gc --from '{1}' && "
                  "hum data verify features",
                  extract, url));
  ASSERT_EQ(killed.code, 0) << killed.err;
  EXPECT_EQ(listed("features"), listed("alone"));
  const auto status = shell(fmt::format("hum data extract status --json --from '{}'", url));
  const Json report = parse_json(status.out);
  EXPECT_EQ(report.at("recordings").at("done"), 8);
  EXPECT_EQ(report.at("folder"), path("features"));
  expect_error(shell("hum data extract status --from postgresql://u:hidden@localhost:1/x"), 75,
               "postgresql://localhost:1/x: ", "check that the server runs");
  expect_error(shell(fmt::format("{} --key-column nr", extract)), 2,
               "table recordings: has no column nr", "--key-column");
}

}  // namespace
}  // namespace hum::e2e
