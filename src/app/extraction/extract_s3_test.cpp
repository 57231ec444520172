// hum data extract --from ... -o s3://bucket/prefix: the same features, in a bucket.
#include <gmock/gmock.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "app/extraction/extract.h"
#include "app/extraction/s3_store.h"
#include "app/extraction/test_recordings.h"
#include "audio/io.h"
#include "base/files.h"
#include "base/postgres.h"
#include "base/testing/postgres_server.h"
#include "base/testing/refusal.h"
#include "base/testing/s3_server.h"
#include "base/testing/seaweed_server.h"
#include "data/shards/item_folder.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using hum::testing::code_of;
using hum::testing::message_of;
using hum::testing::PostgresServer;
using hum::testing::S3Server;
using hum::testing::SeaweedServer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kBucket = "hum-test";

struct ServerNames {
  template <class Server>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Server, S3Server> ? "InProcess" : "SeaweedFs";
  }
};
using AllServers = ::testing::Types<S3Server, SeaweedServer>;

template <class Server>
class AnyS3Store : public ::testing::Test {
 protected:
  Server server_;
  const S3Bucket bucket_{server_.options(), kBucket};
};
TYPED_TEST_SUITE(AnyS3Store, AllServers, ServerNames);

TYPED_TEST(AnyS3Store, StoresWholeShardsOrReplacesThem) {
  const S3Bucket& bucket = this->bucket_;
  S3Store store("s3://hum-test/some/features", this->server_.options());
  const std::string archive(10'000, 'a');
  const auto entry = shard_entry(archive, 1);
  const std::string key = "some/features/" + entry.name;
  store.put(entry, archive);
  store.put(entry, archive);
  EXPECT_EQ(bucket.get(key), archive);
  bucket.put(key, std::string(10'000, 'b'));
  store.put(entry, archive);
  EXPECT_EQ(bucket.get(key), archive);

  bucket.put("some/features/features-x/of-others.tar", "x");
  bucket.put("some/features/features.txt", "x");
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.list()[0].name, entry.name);
  EXPECT_EQ(store.list()[0].shard, entry.name);
  EXPECT_EQ(store.list()[0].bytes, 10'000);
  EXPECT_FALSE(store.has_list());
  store.write_list({{"version", 3}}, {});
  EXPECT_TRUE(store.has_list());
  store.remove(entry.name);
  EXPECT_THAT(store.list(), IsEmpty());
}

TEST(S3Store, VerifiesAShardWhoseResponseWasLost) {
  S3Server server;
  S3Store store("s3://hum-test", server.options());
  const auto entry = shard_entry("bytes", 1);
  server.fail_next(1, {.lost = true});
  store.put(entry, "bytes");
  EXPECT_EQ(server.objects().at(entry.name), "bytes");
}

TEST(S3Store, ReportsAShardThatReadsBackOtherwise) {
  S3Server server;
  S3Store store("s3://hum-test", server.options());
  const auto entry = shard_entry("bytes", 1);
  server.set_object(entry.name, "other");
  server.fail_next(1, {.status = 200, .after = 3});  // PUT, HEAD, GET; then a PUT stores nothing
  EXPECT_EQ(code_of([&] { store.put(entry, "bytes"); }), ExitCode::kCannotCreate);
}

template <class Server>
class ExtractToS3 : public ExtractionTest {
 protected:
  ExtractToS3() { database_.query("CREATE TABLE recordings(id text PRIMARY KEY, location text)"); }

  // A file with a row of the table.
  void write(const std::string& name, const std::vector<float>& samples) {
    const std::string path = folder_.path() / "music" / name;
    audio::write_audio(path, {data::kSampleRate, 1, samples}, audio::SampleFormat::kFloat);
    database_.query("INSERT INTO recordings(id, location) VALUES($1, $2)", name, path);
  }
  ExtractOptions options(const std::string& output) const {
    return {.database = {.from = url_}, .init = true, .output = output, .weights = folder_.path()};
  }
  // What is in the bucket below the prefix.
  fs::path copy_of(const std::string& prefix) const {
    fs::remove_all(folder_.path() / "copy");
    fs::create_directories(folder_.path() / "copy");
    for (const auto& object : bucket_.list(prefix)) {
      bucket_.get_to_file(object.key, folder_ / ("copy/" + object.key.substr(prefix.size())));
    }
    return folder_.path() / "copy";
  }

  Server server_;
  const S3Bucket bucket_{server_.options(), kBucket};
  const hum::testing::S3Variables variables_{server_.options()};
  const std::string url_ = PostgresServer::shared().new_database();
  Postgres database_{url_};
};
TYPED_TEST_SUITE(ExtractToS3, AllServers, ServerNames);

TYPED_TEST(ExtractToS3, MakesTheFeaturesOfAFolder) {
  this->write("low.wav", scale(48, 8));
  this->write("high.wav", scale(72, 12));
  if constexpr (std::is_same_v<TypeParam, S3Server>) {
    this->server_.fail_next(2, {.hang_up = true, .after = 1});
  }
  const auto done = extract(this->options("s3://hum-test/some/features/"));
  EXPECT_EQ(done.folder, "s3://hum-test/some/features");
  EXPECT_EQ(done.counts.done, 2);
  extract({.inputs = {this->folder_ / "music"},
           .output = this->folder_ / "from-folder",
           .weights = this->folder_.path()});
  EXPECT_EQ(files_of(this->copy_of("some/features/")), files_of(this->folder_ / "from-folder"));
  EXPECT_TRUE(data::verify_shards(this->copy_of("some/features/"), 1).empty());

  this->write("new.wav", scale(60, 3));
  EXPECT_EQ(extract(this->options("s3://hum-test/some/features")).added, 1);
  EXPECT_EQ(data::read_manifest(this->copy_of("some/features/")).shards.size(), 2U);
  const auto status = extraction_status("", {.from = this->url_});
  EXPECT_EQ(status.folder, "s3://hum-test/some/features");
  EXPECT_EQ(status.shards, 2);
}

TYPED_TEST(ExtractToS3, MendsAndTidiesTheBucket) {
  this->write("low.wav", scale(48, 3));
  extract(this->options("s3://hum-test/f"));
  const auto files = files_of(this->copy_of("f/"));
  const std::string shard = data::read_manifest(this->folder_ / "copy").shards.at(0).name;
  this->bucket_.put("f/" + shard, "damaged");
  EXPECT_EQ(requeue("", false, shard, {.from = this->url_}), 1);
  EXPECT_THAT(data::read_manifest(this->copy_of("f/")).shards, IsEmpty());
  extract(this->options("s3://hum-test/f"));
  EXPECT_EQ(files_of(this->copy_of("f/")), files);

  const std::string abandoned = "f/" + shard_entry("of a killed process", 1).name;
  this->bucket_.put(abandoned, "of a killed process");
  const auto garbage = collect_garbage("", {.from = this->url_});
  EXPECT_EQ(garbage.files, 1);
  EXPECT_EQ(garbage.bytes, 19);
  EXPECT_EQ(this->bucket_.get(abandoned), std::nullopt);
  EXPECT_EQ(collect_garbage("", {.from = this->url_}).files, 0);
  EXPECT_EQ(files_of(this->copy_of("f/")), files);
}

TYPED_TEST(ExtractToS3, RefusesWhatItCannotDo) {
  this->write("low.wav", scale(48, 3));
  EXPECT_THAT(message_of([&] {
                extract({.inputs = {this->folder_ / "music"}, .output = "s3://hum-test/f"});
              }),
              HasSubstr("--from"));
  EXPECT_THAT(message_of([&] { extraction_status("s3://hum-test/f"); }), HasSubstr("--from"));
  EXPECT_EQ(code_of([&] { extract(this->options("s3://other/f")); }), ExitCode::kConfig);
  this->bucket_.put("rendered/shards.json", "{}");
  EXPECT_THAT(message_of([&] { extract(this->options("s3://hum-test/rendered")); }),
              HasSubstr("holds other training items"));
  extract(this->options("s3://hum-test/f"));
  EXPECT_THAT(message_of([&] { extract(this->options("s3://hum-test/elsewhere")); }),
              HasSubstr("lie in s3://hum-test/f"));
  // A bucket of the same name on another server.
  this->bucket_.put("f/hum-job", "of another\n");
  EXPECT_THAT(message_of([&] { extract(this->options("s3://hum-test/f")); }),
              HasSubstr("holds the shards of another job"));
}

using ExtractToOurServer = ExtractToS3<S3Server>;

// Before the first shard is stored.
TEST_F(ExtractToOurServer, LosesNothingWhenTheBucketVanishesOrTheCredentialsExpire) {
  write("low.wav", scale(48, 3));
  write("high.wav", scale(72, 8));
  extract(options("s3://hum-test/undisturbed"));
  const auto requests = server_.requests();
  const auto upload = std::ranges::find_if(requests, [](const std::string& request) {
    return request.starts_with("PUT /hum-test/undisturbed/features-");
  });
  ASSERT_NE(upload, requests.end());
  const auto expected = files_of(copy_of("undisturbed/"));
  for (const auto& [fault, code] : std::initializer_list<std::pair<S3Server::Fault, ExitCode>>{
           {{.status = 404, .code = "NoSuchBucket"}, ExitCode::kConfig},
           {{.status = 400, .code = "ExpiredToken"}, ExitCode::kNoPermission}}) {
    ExtractOptions disturbed = options("s3://hum-test/" + fault.code);
    disturbed.database.job = fault.code;
    disturbed.lease_s = 1;
    S3Server::Fault at_upload = fault;
    at_upload.after = static_cast<int>(upload - requests.begin());
    server_.fail_next(1000, at_upload);
    EXPECT_EQ(code_of([&] { extract(disturbed); }), code);
    server_.fail_next(0, {});
    const auto stopped = extraction_status("", disturbed.database);
    EXPECT_EQ(stopped.counts.waiting + stopped.counts.claimed, 2);
    EXPECT_EQ(stopped.shards, 0);
    EXPECT_EQ(extract(disturbed).counts.done, 2);
    EXPECT_EQ(files_of(copy_of(fault.code + "/")), expected);
  }
}

TEST(S3Store, OutlastsARestartOfTheServer) {
  const hum::testing::S3Variables variables({.credentials = {"id", "secret", ""}});
  EXPECT_GT(shard_options_from_environment().patience, std::chrono::seconds(17));
}

}  // namespace
}  // namespace hum::app
