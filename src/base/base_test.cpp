// Unit tests of base/: errors, fields, files, random numbers, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "base/bytes.h"
#include "base/env.h"
#include "base/error.h"
#include "base/fields_json.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/testing/refusal.h"
#include "base/text.h"
#include "base/threads.h"

namespace hum {
namespace {

namespace fs = std::filesystem;
using testing::code_of;
using ::testing::HasSubstr;

enum class Norm { kRms, kLayer };
EnumNames<Norm> enum_names(Norm) {
  static constexpr std::pair<Norm, std::string_view> kNames[] = {{Norm::kRms, "rms"},
                                                                 {Norm::kLayer, "layer"}};
  return kNames;
}

struct Inner {
  double rate = 0.5;
  template <class V>
  void visit_fields(V& v) {
    v("rate", rate, "learning rate");
  }
};
struct Config {
  int64_t steps = 3;
  Norm norm = Norm::kRms;
  Inner inner;
  std::vector<int64_t> sizes = {1, 2};
  template <class V>
  void visit_fields(V& v) {
    v("steps", steps, "steps");
    v("norm", norm, "normalisation");
    v("inner", inner, "inner");
    v("sizes", sizes, "sizes");
  }
};

fs::path temp_folder() {
  const fs::path folder = fs::temp_directory_path() / fmt::format("hum-base-{}", ::getpid());
  fs::create_directories(folder);
  return folder;
}

TEST(Bytes, AreReadAndWrittenAsPeopleWriteThem) {
  EXPECT_EQ(parse_bytes("512"), 512);
  EXPECT_EQ(parse_bytes("6GB"), 6'000'000'000);
  EXPECT_EQ(parse_bytes("1.5 GiB"), 1'610'612'736);
  EXPECT_EQ(parse_bytes("20 mb"), 20'000'000);
  for (const char* text : {"", "GB", "-1GB", "6 gigs", "6GBx"}) {
    EXPECT_THROW(parse_bytes(text), Error) << text;
  }
  EXPECT_EQ(format_bytes(17), "17 B");
  EXPECT_EQ(format_bytes(999'600), "1.00 MB");
  EXPECT_EQ(format_bytes(1'234'567'890), "1.23 GB");
  EXPECT_EQ(format_bytes(40'000'000), "40.0 MB");
}

TEST(Bytes, AreTwoHexDigitsEach) {
  const std::string bytes{'\0', '\x0a', '\x7f', '\xf0'};
  EXPECT_EQ(to_hex(bytes), "000a7ff0");
  EXPECT_EQ(to_upper_hex(bytes), "000A7FF0");
  EXPECT_EQ(to_hex(""), "");
}

TEST(Error, CarriesHintContextAndLine) {
  try {
    const ErrorContext context([] { return std::string("testing"); });
    fail(ExitCode::kBadData, "bad thing", "do that");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_STREQ(error.what(), "bad thing\n  while testing\nhint: do that");
    EXPECT_THAT(error.where(), HasSubstr("base_test.cpp:"));
  }
}

TEST(Error, ShowsControlCharacters) {
  const Error error(ExitCode::kNoInput, std::string("a\0b\x1b[31m\tc\n", 11), "check the path");
  EXPECT_EQ(error.what(), std::string("a\\x00b\\x1b[31m\tc\n\nhint: check the path"));
}

TEST(Error, ShowsNoPasswordOfAUrl) {
  const auto text = [](const std::string& message) {
    return std::string(Error(ExitCode::kBadData, message, message).what());
  };
  EXPECT_EQ(text("'postgresql://u:a@b/c@host:1/x' or"),
            "'postgresql://***@host:1/x' or\nhint: 'postgresql://***@host:1/x' or");
  EXPECT_EQ(text("http://h/x?password=secret&y, 7"),
            "http://h/x?password=***&y, 7\nhint: http://h/x?password=***&y, 7");
  EXPECT_EQ(text("postgresql://u@host:1/x a:b@c"),
            "postgresql://u@host:1/x a:b@c\nhint: postgresql://u@host:1/x a:b@c");
  const Error error(ExitCode::kBadData, "http://u:secret@h", "http://u:secret@h");
  EXPECT_EQ(error.message(), "http://***@h");
  EXPECT_EQ(error.hint(), "http://***@h");
}

TEST(Fields, RoundTripThroughJson) {
  Config a;
  a.steps = 9;
  a.norm = Norm::kLayer;
  a.inner.rate = 0.25;
  a.sizes = {4};
  Config b;
  from_json(to_json(a), b);
  EXPECT_EQ(to_json(a), to_json(b));
}

TEST(Fields, YamlFileWithUnknownFieldNamesTheKnownOnes) {
  const auto path = temp_folder() / "config.yaml";
  std::ofstream(path) << "steps: 5\ninner: {ratte: 1}\n";
  Config config;
  try {
    read_config(path, config);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kConfig);
    EXPECT_THAT(error.what(), HasSubstr("unknown field 'ratte'"));
    EXPECT_THAT(error.what(), HasSubstr("reading field 'inner'"));
    EXPECT_THAT(error.what(), HasSubstr("rate"));
  }
}

TEST(Fields, YamlFileWhoseAliasesRepeatEachOtherIsRefused) {
  const auto path = temp_folder() / "laugh.yaml";
  std::ofstream file(path);
  file << "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (char name = 'b'; name <= 'k'; ++name) {
    file << name << ": &" << name << " [";
    for (int i = 0; i < 10; ++i) file << (i > 0 ? ", *" : "*") << static_cast<char>(name - 1);
    file << "]\n";
  }
  file.close();
  EXPECT_EQ(code_of([&] { read_yaml(path); }), ExitCode::kConfig);
}

TEST(Fields, YamlListThatContainsItselfIsRefused) {
  const auto path = temp_folder() / "itself.yaml";
  std::ofstream(path) << "model_type: &a [*a]\n";
  EXPECT_EQ(code_of([&] { read_yaml(path); }), ExitCode::kConfig);
}

TEST(Text, EndlessFileIsRefused) {
  EXPECT_EQ(code_of([] { read_text("/dev/zero"); }), ExitCode::kBadData);
}

TEST(AtomicFile, LeavesTheOldFileWhenNotCommitted) {
  const auto path = temp_folder() / "file.txt";
  write_file(path, "old");
  {
    AtomicFile file(path);
    file.write("new");
  }
  EXPECT_EQ(read_file(path), "old");
  write_file(path, "new");
  EXPECT_EQ(read_file(path), "new");
  const auto count = std::distance(fs::directory_iterator(temp_folder()), fs::directory_iterator());
  fs::remove(path);
  EXPECT_EQ(std::distance(fs::directory_iterator(temp_folder()), fs::directory_iterator()),
            count - 1);
}

TEST(AtomicFile, FullDiskIsAnErrorWithAHint) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  try {
    write_file("/dev/full/x", "bytes");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kCannotCreate);
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST(AtomicFile, WhatAKilledProcessLeftIsNotInTheWay) {
  const auto path = temp_folder() / "again.txt";
  AtomicFile first(path);
  const std::string name = first.temporary_path().filename().string();
  const int next = std::stoi(name.substr(name.rfind('-') + 1)) + 1;
  const auto left = path.parent_path() / fmt::format(".again.tmp-{}-{}.txt", ::getpid(), next);
  std::ofstream(left) << "left";
  write_file(path, "bytes");
  EXPECT_EQ(read_file(path), "bytes");
  EXPECT_EQ(read_file(left), "left");
  fs::remove(left);
  fs::remove(path);
}

TEST(AtomicFile, WritesThroughALinkAndReplacesNoDevice) {
  const auto path = temp_folder() / "linked.txt", link = temp_folder() / "link.txt";
  write_file(path, "old");
  fs::create_symlink(path, link);
  write_file(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(path), "new");
  const auto pipe = temp_folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { write_file(pipe, "bytes"); }), ExitCode::kCannotCreate);
  for (const auto& made : {path, link, pipe}) fs::remove(made);
}

TEST(AtomicFile, CreatesNothingAmongDevices) {
  for (const char* name : {"/dev/hum.txt", "/dev/../dev/hum.txt", "/proc/hum.txt"}) {
    EXPECT_EQ(code_of([&] { write_file(name, "bytes"); }), ExitCode::kCannotCreate) << name;
    EXPECT_FALSE(fs::exists(name));
  }
  EXPECT_EQ(code_of([] { create_folder("/dev/hum/takes"); }), ExitCode::kCannotCreate);
  EXPECT_FALSE(fs::exists("/dev/hum"));
}

TEST(ReadFile, SaysWhyAPathCannotBeLookedUp) {
  const fs::path loop = temp_folder() / "loop.json";
  fs::create_symlink(loop, loop);
  EXPECT_THAT(testing::message_of([&] { read_file(loop); }), HasSubstr("symbolic links"));
  write_file(loop, "bytes");  // replaces the link
  EXPECT_EQ(read_file(loop), "bytes");
  fs::remove(loop);
  const fs::path too_long = temp_folder() / std::string(300, 'x');
  EXPECT_EQ(code_of([&] { read_file(too_long); }), ExitCode::kNoInput);
  EXPECT_EQ(code_of([&] { write_file(too_long, "bytes"); }), ExitCode::kCannotCreate);
}

TEST(ReadFile, ReadsWhatHasNoSize) {
  const fs::path pipe = temp_folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes(300'000, 'x');  // more than the first buffer, and than a pipe holds
  for (const auto& read : {read_file, read_text}) {
    std::thread writer([&] { std::ofstream(pipe) << bytes; });
    EXPECT_TRUE(read(pipe) == bytes);
    writer.join();
  }
  fs::remove(pipe);
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:"));
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(ReadFile, AFaultAfterItsOpeningIsAnError) {
  const fs::path memory = "/proc/self/mem";  // nothing lies at its start
  if (!fs::exists(memory)) GTEST_SKIP();
  for (const auto& read : {read_file, read_text}) {
    EXPECT_EQ(code_of([&] { read(memory); }), ExitCode::kNoInput);
    EXPECT_THAT(testing::message_of([&] { read(memory); }), HasSubstr("cannot be read to its end"));
  }
}

TEST(OutputFolder, LeavesNoEmptyFolderBehind) {
  const fs::path outer = temp_folder() / "outer";
  {
    OutputFolder folder(outer);
    folder.add(outer / "one");
    folder.add(outer / "two/three");
    EXPECT_TRUE(fs::is_directory(outer / "two/three"));
  }
  EXPECT_FALSE(fs::exists(outer));
}

TEST(CacheFolder, IsInNoHomeThatDoesNotExist) {
  const std::string home = env_string("HOME"), cache = env_string("HUM_CACHE"),
                    xdg = env_string("XDG_CACHE_HOME");
  ::unsetenv("HUM_CACHE");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", (temp_folder() / "nobody").c_str(), 1);
  EXPECT_EQ(cache_folder(), fs::path());
  EXPECT_FALSE(fs::exists(temp_folder() / "nobody"));
  ::setenv("HOME", temp_folder().c_str(), 1);
  EXPECT_EQ(cache_folder(), temp_folder() / ".cache/hum");
  ::setenv("HOME", home.c_str(), 1);
  if (!cache.empty()) ::setenv("HUM_CACHE", cache.c_str(), 1);
  if (!xdg.empty()) ::setenv("XDG_CACHE_HOME", xdg.c_str(), 1);
}

TEST(RunsFolder, TakesThePlaceOfItsVariable) {
  const std::string runs = env_string("HUM_RUNS");
  ::setenv("HUM_RUNS", "/long", 1);
  EXPECT_EQ(with_runs_folder("$HUM_RUNS/codec"), "/long/codec");
  EXPECT_EQ(with_runs_folder("$HUM_RUNS"), "/long");
  for (const char* other : {"runs/codec", "$HUM_RUNS2/codec", "a/$HUM_RUNS/codec", ""}) {
    EXPECT_EQ(with_runs_folder(other), other);
  }
  ::unsetenv("HUM_RUNS");
  EXPECT_EQ(runs_folder(), cache_folder().empty() ? fs::path() : cache_folder() / "runs");
  if (!runs.empty()) ::setenv("HUM_RUNS", runs.c_str(), 1);
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(to_text({{"output", "a\xff.wav"}}), "{\"output\":\"a\xef\xbf\xbd.wav\"}");
}

TEST(CreateFolder, MakesAllAboveItAndRefusesAFileInTheWay) {
  const fs::path file = temp_folder() / "in-the-way";
  write_file(file, "bytes");
  create_folder(temp_folder() / "one/two");
  create_folder(temp_folder() / "one/two");
  EXPECT_TRUE(fs::is_directory(temp_folder() / "one/two"));
  try {
    create_folder(file / "folder");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kCannotCreate);
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST(Sha256, MatchesTheStandardsExample) {
  constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sha256("abc"), kOfAbc);
  Sha256 pieces;
  for (const char* piece : {"a", "", "bc"}) pieces.add(piece);
  EXPECT_EQ(pieces.hex(), kOfAbc);
}

TEST(Base64, MatchesTheStandardsExamples) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string_view("\0\xff", 2)), "AP8=");
}

TEST(Text, IsLoweredAndTrimmedAsAsciiAlone) {
  EXPECT_EQ(lower_case("\xc3\x84 B-c Z[@"), "\xc3\x84 b-c z[@");
  EXPECT_EQ(trimmed(" \t a b\t"), "a b");
  EXPECT_EQ(trimmed(" a\r\n"), "a\r\n");
  EXPECT_EQ(trimmed("\"a\"\r", "\"\r"), "a");
  EXPECT_EQ(trimmed("  "), "");
}

TEST(Threefry, MatchesRandom123KnownAnswers) {
  using Words = std::array<uint32_t, 2>;
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (Words{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x1cb996fc, 0xbb002be7}));
  EXPECT_EQ(threefry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}),
            (Words{0xc4923a9c, 0x483df7a0}));
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(7, "test");
  double sum = 0, squares = 0, uniform_sum = 0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    uniform_sum += rng.uniform();
  }
  EXPECT_NEAR(sum / kCount, 0, 0.03);
  EXPECT_NEAR(squares / kCount, 1, 0.04);
  EXPECT_NEAR(uniform_sum / kCount, 0.5, 0.01);
}

TEST(Rng, StreamsDependOnSeedNameAndIndex) {
  std::set<uint32_t> first = {Rng(1, "a", 0).bits(), Rng(2, "a", 0).bits(), Rng(1, "b", 0).bits(),
                              Rng(1, "a", 1).bits()};
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(Rng(1, "a", 0).bits(), Rng(1, "a", 0).bits());
}

TEST(ParallelFor, VisitsEachItemOnceAndRethrows) {
  std::vector<int> visits(1000);
  parallel_for(1000, 4, [&](int64_t i) { visits[static_cast<size_t>(i)]++; });
  EXPECT_THAT(visits, ::testing::Each(1));
  EXPECT_THROW(parallel_for(8, 4, [](int64_t i) { HUM_REQUIRE(i != 5, "five"); }), Error);
}

}  // namespace
}  // namespace hum
