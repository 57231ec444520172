// hum data: training items made by several processes, interrupted, verified.
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/folders.h"
#include "base/hash.h"
#include "base/json.h"
#include "data/shards/item_folder.h"
#include "tests/e2e/program.h"
#include "tests/e2e/tiny_weights.h"

namespace hum::e2e {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Data : public Program {
 protected:
  Data() {
    write("data.yaml",
          "items: {presets: [flute, koto]}\ncount: 6\nitems_per_shard: 2\nthreads: 1\n");
  }
  Outcome make(const std::string& output, std::vector<std::string> flags = {},
               const RunOptions& options = {}) const {
    std::vector<std::string> arguments = {"data", "make",      "--config", path("data.yaml"),
                                          "-o",   path(output)};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_hum(arguments, options);
  }
  void expect_python_reads_the_same(int channels) const;
};

TEST_F(Data, IsTheSameFromOneProcessAndFromTwo) {
  const auto alone = make("one");
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(alone.out, "6 items in " + path("one") + "\n");
  const auto second = make("two", {}, {.environment = {{"RANK", "1"}, {"WORLD_SIZE", "2"}}});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.out, "rank 1 of 2 is done; the others are not\n");
  EXPECT_EQ(run_hum({"data", "verify", path("two")}).code, 75);
  EXPECT_EQ(make("two", {"--rank", "0", "--ranks", "2"}).code, 0);
  EXPECT_EQ(read("two/shards.json"), read("one/shards.json"));
  const auto verified = run_hum({"data", "verify", path("two")});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_EQ(verified.out, path("two") + ": 3 shards, 6 items, all intact\n");
}

TEST_F(Data, GoesOnAfterAnInterruption) {
  ASSERT_EQ(make("one").code, 0);
  const auto stopped = make("two", {"--count", "2000"}, {.interrupt_after_ms = 4000});
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("to resume, repeat the command"));
  EXPECT_FALSE(fs::exists(path("two/shards.json")));
  ASSERT_EQ(make("two").code, 0);
  // Shards past those asked for may be there already; the others are the same.
  const Json one = parse_json(read("one/shards.json")), two = parse_json(read("two/shards.json"));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(two["shards"][i], one["shards"][i]);
}

TEST_F(Data, NamesWhatIsDamagedAndMakesItAgain) {
  ASSERT_EQ(make("data").code, 0);
  const std::string whole = read("data/items-000001.tar");
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  write("data/items-000001.tar", damaged);
  const auto run = run_hum({"data", "verify", path("data"), "--json"});
  EXPECT_EQ(run.code, 65);
  EXPECT_THAT(run.err, AllOf(HasSubstr("1 of 3 shards is damaged: items-000001.tar has another"),
                             HasSubstr("\nhint: ")));
  EXPECT_EQ(parse_json(run.out)["faults"][0]["name"], "items-000001.tar");
  ASSERT_EQ(make("data").code, 0);
  EXPECT_EQ(read("data/items-000001.tar"), whole);
}

TEST_F(Data, RefusesOtherOptionsRanksAndFolders) {
  ASSERT_EQ(make("data").code, 0);
  write("data.yaml", "items: {presets: [flute]}\ncount: 6\nitems_per_shard: 2\n");
  const auto other = make("data");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("holds items made with other options"));
  EXPECT_EQ(make("new", {"--rank", "2", "--ranks", "2"}).code, 2);
  EXPECT_EQ(make("new", {"--codec", path("nowhere")}).code, 66);
  EXPECT_EQ(make("new", {"--count", "-5"}).code, 2);
  EXPECT_EQ(make("new", {"--threads", "-1"}).code, 2);
  EXPECT_EQ(run_hum({"data", "verify", path("nowhere")}).code, 66);
}

template <typename T>
std::string sha256_of(std::span<const T> values) {
  return sha256({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

Json sound(std::span<const int16_t> samples, int channels = 1) {
  return {{"rate", 22050}, {"channels", channels}, {"bytes", 2}, {"sha256", sha256_of(samples)}};
}

template <typename T>
Json array(std::span<const T> values, int64_t columns, const char* dtype) {
  return {{"dtype", dtype},
          {"shape", {std::ssize(values) / columns, columns}},
          {"sha256", sha256_of(values)}};
}

// Makes items with tokens and compares what Python's package reads with what hum reads.
void Data::expect_python_reads_the_same(int channels) const {
  const fs::path source = source_folder();
  const auto shell = [](const std::string& command) { return std::system(command.c_str()); };
  if (shell(fmt::format("'{}' webdataset >'{}' 2>&1",
                        (source / "tools/install_references.sh").string(), path("install.log"))) !=
      0) {
    GTEST_SKIP() << "no Python packages can be had here: " << read("install.log");
  }
  const auto made = make("data", {"--codec", path("weights/codec")});
  ASSERT_EQ(made.code, 0) << made.err;
  ASSERT_EQ(
      shell(fmt::format("'{}' '{}' '{}' >'{}'", (source / "build/webdataset/bin/python").string(),
                        (source / "tests/e2e/read_shards.py").string(),
                        path("data/items-{000000..000002}.tar"), path("read.jsonl"))),
      0);
  const data::ItemFolder items(path("data"));
  std::istringstream lines(read("read.jsonl"));
  int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json sample = parse_json(line);
    const data::ItemView& item = items[count];
    const int64_t frames = std::ssize(item.reference) / 441;
    const int64_t books = std::ssize(item.reference_codes) / frames;
    EXPECT_EQ(sample["key"], fmt::format("{:09}", count));
    const Json expected = {{"meta.json", item.meta()},
                           {"notes.json", parse_json(item.notes_json)},
                           {"features.npy", array(item.features, 9, "float32")},
                           {"codes.npy", array(item.codes, books * channels, "uint16")},
                           {"reference_codes.npy", array(item.reference_codes, books, "uint16")},
                           {"reference.wav", sound(item.reference)},
                           {"target.wav", sound(item.target, channels)}};
    EXPECT_EQ(sample["files"], expected);
    EXPECT_EQ(std::ssize(item.target), 6 * 22050 * channels);
    EXPECT_EQ(books, 4);
    EXPECT_EQ(std::ssize(item.codes), 300 * books * channels);
  }
  EXPECT_EQ(count, 6);
}

TEST_F(Data, IsReadByTheWebDatasetPackage) {
  write_tiny_weights(folder_ / "weights");
  expect_python_reads_the_same(1);
}

TEST_F(Data, IsReadByTheWebDatasetPackageInStereo) {
  write_tiny_weights(folder_ / "weights");
  write("data.yaml",
        "items: {presets: [flute, koto], channels: mid_side}\ncount: 6\nitems_per_shard: 2\n"
        "threads: 1\n");
  expect_python_reads_the_same(2);
}

}  // namespace
}  // namespace hum::e2e
