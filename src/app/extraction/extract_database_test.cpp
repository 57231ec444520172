// hum data extract --from: recordings that a PostgreSQL table names become the same features as
// those of a folder.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "app/extraction/extract.h"
#include "app/extraction/postgres_table.h"
#include "app/extraction/shard_store.h"
#include "app/extraction/test_recordings.h"
#include "audio/io.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/testing/postgres_server.h"
#include "base/testing/refusal.h"
#include "data/shards/item_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using hum::testing::code_of;
using hum::testing::message_of;
using hum::testing::PostgresServer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExtractFromDatabase : public ExtractionTest {
 protected:
  ExtractFromDatabase() {
    database_.query(
        "CREATE TABLE recordings(id text PRIMARY KEY, location text, mono text, licence text, "
        "outcome text)");
  }

  std::string path(const std::string& name) const {
    return (folder_.path() / "music" / name).string();
  }
  // A file with a row of the table.
  void write(const std::string& name, const std::vector<float>& samples) {
    audio::write_audio(path(name), {data::kSampleRate, 1, samples}, audio::SampleFormat::kFloat);
    add_row(name, path(name));
  }
  void add_row(const std::string& key, const std::optional<std::string>& location) {
    database_.query("INSERT INTO recordings(id, location) VALUES($1, $2)", key, location);
  }
  ExtractOptions options(const std::string& output = "features") const {
    return {.database = {.from = url_},
            .init = true,
            .output = folder_ / output,
            .weights = folder_.path()};
  }
  std::string outcome(const std::string& key) {
    return database_.query("SELECT coalesce(outcome, '') FROM recordings WHERE id = $1", key)
        .text(0, 0);
  }

  const std::string url_ = PostgresServer::shared().new_database();
  Postgres database_{url_};
};

TEST_F(ExtractFromDatabase, MakesTheFeaturesOfAFolder) {
  write("low.wav", scale(48, 8));
  write("high.wav", scale(72, 12));
  ExtractOptions from_table = options();
  from_table.source.write_back = "outcome";
  const auto done = extract(from_table);
  EXPECT_EQ(done.found, 2);
  EXPECT_EQ(done.added, 2);
  EXPECT_EQ(done.counts.done, 2);
  EXPECT_EQ(done.counts.windows.kept, 4);
  EXPECT_EQ(outcome("low.wav"), "done");
  extract({.inputs = {folder_ / "music"},
           .output = folder_ / "from-folder",
           .weights = folder_.path()});
  EXPECT_EQ(files_of(folder_ / "features"), files_of(folder_ / "from-folder"));
  EXPECT_TRUE(data::verify_shards(folder_ / "features", 1).empty());

  write("new.wav", scale(60, 3));
  EXPECT_EQ(extract(from_table).added, 1);
  EXPECT_EQ(extract(from_table).added, 0);
  const auto status = extraction_status("", {.from = url_});
  EXPECT_EQ(status.folder, folder_ / "features");
  EXPECT_EQ(status.counts.done, 3);
  EXPECT_EQ(status.shards, 2);
}

TEST_F(ExtractFromDatabase, SetsAsideWhatItCannotRead) {
  write("low.wav", scale(48, 3));
  add_row("a", std::nullopt);
  add_row("b", "https://user:hidden@example.org/a.wav");
  add_row("c", "music/low.wav");
  add_row("d", "/nowhere.wav");
  add_row("e", "/dev/zero");
  add_row("f", path("low.wav"));
  const auto done = extract(options());
  EXPECT_EQ(done.counts.done, 1);
  EXPECT_EQ(done.counts.failed, 5);
  EXPECT_EQ(done.counts.duplicate, 1);
  std::vector<std::string> reasons;
  for (const auto& recording : extraction_status("", {.from = url_}).set_aside) {
    reasons.push_back(recording.reason);
  }
  EXPECT_THAT(reasons, ElementsAre(HasSubstr("has no location"),
                                   AllOf(HasSubstr("locations https://... are not read"),
                                         Not(HasSubstr("hidden"))),
                                   HasSubstr("not an absolute path"), HasSubstr("/nowhere.wav"),
                                   HasSubstr("is not a file")));
  EXPECT_THAT(extraction_text(options(), done),
              AllOf(HasSubstr("hum data extract status --from 'postgresql:///"),
                    HasSubstr("--job 'recordings'")));
  // Mended rows are read anew.
  fs::copy(path("low.wav"), folder_.path() / "other.wav");
  database_.query("UPDATE recordings SET location = $1 WHERE id = 'd'", folder_ / "other.wav");
  EXPECT_EQ(requeue("", true, "", {.from = url_}), 5);
  EXPECT_EQ(extract(options()).counts.failed, 4);
}

TEST_F(ExtractFromDatabase, HearsAndEncodesTheMonoReference) {
  write("mix.wav", scale(48, 6));
  audio::write_audio(path("voice.wav"), {data::kSampleRate, 1, scale(72, 5)},
                     audio::SampleFormat::kFloat);
  extract(options("plain"));
  database_.query("UPDATE recordings SET mono = $1, licence = 'CC0'", path("voice.wav"));
  ExtractOptions with = options("with");
  with.database.job = "with";
  with.source.reference_column = "mono";
  with.source.licence_column = "licence";
  EXPECT_EQ(extract(with).counts.windows.kept, 1);
  const data::ItemFolder plain(folder_ / "plain"), other(folder_ / "with");
  EXPECT_TRUE(std::ranges::equal(other[0].stereo_codes, plain[0].stereo_codes));
  EXPECT_FALSE(std::ranges::equal(other[0].mono_codes, plain[0].mono_codes));
  EXPECT_GT(other[0].notes().melody.at(0).pitch, plain[0].notes().melody.at(0).pitch);
  EXPECT_EQ(other[0].meta().at("licence"), "CC0");
  EXPECT_EQ(other[0].meta().at("mono_reference"), sha256_file(path("voice.wav")));
  EXPECT_FALSE(plain[0].meta().contains("licence"));
  database_.query("UPDATE recordings SET mono = '/nowhere.wav'");
  with.database.job = "third";
  with.output = folder_ / "third";
  extract(with);
  EXPECT_THAT(extraction_status("", with.database).set_aside.at(0).reason,
              HasSubstr("its mono reference: /nowhere.wav"));
}

// A process that ends between announcing its shard and listing it.
TEST_F(ExtractFromDatabase, LosesAndRepeatsNothingAfterAProcessEnded) {
  write("low.wav", scale(48, 8));
  write("high.wav", scale(72, 3));
  extract(options("undisturbed"));
  const Json made_with = [&] {
    return PostgresTable(Postgres(url_), {}, /*lease_s=*/30).options();
  }();
  ExtractOptions again = options();
  again.database.job = "again";
  const fs::path folder = again.output;
  fs::create_directories(folder);
  {
    PostgresTable dead(Postgres(url_), {.name = "again", .made_with = made_with, .output = folder},
                       /*lease_s=*/0);
    dead.sync({});
    const Claim claim = dead.claim(1);
    const std::string archive = "half of a shard";
    const auto entry = shard_entry(archive, 1);
    ASSERT_TRUE(dead.announce(claim.lease, entry.name));
    FolderStore(folder).put(entry, archive);
  }
  EXPECT_EQ(extract(again).counts.done, 2);
  EXPECT_EQ(files_of(folder), files_of(folder_ / "undisturbed"));
  EXPECT_EQ(collect_garbage("", again.database).files, 1);
  EXPECT_EQ(collect_garbage("", again.database).files, 0);
  const std::string shard = data::read_manifest(folder).shards.at(0).name;
  fs::resize_file(folder / shard, 100);
  EXPECT_GT(requeue("", false, shard, again.database), 0);
  extract(again);
  EXPECT_TRUE(data::verify_shards(folder, 1).empty());
  EXPECT_EQ(files_of(folder), files_of(folder_ / "undisturbed"));
}

// The shared folder is not mounted on this host, or another one is.
TEST_F(ExtractFromDatabase, RefusesAFolderWithoutTheMarkOfItsJob) {
  write("low.wav", scale(48, 3));
  extract(options());
  const fs::path folder = options().output, mounted = folder_ / "mounted";
  const std::string mark = read_file(folder / kMarkFile);
  EXPECT_EQ(mark.size(), 37U);  // a UUID
  const std::string shard = data::read_manifest(folder).shards.at(0).name;
  const auto all_refuse = [&](ExitCode code, const std::string& reason) {
    for (const std::function<void()>& command : std::initializer_list<std::function<void()>>{
             [&] { extract(options()); }, [&] { requeue("", false, shard, {.from = url_}); },
             [&] { collect_garbage("", {.from = url_}); }}) {
      EXPECT_EQ(code_of(command), code);
      EXPECT_THAT(message_of(command), HasSubstr(reason));
    }
  };
  fs::rename(folder, mounted);
  EXPECT_THAT(message_of([&] { extract(options()); }), HasSubstr("mount the shared folder"));
  EXPECT_FALSE(fs::exists(folder));
  fs::create_directories(folder);
  all_refuse(ExitCode::kNoInput, "mount the shared folder");
  write_file(folder / kMarkFile, "of another\n");
  all_refuse(ExitCode::kUsage, "holds the shards of another job (of another)");
  fs::remove_all(folder);
  fs::rename(mounted, folder);
  EXPECT_EQ(extract(options()).counts.done, 1);
  EXPECT_EQ(requeue("", false, shard, {.from = url_}), 1);
}

// A process that ended after it had marked the folder, but before it had said so.
TEST_F(ExtractFromDatabase, FindsItsMarkAgain) {
  write("low.wav", scale(48, 3));
  extract(options());
  const std::string mark = read_file(folder_ / "features/hum-job");
  database_.query("UPDATE hum.jobs SET is_marked = false");
  EXPECT_EQ(extract(options()).counts.done, 1);
  EXPECT_EQ(read_file(folder_ / "features/hum-job"), mark);
  database_.query("UPDATE hum.jobs SET is_marked = false");
  fs::remove(folder_ / "features/hum-job");
  extract(options());
  EXPECT_EQ(read_file(folder_ / "features/hum-job"), mark);
}

TEST_F(ExtractFromDatabase, CountsInADryRunAndWritesNothing) {
  write("low.wav", scale(48, 3));
  ExtractOptions plan = options();
  plan.dry_run = true;
  EXPECT_EQ(extract(plan).added, 1);
  EXPECT_FALSE(fs::exists(plan.output));
  EXPECT_THAT(message_of([&] { require_postgres_schema(database_); }), HasSubstr("--init"));
  extract(options());
  write("high.wav", scale(72, 3));
  EXPECT_EQ(extract(plan).found, 2);
  EXPECT_EQ(extract(plan).added, 1);
  EXPECT_EQ(extract(plan).counts.done, 1);
}

TEST_F(ExtractFromDatabase, RefusesWhatItCannotDo) {
  ExtractOptions wrong = options();
  wrong.init = false;
  EXPECT_THAT(message_of([&] { extract(wrong); }), HasSubstr("--init"));
  wrong.inputs = {folder_ / "music"};
  EXPECT_THAT(message_of([&] { extract(wrong); }), HasSubstr("not both"));
  for (const auto& [flag, set] :
       std::initializer_list<std::pair<std::string, std::function<void(ExtractOptions&)>>>{
           {"table", [](auto& given) { given.source.table = "x"; }},
           {"key-column", [](auto& given) { given.source.key_column = "x"; }},
           {"location-column", [](auto& given) { given.source.location_column = "x"; }},
           {"reference-column", [](auto& given) { given.source.reference_column = "x"; }},
           {"licence-column", [](auto& given) { given.source.licence_column = "x"; }},
           {"priority-column", [](auto& given) { given.source.priority_column = "x"; }},
           {"write-back", [](auto& given) { given.source.write_back = "x"; }},
           {"job", [](auto& given) { given.database.job = "x"; }},
           {"init", [](auto& given) { given.init = true; }}}) {
    ExtractOptions of_folder{.inputs = {folder_ / "music"}};
    set(of_folder);
    EXPECT_THAT(message_of([&] { extract(of_folder); }),
                AllOf(HasSubstr("--" + flag + " is for a database"), HasSubstr("--from")));
    EXPECT_EQ(code_of([&] { extract(of_folder); }), ExitCode::kUsage);
  }
  EXPECT_THAT(message_of([&] { extraction_status("features", {.job = "x"}); }),
              HasSubstr("--job is for a database"));
  ExtractOptions recursive = options();
  recursive.recursive = true;
  EXPECT_THAT(message_of([&] { extract(recursive); }), HasSubstr("--recursive"));
  EXPECT_EQ(code_of([&] { extraction_status("", {}); }), ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { extraction_status("features", {.from = url_}); }), ExitCode::kUsage);
  create_postgres_schema(database_);
  EXPECT_EQ(code_of([&] { extraction_status("", {.from = url_}); }), ExitCode::kNoInput);
  add_row("a", "/a.wav");
  database_.query("ALTER TABLE recordings ADD COLUMN short varchar(4)");
  ExtractOptions too_short = options();
  too_short.source.write_back = "short";
  EXPECT_THAT(message_of([&] { extract(too_short); }), HasSubstr("--write-back"));
  EXPECT_FALSE(fs::exists(too_short.output));
  fs::create_directories(folder_.path() / "rendered");
  write_file(folder_.path() / "rendered/shards.json", "{}");
  EXPECT_THAT(message_of([&] { extract(options("rendered")); }),
              HasSubstr("holds other training items"));
  // A URL in the place of a path is not shown, because of its password.
  const std::string url = "postgresql://user:hidden@localhost/x";
  EXPECT_THAT(message_of([&] { extract({.inputs = {url}}); }),
              AllOf(HasSubstr("--from"), Not(HasSubstr("hidden"))));
  EXPECT_THAT(message_of([&] { extraction_status(url); }),
              AllOf(HasSubstr("--from"), Not(HasSubstr("hidden"))));
}

}  // namespace
}  // namespace hum::app
