// What the S3 client does with any server: the one of these tests, SeaweedFS, and moto where it is
// installed. s3_test.cpp has what needs a server that fails when told to.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
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
