// The compile cache: warm starts, damaged entries, what makes a miss, several processes.
#include "runtime/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/log.h"
#include "graph/ops/custom_call.h"
#include "pjrt/ffi.h"
#include "runtime/session.h"
#include "runtime/test_cache.h"

namespace hum::runtime {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using graph::Shape;
using graph::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(CompileCacheTest, WarmStartCompilesNothing) {
  const Counters cold = start();
  EXPECT_EQ(cold.compiles, 1);
  EXPECT_EQ(cold.disk_hits, 0);
  ASSERT_EQ(cold.misses.size(), 1u);
  EXPECT_EQ(cold.misses[0].cause, "it was never compiled before");
  const Counters warm = start();
  EXPECT_EQ(warm.compiles, 0);
  EXPECT_EQ(warm.disk_hits, 1);
  EXPECT_TRUE(warm.misses.empty());
}

TEST_F(CompileCacheTest, ProgramInUseIsNotEvenLoadedAgain) {
  Session session(options());
  const auto first = session.compile("double", doubled());
  const auto second = session.compile("double", doubled());
  EXPECT_EQ(session.counters().compiles, 1);
  EXPECT_EQ(session.counters().memory_hits, 1);
}

TEST_F(CompileCacheTest, EveryDamagedEntryIsAMissAndIsRepaired) {
  start();
  const std::string whole = read_file(entry());
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  std::string other_key = whole;
  other_key.replace(other_key.find("\"threads\":\""), 11, "\"Threads\":\"");
  for (const std::string& bytes :
       {flipped, other_key, whole.substr(0, whole.size() / 2), whole.substr(0, 20), std::string(),
        std::string("hum-program 1\n"), whole + "x"}) {
    const fs::path path = entry();
    std::ofstream(path, std::ios::binary) << bytes;
    const Counters damaged = start();
    EXPECT_EQ(damaged.compiles, 1);
    EXPECT_EQ(damaged.corrupt_entries, 1);
    EXPECT_THAT(damaged.misses.at(0).cause, HasSubstr("damaged"));
    EXPECT_EQ(start().compiles, 0);
  }
}

TEST_F(CompileCacheTest, EntryThatThePluginRefusesIsAMiss) {
  start();
  const std::string whole = read_file(entry());
  const size_t first = whole.find('\n'), second = whole.find('\n', first + 1);
  const std::string body = whole.substr(first + 1, second - first) + "not an executable";
  std::ofstream(entry(), std::ios::binary) << "hum-program 1 " << sha256(body) << '\n' << body;
  const Counters counters = start();
  EXPECT_EQ(counters.corrupt_entries, 1);
  EXPECT_THAT(counters.misses.at(0).cause, HasSubstr("the plugin rejected the entry"));
}

TEST_F(CompileCacheTest, MissNamesTheFieldThatDiffers) {
  start();
  const auto cause = [](const Counters& counters) { return counters.misses.at(0).cause; };

  EXPECT_THAT(cause(start(options(), doubled(1e-30f))), HasSubstr("differs in: module"));

  auto other = options();
  other.instruction_set = "avx2";
  EXPECT_EQ(cause(start(other)), "the nearest entry differs in: instruction set");

  other = options();
  other.devices = 2;
  EXPECT_EQ(cause(start(other)), "the nearest entry differs in: devices");

  EXPECT_EQ(cause(start(options(), doubled(), {.optimize_memory = true})),
            "the nearest entry differs in: options");

  ::setenv("HUM_THREADS", "1", 1);
  EXPECT_EQ(cause(start()), "the nearest entry differs in: threads");
  ::unsetenv("HUM_THREADS");
}

void double_kernel(const pjrt::ffi::Call& call) {
  const auto x = call.argument(0).as<const float>();
  const auto y = call.result(0).as<float>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
}

std::atomic<int> flaky_calls = 0;
// Fails on its second call, the first after the entry was made, and on its fourth.
void flaky_kernel(const pjrt::ffi::Call& call) {
  const int number = ++flaky_calls;
  HUM_REQUIRE(number != 2 && number != 4, "an illegal instruction, as it were");
  double_kernel(call);
}

graph::Function through_kernel(const std::string& target) {
  const auto a = graph::parameter("a", Shape{DType::kF32, {4}});
  auto results = graph::custom_call(target, std::vector{a}, {}, [](std::span<const Value> x) {
    return graph::Values{x[0] + x[0]};
  });
  return {.name = "double",
          .parameters = {a},
          .results = std::move(results),
          .donations = {{.parameter = 0, .result = 0}}};
}

SessionOptions with_kernel(const fs::path& folder, pjrt::KernelRow row) {
  return {.kernels = {row}, .use_kernel = [](const graph::Node&) { return true; }, .cache = folder};
}

// Loads through_kernel's program from disk; its first run doubles and takes over its argument.
void expect_first_run_donates(Session& session, const graph::Function& function) {
  const auto program = session.compile("double", function);
  EXPECT_EQ(session.counters().disk_hits, 1);
  const Tensor donated = session.to_device(input()[0]);
  const auto results = program.run(std::vector{donated});
  EXPECT_THAT(session.to_host(results[0]).as<float>(), ElementsAre(2, 4, 6, 8));
  EXPECT_TRUE(donated.is_deleted());
}

TEST_F(CompileCacheTest, ChangedKernelVersionIsAMiss) {
  const auto function = through_kernel("hum.test.double");
  const auto handler = &pjrt::ffi::handler<double_kernel>;
  start(with_kernel(folder_, {"hum.test.double", 1, handler}), function);
  EXPECT_EQ(start(with_kernel(folder_, {"hum.test.double", 1, handler}), function).compiles, 0);
  const Counters changed = start(with_kernel(folder_, {"hum.test.double", 2, handler}), function);
  EXPECT_EQ(changed.compiles, 1);
  EXPECT_EQ(changed.misses.at(0).cause, "the nearest entry differs in: kernels");
}

TEST_F(CompileCacheTest, VersionOfAKernelThatIsNotCalledDoesNotMatter) {
  const auto handler = &pjrt::ffi::handler<double_kernel>;
  start(with_kernel(folder_, {"hum.test.double", 1, handler}));
  EXPECT_EQ(start(with_kernel(folder_, {"hum.test.double", 2, handler})).compiles, 0);
}

TEST_F(CompileCacheTest, EntryThatDoesNotRunIsCompiledAnewAndTheRunRepeated) {
  flaky_calls = 0;
  const auto function = through_kernel("hum.test.flaky");
  const auto row = pjrt::KernelRow{"hum.test.flaky", 1, &pjrt::ffi::handler<flaky_kernel>};
  EXPECT_EQ(start(with_kernel(folder_, row), function).compiles, 1);
  forget_that_it_ran();
  Session session(with_kernel(folder_, row));
  expect_first_run_donates(session, function);
  EXPECT_EQ(session.counters().failed_probes, 1);
  EXPECT_EQ(session.counters().compiles, 1);
}

TEST_F(CompileCacheTest, EveryProgramOfAnEntryThatDoesNotRunIsCompiledAnew) {
  flaky_calls = 0;
  const auto function = through_kernel("hum.test.flaky");
  const auto row = pjrt::KernelRow{"hum.test.flaky", 1, &pjrt::ffi::handler<flaky_kernel>};
  start(with_kernel(folder_, row), function);
  forget_that_it_ran();
  Session session(with_kernel(folder_, row));
  const auto first = session.compile("double", function);
  const auto second = session.compile("double", function);
  EXPECT_EQ(session.counters().disk_hits, 2) << "what may not run is not shared";
  for (const auto& program : {second, first}) {
    EXPECT_THAT(program.run(input())[0].as<float>(), ElementsAre(2, 4, 6, 8));
  }
  EXPECT_EQ(session.counters().failed_probes, 2);
  const auto third = session.compile("double", function);
  EXPECT_EQ(session.counters().memory_hits, 1) << "what has run is";
}

// A probe keeps the arguments, and so twice the memory: what was compiled here is not probed, even
// when nothing has run it yet (as after `hum compile`).
TEST_F(CompileCacheTest, EntryThatWasCompiledHereDonatesFromTheFirstRunOn) {
  const auto function = through_kernel("hum.test.double");
  const auto options =
      with_kernel(folder_, {"hum.test.double", 1, &pjrt::ffi::handler<double_kernel>});
  Session(options).compile("double", function);
  EXPECT_TRUE(is_known_to_run());
  Session session(options);
  expect_first_run_donates(session, function);
}

TEST_F(CompileCacheTest, EntryOfAnotherMachineIsKnownToRunAfterItsFirstRun) {
  start();
  forget_that_it_ran();
  EXPECT_FALSE(is_known_to_run());
  EXPECT_EQ(start().disk_hits, 1);
  EXPECT_TRUE(is_known_to_run());
}

// Sessions that share a folder with other processes doing the same.
void start_many_times(const fs::path& folder) {
  for (int i = 0; i < 4; ++i) {
    Session session({.cache = folder});
    const auto program = session.compile("double", doubled(static_cast<float>(i)));
    EXPECT_EQ(program.run(input())[0].as<float>()[0], 2 + static_cast<float>(i));
    EXPECT_EQ(session.counters().corrupt_entries, 0);
  }
}

TEST_F(CompileCacheTest, EightProcessesAtOnceAreFine) {
  // The test runs itself eight times; there the variable says which folder to share.
  if (const char* shared = std::getenv("HUM_TEST_SHARED_FOLDER")) {
    start_many_times(shared);
    return;
  }
  EXPECT_EQ(run_self("HUM_TEST_SHARED_FOLDER=" + folder_.string(),
                     "CompileCacheTest.EightProcessesAtOnceAreFine", 8),
            0);
  int entries = 0;
  for (const auto& item : fs::directory_iterator(folder_)) {
    EXPECT_EQ(item.path().extension(), ".program") << "nothing half written is left";
    ++entries;
  }
  EXPECT_EQ(entries, 4);
  EXPECT_EQ(start(options(), doubled()).compiles, 0);
}

TEST_F(CompileCacheTest, FullDiskOnlyCostsSpeed) {
  // In a child process, no file may grow beyond 64 bytes: as if the disk were full.
  if (const char* full = std::getenv("HUM_TEST_FULL_FOLDER")) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64, 64};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 2; ++i) {
      const Counters counters = start({.cache = full});
      EXPECT_EQ(counters.compiles, 1) << "nothing could be kept";
      EXPECT_EQ(counters.corrupt_entries, 0);
    }
    return;
  }
  EXPECT_EQ(run_self("HUM_TEST_FULL_FOLDER=" + folder_.string(),
                     "CompileCacheTest.FullDiskOnlyCostsSpeed"),
            0);
  EXPECT_TRUE(!fs::exists(folder_) || fs::is_empty(folder_)) << "nothing half written is left";
  EXPECT_EQ(start().compiles, 1);
  EXPECT_EQ(start().compiles, 0) << "with room again, it is kept";
}

TEST_F(CompileCacheTest, EntriesUsedLongestAgoGoWhenTheFolderIsFull) {
  const auto key = [](int i) { return CacheKey({CacheKey::Field("i", std::to_string(i))}); };
  const CompileCache cache(folder_, {}, /*limit_bytes=*/2500);
  const std::string program(1000, 'x');
  cache.store("p", key(0), program);
  cache.store("p", key(1), program);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(cache.entry_path("p", key(0)), long_ago);
  fs::last_write_time(cache.entry_path("p", key(1)), long_ago + std::chrono::seconds(1));
  EXPECT_TRUE(cache.load("p", key(0)).program);  // used again: now the younger one
  cache.store("p", key(2), program);
  EXPECT_TRUE(cache.load("p", key(0)).program);
  EXPECT_FALSE(cache.load("p", key(1)).program);
  EXPECT_TRUE(cache.load("p", key(2)).program);
}

TEST_F(CompileCacheTest, FolderThatCannotBeWrittenStillCompiles) {
  std::ofstream(folder_) << "a file where the folder should be";
  EXPECT_EQ(start().compiles, 1);
}

TEST_F(CompileCacheTest, CompileAfterWarmUpIsWarnedOfWithItsCause) {
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  {
    Session session(options());
    session.compile("double", doubled());
    EXPECT_EQ(log.str(), "");
    session.expect_warm();
    session.compile("double", doubled(1));
  }
  spdlog::set_default_logger(before);
  EXPECT_THAT(log.str(), HasSubstr("double: compiled in"));
  EXPECT_THAT(log.str(), HasSubstr("differs in: module"));
}

}  // namespace
}  // namespace hum::runtime
