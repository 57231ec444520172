// The second level of the compile cache: in a folder, and in S3 that works, fails, lies or is slow.
#include "runtime/shared_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/testing/s3_server.h"
#include "runtime/compile_cache.h"
#include "runtime/s3_cache.h"
#include "runtime/test_cache.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;
using hum::testing::S3Server;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

class SharedCacheTest : public CompileCacheTest {};

TEST_F(SharedCacheTest, SecondLevelServesAMachineThatNeverCompiled) {
  const fs::path shared = folder_ / "shared", here = folder_ / "here", there = folder_ / "there";
  const auto on = [&](const fs::path& own) {
    return start(SessionOptions{.cache = own, .shared_cache = shared});
  };
  EXPECT_EQ(on(here).compiles, 1);
  const Counters other = on(there);
  EXPECT_EQ(other.compiles, 0);
  EXPECT_EQ(other.disk_hits, 1);
  fs::remove_all(shared);
  EXPECT_EQ(on(there).compiles, 0) << "it was copied to the first level";
  EXPECT_EQ(start(SessionOptions{.shared_cache = shared}).compiles, 1);
  EXPECT_EQ(start(SessionOptions{.shared_cache = shared}).compiles, 0) << "alone it works too";
}

TEST_F(SharedCacheTest, CopiesOfTheSecondLevelAreKeptWithinTheLimit) {
  const fs::path shared = folder_ / "shared", own = folder_ / "own";
  const auto key = [](int i) { return CacheKey({CacheKey::Field("i", std::to_string(i))}); };
  const CompileCache other(folder_ / "other", shared.string());
  for (int i = 0; i < 3; ++i) other.store("p", key(i), std::string(1000, 'x'));
  const CompileCache cache(own, shared.string(), /*limit_bytes=*/2500);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(cache.load("p", key(i)).program);
    EXPECT_FALSE(cache.has_run("p", key(i))) << "it is of another machine";
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(own), fs::directory_iterator()), 2);
}

TEST_F(SharedCacheTest, IsAPathOrAUrl) {
  const auto with = [](const char* name, const char* value) {
    ::setenv(name, value, 1);
    std::string place;
    std::string refused;
    try {
      place = shared_cache_place();
    } catch (const Error& error) {
      refused = error.hint();
    }
    ::unsetenv(name);
    return refused.empty() ? place : "refused: " + refused;
  };
  EXPECT_EQ(shared_cache_place(), "");
  EXPECT_EQ(with("HUM_CACHE_SECOND", "/mnt/cache"), "/mnt/cache");
  EXPECT_EQ(with("NEURON_COMPILE_CACHE_URL", "file:///mnt/neff"), "/mnt/neff");
  EXPECT_EQ(with("NEURON_COMPILE_CACHE_URL", "s3://bucket/cache"), "s3://bucket/cache");
  EXPECT_THAT(with("HUM_CACHE_SECOND", "s3:///cache"), HasSubstr("refused: write s3://bucket"));
  EXPECT_THAT(with("HUM_CACHE_SECOND", "gs://bucket/cache"), HasSubstr("HUM_CACHE_SECOND=/mnt"));
}

// The variables point to a server in this process.
class S3CacheTest : public CompileCacheTest {
 protected:
  // In another session, whose end waits for uploads.
  Counters start_on(const std::string& machine) const {
    return start(SessionOptions{.cache = folder_ / machine, .shared_cache = kUrl});
  }
  std::string key() const { return server_.objects().begin()->first; }

  static constexpr const char* kUrl = "s3://hum-test/cache/v=1";
  S3Server server_;
  const hum::testing::S3Variables variables_{server_.options()};
};

TEST_F(S3CacheTest, ServesAMachineThatNeverCompiled) {
  EXPECT_EQ(start_on("here").compiles, 1);
  ASSERT_EQ(server_.objects().size(), 1U);
  EXPECT_THAT(key(), HasSubstr("cache/v=1/double-"));
  const Counters other = start_on("there");
  EXPECT_EQ(other.compiles, 0);
  EXPECT_EQ(other.disk_hits, 1);
  const size_t before = server_.requests().size();
  EXPECT_EQ(start_on("there").compiles, 0) << "it was copied to the first level";
  EXPECT_EQ(server_.requests().size(), before) << "and S3 is not asked again";
  EXPECT_EQ(start(SessionOptions{.shared_cache = kUrl}).compiles, 0) << "alone it works too";
}

TEST_F(S3CacheTest, DamagedObjectIsAMissAndIsRepaired) {
  start_on("here");
  const std::string whole = server_.objects().at(key());
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  for (const std::string& bytes : {flipped, whole.substr(0, whole.size() / 2), std::string()}) {
    server_.set_object(key(), bytes);
    fs::remove_all(folder_ / "there");
    EXPECT_EQ(start_on("there").compiles, 1);
    EXPECT_EQ(start_on("there").compiles, 0) << "nothing damaged was copied";
    fs::remove_all(folder_ / "there");
    EXPECT_EQ(start_on("there").compiles, 0) << "the object is whole again";
  }
}

TEST_F(S3CacheTest, WhatFailsIsAskedOnceAndCostsNoRun) {
  server_.fail_next(1000, {.status = 403, .code = "AccessDenied"});
  EXPECT_EQ(start_on("here").compiles, 1);
  EXPECT_EQ(server_.requests().size(), 1U) << "no upload after a refused download";
  EXPECT_EQ(start_on("here").compiles, 0) << "the first level holds it";
}

TEST_F(S3CacheTest, UnreachableEndpointCostsNoRun) {
  ::setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1", 1);
  EXPECT_EQ(start_on("here").compiles, 1);
}

TEST_F(S3CacheTest, MissingCredentialsCostNoRun) {
  ::setenv("AWS_ACCESS_KEY_ID", "", 1);
  EXPECT_EQ(start_on("here").compiles, 1);
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(S3CacheTest, UploadsDoNotHoldTheCallerUp) {
  const auto start = steady_clock::now();
  steady_clock::duration spent{};
  {
    S3Cache cache(kUrl);
    server_.fail_next(1, {.delay = milliseconds(500)});
    cache.put("a.program", "entry");
    cache.put("b.program", "entry");
    spent = steady_clock::now() - start;
  }
  EXPECT_LT(spent, milliseconds(400));
  EXPECT_GE(steady_clock::now() - start, milliseconds(500));
  EXPECT_EQ(server_.objects().size(), 2U) << "the end waits for both";
}

TEST_F(S3CacheTest, DestructorTimesOut) {
  const auto start = steady_clock::now();
  {
    S3Cache cache(kUrl, /*patience=*/milliseconds(100));
    server_.fail_next(1, {.delay = milliseconds(3000)});
    cache.put("a.program", "entry");
  }
  EXPECT_LT(steady_clock::now() - start, milliseconds(2500));
}

TEST_F(S3CacheTest, EightProcessesAtOnceAreFine) {
  // The test runs itself eight times, each as a different machine.
  if (std::getenv("HUM_TEST_S3") != nullptr) {
    ::setenv("AWS_ENDPOINT_URL_S3", std::getenv("HUM_TEST_S3"), 1);
    for (int i = 0; i < 4; ++i) {
      Session session({.cache = folder_, .shared_cache = kUrl});
      const auto program = session.compile("double", doubled(static_cast<float>(i)));
      EXPECT_EQ(program.run(input())[0].as<float>()[0], 2 + static_cast<float>(i));
      EXPECT_EQ(session.counters().corrupt_entries, 0);
    }
    return;
  }
  EXPECT_EQ(
      run_self("HUM_TEST_S3=" + server_.endpoint(), "S3CacheTest.EightProcessesAtOnceAreFine", 8),
      0);
  EXPECT_EQ(server_.objects().size(), 4U);
  EXPECT_EQ(start_on("late").compiles, 0);
}

}  // namespace
}  // namespace hum::runtime
