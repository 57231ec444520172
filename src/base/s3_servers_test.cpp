// What the S3 client does with any server: the one of these tests, SeaweedFS, and moto where it is
// installed; and boto3, another client, with the same servers. s3_test.cpp has what needs a server
// that fails when told to.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/s3.h"
#include "base/testing/process.h"
#include "base/testing/refusal.h"
#include "base/testing/rule.h"
#include "base/testing/s3_server.h"
#include "base/testing/seaweed_server.h"

namespace hum {
namespace {

namespace fs = std::filesystem;
using testing::code_of;
using ::testing::IsEmpty;
using testing::S3Server;
using testing::SeaweedServer;

constexpr const char* kBucket = "hum-test";

std::vector<std::string> odd_keys() {
  return {"a=b/c=d.program", "with space", "plus+and%2B", "gr\u00fc\u00dfe/\u6b4c", "&?#'()*!~"};
}

std::string bytes_of(std::string_view name, size_t count) {
  const auto numbers = testing::ruled(name, count / sizeof(float));
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)};
}

// The bucket must be empty.
void expect_round_trips(const S3Bucket& bucket, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    bucket.put(key, "under " + key);
    EXPECT_EQ(bucket.get(key), "under " + key);
    EXPECT_EQ(bucket.head(key), 6 + std::ssize(key));
  }
  EXPECT_EQ(bucket.list("").size(), keys.size());
  const auto listed = bucket.list("gr\u00fc\u00dfe/");
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].key, "gr\u00fc\u00dfe/\u6b4c");
  for (const std::string& key : keys) bucket.remove(key);
  bucket.remove("never was");
  EXPECT_THAT(bucket.list(""), IsEmpty());
  const std::string large = bytes_of("large", 3'000'000);
  bucket.put("large", large);
  EXPECT_TRUE(bucket.get("large") == large);
  bucket.put("empty", "");
  EXPECT_EQ(bucket.get("empty"), "");
  EXPECT_EQ(bucket.head("large"), 3'000'000);
  EXPECT_EQ(bucket.get("missing"), std::nullopt);
  EXPECT_EQ(bucket.head("missing"), std::nullopt);
}

void expect_creates_once(const S3Bucket& bucket) {
  EXPECT_TRUE(bucket.put_new("new", "first"));
  EXPECT_FALSE(bucket.put_new("new", "second"));
  EXPECT_EQ(bucket.get("new"), "first");
  EXPECT_TRUE(bucket.holds("new", "first"));
  EXPECT_FALSE(bucket.holds("new", "other"));
  EXPECT_FALSE(bucket.holds("new", "longer"));
  EXPECT_FALSE(bucket.holds("missing", ""));
}

S3Options with_parts(S3Options options) {
  options.one_put_bytes = options.part_bytes = 5 << 20;  // S3's least
  return options;
}

// Three parts.
void expect_parts(const S3Options& options) {
  const S3Bucket bucket(with_parts(options), kBucket);
  const std::string large = bytes_of("parts", 11'000'000);
  EXPECT_TRUE(bucket.put_new("in parts", large));
  EXPECT_FALSE(bucket.put_new("in parts", bytes_of("others", 11'000'000)));
  EXPECT_TRUE(bucket.holds("in parts", large));
  const ScratchFolder folder;
  write_file(folder / "sent", large);
  bucket.put_file("of a file", folder / "sent");
  EXPECT_TRUE(bucket.get_to_file("of a file", folder / "received"));
  EXPECT_TRUE(read_file(folder / "received") == large);
}

void expect_refusals(S3Options options) {
  EXPECT_EQ(code_of([&] { S3Bucket(options, "other").get("key"); }), ExitCode::kConfig);
  options.credentials.secret_access_key = "wrong";
  EXPECT_EQ(code_of([&] { S3Bucket(options, kBucket).put("key", "value"); }),
            ExitCode::kNoPermission);
}

fs::path wheel(const std::string& name) {
  const fs::path folder = in_wheels(name);
  if (fs::exists(folder)) return folder;
  fail(ExitCode::kUnavailable, "the wheel " + name + " is missing", "make fetch unpacks it");
}

// What came of each step (testing/boto3_client.py).
Json by_boto3(const S3Options& options, const Json& steps) {
  std::string modules;
  for (const char* name :
       {"boto3", "botocore", "s3transfer", "jmespath", "python_dateutil", "six", "urllib3"}) {
    modules += wheel(name).string() + ":";
  }
  const fs::path program = source_folder() / "src/base/testing/boto3_client.py";
  testing::Process boto3(
      {"/usr/bin/env", "python3", program.string(), kBucket, to_text(steps)},
      {.environment = {{"PYTHONPATH", modules},
                       {"AWS_CONFIG_FILE", "/dev/null"},
                       {"AWS_ACCESS_KEY_ID", options.credentials.access_key_id},
                       {"AWS_SECRET_ACCESS_KEY", options.credentials.secret_access_key},
                       {"AWS_SESSION_TOKEN", options.credentials.session_token},
                       {"AWS_DEFAULT_REGION", options.region},
                       {"AWS_ENDPOINT_URL_S3", options.endpoint},
                       {"no_proxy", "127.0.0.1"}}});
  const std::string results = boto3.rest();
  HUM_REQUIRE(boto3.wait() == 0, "boto3 fails; its reason is above");
  return parse_json(results);
}

template <class Server>
class S3Servers : public ::testing::Test {
 protected:
  S3Bucket bucket() const { return {server_.options(), kBucket}; }
  Server server_;
};

struct ServerNames {
  template <class Server>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Server, S3Server> ? "InProcess" : "SeaweedFs";
  }
};
using AllServers = ::testing::Types<S3Server, SeaweedServer>;
TYPED_TEST_SUITE(S3Servers, AllServers, ServerNames);

TYPED_TEST(S3Servers, KeepObjects) {
  auto keys = odd_keys();
  // SeaweedFS keeps objects as files in folders, so a key cannot be any text.
  if (std::is_same_v<TypeParam, S3Server>) keys.push_back("dots/../and//slashes/");
  expect_round_trips(this->bucket(), keys);
  expect_parts(this->server_.options());
  expect_refusals(this->server_.options());
}

TYPED_TEST(S3Servers, CreateAnObjectOnlyOnce) {
  expect_creates_once(this->bucket());
  const S3Bucket bucket = this->bucket();
  std::atomic<int> created = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string bytes = bytes_of(std::to_string(i), 100'000);
      created += bucket.put_new("contested", bytes) ? 1 : 0;
      bucket.put(std::to_string(i), bytes);
    });
  }
  threads.clear();
  EXPECT_EQ(created, 1);
  int held = 0;
  for (int i = 0; i < 8; ++i) {
    const std::string bytes = bytes_of(std::to_string(i), 100'000);
    EXPECT_TRUE(bucket.get(std::to_string(i)) == bytes);
    held += bucket.holds("contested", bytes) ? 1 : 0;
  }
  EXPECT_EQ(held, 1);
}

// boto3 reads what we wrote, and the other way round, with the same entity tags and the same list.
TYPED_TEST(S3Servers, ServeBoto3AsUs) {
  const S3Bucket bucket(with_parts(this->server_.options()), kBucket);
  const ScratchFolder folder;
  std::map<std::string, std::string> contents = {{"empty", ""},
                                                 {"whole", bytes_of("whole", 3'000'000)},
                                                 {"in parts", bytes_of("parts", 11'000'000)}};
  for (const std::string& key : odd_keys()) contents[key] = "under " + key;
  Json steps = Json::array();
  for (const auto& [key, bytes] : contents) {
    const std::string file = folder / std::to_string(steps.size());
    write_file(file, bytes);
    bucket.put("ours/" + key, bytes);
    steps.push_back({{"do", "upload"}, {"key", "boto3/" + key}, {"file", file}});
    for (const std::string prefix : {"ours/", "boto3/"}) {
      steps.push_back({{"do", "get"}, {"key", prefix + key}});
      steps.push_back({{"do", "head"}, {"key", prefix + key}});
    }
  }
  steps.push_back({{"do", "list"}, {"prefix", ""}});
  const Json results = by_boto3(this->server_.options(), steps);
  size_t next = 0;
  for (const auto& [key, bytes] : contents) {
    Json of_ours = {{"bytes", bytes.size()},
                    {"etag", results.at(next + 1).at("etag")},
                    {"metadata", Json::object()}};
    Json of_boto3 = of_ours;
    // The server of these tests keeps none.
    if (!std::is_same_v<TypeParam, S3Server>) of_boto3["metadata"] = {{"made-by", "boto3"}};
    EXPECT_EQ(results.at(next + 2), of_ours) << key;
    EXPECT_EQ(results.at(next + 4), of_boto3) << key;
    of_ours["sha256"] = of_boto3["sha256"] = sha256(bytes);
    EXPECT_EQ(results.at(next + 1), of_ours) << key;
    EXPECT_EQ(results.at(next + 3), of_boto3) << key;
    EXPECT_TRUE(bucket.get("boto3/" + key) == bytes) << key;
    EXPECT_TRUE(bucket.holds("boto3/" + key, bytes)) << key;
    EXPECT_EQ(bucket.head("boto3/" + key), std::ssize(bytes)) << key;
    next += 5;
  }
  Json listed = Json::array();
  for (const auto& object : bucket.list("")) {
    listed.push_back(Json::array({object.key, object.size_bytes}));
  }
  EXPECT_EQ(results.back(), listed);
  EXPECT_EQ(listed.size(), 2 * contents.size());
}

TYPED_TEST(S3Servers, LetTheFirstOfBoto3AndUsCreateAnObject) {
  const S3Bucket bucket(with_parts(this->server_.options()), kBucket);
  const ScratchFolder folder;
  const std::string large = bytes_of("parts", 11'000'000);
  write_file(folder / "large", large);
  EXPECT_TRUE(bucket.put_new("ours", "first"));
  EXPECT_TRUE(bucket.put_new("ours in parts", large));
  Json steps = Json::array();
  for (const std::string key : {"ours", "ours in parts", "boto3", "boto3"}) {
    steps.push_back({{"do", "create"}, {"key", key}, {"text", "by boto3"}});
  }
  steps.push_back({{"do", "upload"}, {"key", "boto3 in parts"}, {"file", folder / "large"}});
  const Json results = by_boto3(this->server_.options(), steps);
  EXPECT_EQ(results, Json::array({412, 412, 200, 412, nullptr}));
  for (const std::string key : {"boto3", "boto3 in parts"}) {
    EXPECT_FALSE(bucket.put_new(key, "second")) << key;
    EXPECT_FALSE(bucket.put_new(key, bytes_of("others", 11'000'000))) << key;
  }
  EXPECT_TRUE(bucket.holds("ours", "first"));
  EXPECT_TRUE(bucket.holds("ours in parts", large));
  EXPECT_TRUE(bucket.holds("boto3", "by boto3"));
  EXPECT_TRUE(bucket.holds("boto3 in parts", large));
}

// SIGKILL between and in uploads, in one request and in parts. The server starts again with all
// that it has confirmed.
TEST(SeaweedFs, ConfirmedObjectsAndCallsOutlastItsRestart) {
  SeaweedServer server(testing::Election::kUsual);
  const S3Bucket bucket(with_parts(server.options()), kBucket);
  std::atomic<int> confirmed = 0;
  const auto content = [](int i) {
    return bytes_of(std::to_string(i), i % 4 == 3 ? 6'000'000 : 200'000);
  };
  constexpr int kObjects = 12;
  auto sent = std::async(std::launch::async, [&] {
    for (int i = 0; i < kObjects; ++i, ++confirmed) bucket.put_new(std::to_string(i), content(i));
  });
  ASSERT_TRUE(testing::eventually([&] { return confirmed >= 3; }));
  server.kill();
  EXPECT_LT(confirmed, kObjects);
  server.start();
  sent.get();
  EXPECT_EQ(confirmed, kObjects);
  for (int i = 0; i < kObjects; ++i) EXPECT_TRUE(bucket.holds(std::to_string(i), content(i))) << i;
}

// tools/install_references.sh moto installs it.
TEST(S3Slow, MotoAgrees) {
  const fs::path program = source_folder() / "build/moto/bin/moto_server";
  if (!fs::exists(program)) {
    GTEST_SKIP() << "moto is not installed: tools/install_references.sh moto";
  }
  const std::string port = std::to_string(20000 + ::getpid() % 20000);
  const ScratchFolder folder;
  const testing::Process moto({program.string(), "-H", "127.0.0.1", "-p", port},
                              {.out = folder / "log", .err = folder / "log"});
  const S3Options options{.credentials = {"hum-test-id", "hum/test+secret", ""},
                          .endpoint = "http://127.0.0.1:" + port,
                          .patience = testing::kProcessPatience};
  const S3Bucket bucket(options, kBucket);
  bucket.put("", "");  // waits until it listens; a PUT of the bucket itself creates it
  auto keys = odd_keys();
  keys.emplace_back("dots/../and//slashes/");
  expect_round_trips(bucket, keys);
  expect_creates_once(bucket);
  expect_parts(options);
  EXPECT_EQ(code_of([&] { S3Bucket(options, "other").get("key"); }), ExitCode::kConfig);
}

}  // namespace
}  // namespace hum
