// Generated recordings become features that are the same however the work is shared out, and that
// hum train learns from.
#include "app/extraction/extract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "app/extraction/shard_store.h"
#include "app/extraction/sqlite_table.h"
#include "app/extraction/test_recordings.h"
#include "app/extraction/worker.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/training/inputs.h"
#include "app/training/train.h"
#include "audio/io.h"
#include "base/files.h"
#include "base/testing/refusal.h"
#include "data/shards/item_folder.h"
#include "models/testing.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr int64_t kBooks = 4;  // of the tiny codec

class Extract : public ExtractionTest {
 protected:
  Extract() : ExtractionTest({"codec", "upsampler"}) {}

  void write(const std::string& name, const std::vector<float>& samples, int channels = 1) const {
    audio::write_audio(folder_.path() / "music" / name, {data::kSampleRate, channels, samples},
                       audio::SampleFormat::kFloat);
  }
  // 3 windows, the last one of 1 s.
  void write_stereo() const {
    const auto left = scale(60, 13), right = scale(64, 13);
    std::vector<float> both;
    for (size_t i = 0; i < left.size(); ++i) both.insert(both.end(), {left[i], right[i] / 2});
    write("stereo.wav", both, 2);
  }
  // Four recordings of 3, 2, 1 and 2 windows.
  void write_four() const {
    write_stereo();
    write("low.wav", scale(48, 8));
    write("short.wav", scale(67, 3));
    write("high.wav", scale(72, 12));
  }
  Extraction run(const std::string& output, int64_t batch = 8) const {
    return extract({.inputs = {folder_ / "music"},
                    .output = folder_ / output,
                    .weights = folder_.path(),
                    .batch = batch});
  }
};

TEST_F(Extract, MakesAnItemOfEachWindowThatHasNotes) {
  write_stereo();
  write("mono.wav", scale(60, 8));
  fs::copy(folder_.path() / "music/mono.wav", folder_.path() / "music/copy.wav");
  write("nothing.wav", std::vector<float>(7 * data::kSampleRate));
  write("click.wav", std::vector<float>(22, 0.5F));
  write_file(folder_.path() / "music/words.mp3", "these are no sounds");
  const auto done = run("features");
  EXPECT_EQ(done.found, 6);
  EXPECT_EQ(done.added, 6);
  EXPECT_EQ(done.counts.done, 3);
  EXPECT_EQ(done.counts.duplicate, 1);
  EXPECT_EQ(done.counts.failed, 2);
  EXPECT_EQ(done.counts.windows.kept, 5);
  EXPECT_EQ(done.counts.windows.silent, 2);
  const auto status = extraction_status(folder_ / "features");
  ASSERT_EQ(status.set_aside.size(), 2U);
  EXPECT_THAT(status.set_aside[0].location, HasSubstr("click.wav"));
  EXPECT_THAT(status.set_aside[0].reason, HasSubstr("only 0.001 s long"));
  EXPECT_THAT(status.set_aside[1].reason, HasSubstr("not a sound file"));
  EXPECT_TRUE(data::verify_shards(folder_ / "features", 1).empty());

  const data::ItemFolder items(folder_ / "features");
  ASSERT_EQ(items.size(), 5);
  EXPECT_FALSE(items.has_sound());
  int64_t mono = 0;
  for (int64_t i = 0; i < items.size(); ++i) {
    const data::ItemView& item = items[i];
    const Json meta = item.meta();
    EXPECT_EQ(meta.at("start"), 6.0 * meta.at("window").get<double>());
    EXPECT_FALSE(item.notes().melody.empty());
    (void)item.reference_notes();
    const int64_t half = data::kItemFrames * kBooks;
    EXPECT_EQ(std::ssize(item.codes), half);
    EXPECT_THAT(std::ssize(item.reference_codes) / kBooks, AllOf(Ge(50), Le(250)));
    const bool is_mono = meta.at("channels") == 1;
    mono += is_mono ? 1 : 0;
    EXPECT_EQ(std::ranges::equal(item.stereo_codes.first(half), item.stereo_codes.last(half)),
              is_mono);
    EXPECT_EQ(std::ranges::equal(item.stereo_codes.first(half), item.codes), is_mono);
    EXPECT_FALSE(std::ranges::equal(item.mono_codes.last(half), item.codes));  // sines
  }
  EXPECT_EQ(mono, 2);
}

TEST_F(Extract, TakesUpNewRecordingsAndLeavesTheOthers) {
  write("low.wav", scale(48, 8));
  EXPECT_EQ(run("features").counts.windows.kept, 2);
  const auto first = files_of(folder_ / "features");
  const std::string list = read_file(folder_ / "features/shards.json");
  EXPECT_EQ(run("features").added, 0);
  EXPECT_EQ(read_file(folder_ / "features/shards.json"), list);
  write("high.wav", scale(72, 8));
  EXPECT_EQ(run("features").counts.windows.kept, 4);
  const auto both = files_of(folder_ / "features");
  EXPECT_TRUE(std::ranges::includes(both, first));
  EXPECT_EQ(both.size(), 2 * first.size());
}

TEST_F(Extract, ShowsWhatADryRunWouldAddAndWritesNothing) {
  write("low.wav", scale(48, 8));
  ExtractOptions options{.inputs = {folder_ / "music"},
                         .output = folder_ / "features",
                         .weights = folder_.path(),
                         .dry_run = true};
  EXPECT_EQ(extract(options).added, 1);
  EXPECT_FALSE(fs::exists(folder_ / "features"));
  run("features");
  write("high.wav", scale(72, 8));
  const auto plan = extract(options);
  EXPECT_EQ(plan.found, 2);
  EXPECT_EQ(plan.added, 1);
  EXPECT_EQ(extraction_status(folder_ / "features").counts.all(), 1);
}

// The bar extract-same.
TEST_F(Extract, GivesTheSameAloneInABatchAndInFourWorkers) {
  write_four();
  run("together");
  const auto expected = files_of(folder_ / "together");
  EXPECT_EQ(expected.size(), 8U * 6U);
  run("alone", 1);
  EXPECT_EQ(files_of(folder_ / "alone"), expected);

  runtime::Session session(session_options());  // with the kernels that extract() uses
  const models::codec::CodecSession codec(session, folder_ / "codec");
  const FeatureTools tools{transcriber(session, {}), "basic-pitch", token_encoder(codec)};
  const Json options = SqliteTable(folder_ / "alone/recordings.sqlite", nullptr, 30).options();
  const fs::path shared = folder_ / "shared";
  fs::create_directories(shared);
  std::vector<FoundFile> found;
  for (const auto& file : fs::directory_iterator(folder_ / "music")) {
    found.push_back({file.path().string(), 1});
  }
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        SqliteTable table(shared / "recordings.sqlite", options, 30);
        table.add(found);
        FolderStore store(shared);
        ExtractionMetrics metrics;
        Worker worker(table, store, tools, metrics, {.batch = 1});
        while (worker.work()) {
        }
      });
    }
  }
  run("shared");  // lists the shards
  EXPECT_EQ(files_of(shared), expected);
}

// A process that dies between storing its shard and listing it leaves a file that nobody reads.
TEST_F(Extract, LosesAndRepeatsNothingAfterAProcessEnded) {
  write_four();
  run("undisturbed");
  const fs::path folder = folder_ / "features";
  fs::create_directories(folder);
  {
    const Json options =
        SqliteTable(folder_ / "undisturbed/recordings.sqlite", nullptr, 30).options();
    SqliteTable dead(folder / "recordings.sqlite", options, /*lease_s=*/0);
    const std::vector<FoundFile> found = {{folder_ / "music/low.wav", 1}};
    dead.add(found);
    const Claim claim = dead.claim(1);
    const std::string archive = "half of a shard";
    const auto entry = shard_entry(archive, 1);
    ASSERT_TRUE(dead.announce(claim.lease, entry.name));
    FolderStore(folder).put(entry, archive);
    write_file(folder / (".features-" + std::string(64, 'a') + ".tmp-1-1.tar"), "part");
  }
  EXPECT_EQ(run("features", 2).counts.done, 4);
  EXPECT_EQ(files_of(folder), files_of(folder_ / "undisturbed"));
  EXPECT_EQ(collect_garbage(folder).files, 2);
  EXPECT_EQ(collect_garbage(folder).files, 0);
  EXPECT_TRUE(data::verify_shards(folder, 1).empty());
}

TEST_F(Extract, LeavesShardsThatAProcessMayListYet) {
  write("low.wav", scale(48, 3));
  run("features");
  SqliteTable table(folder_ / "features/recordings.sqlite", nullptr, 600);
  const std::vector<FoundFile> found = {{"/new.wav", 1}};
  table.add(found);
  const Claim claim = table.claim(1);
  const auto entry = shard_entry("its shard", 1);
  table.announce(claim.lease, entry.name);
  FolderStore(folder_ / "features").put(entry, "its shard");
  EXPECT_EQ(collect_garbage(folder_ / "features").files, 0);
  EXPECT_TRUE(table.finish(claim.lease, {}, std::nullopt));
  EXPECT_EQ(collect_garbage(folder_ / "features").files, 1);
}

std::string unfinished(const std::string& shard) {
  return fmt::format(".{}.tmp-1-1.tar", fs::path(shard).stem().string());
}

// A process was killed while it wrote a shard, and another one wrote and listed the same.
TEST_F(Extract, RemovesAnUnfinishedFileBesideItsListedShard) {
  write("low.wav", scale(48, 8));
  run("features");
  const fs::path folder = folder_ / "features";
  const auto listed = data::read_manifest(folder).shards.at(0);
  write_file(folder / unfinished(listed.name), "part");
  // Another process may be writing this one.
  SqliteTable table(folder / "recordings.sqlite", nullptr, 600);
  const std::vector<FoundFile> found = {{"/new.wav", 1}};
  table.add(found);
  const auto announced = shard_entry("its shard", 1);
  ASSERT_TRUE(table.announce(table.claim(1).lease, announced.name));
  write_file(folder / unfinished(announced.name), "part");

  const CollectedGarbage garbage = collect_garbage(folder);
  EXPECT_EQ(garbage.files, 1);
  EXPECT_EQ(garbage.bytes, 4);
  EXPECT_TRUE(fs::exists(folder / listed.name));
  EXPECT_FALSE(fs::exists(folder / unfinished(listed.name)));
  EXPECT_TRUE(fs::exists(folder / unfinished(announced.name)));
}

TEST_F(Extract, ReplacesADamagedShardWhenItsRecordingsAreRequeued) {
  write("low.wav", scale(48, 8));
  run("features");
  const auto shard = data::read_manifest(folder_ / "features").shards.at(0);
  const std::string whole = read_file(folder_.path() / "features" / shard.name);
  fs::resize_file(folder_.path() / "features" / shard.name, 100);
  ASSERT_EQ(data::verify_shards(folder_ / "features", 1).size(), 1U);
  EXPECT_EQ(requeue(folder_ / "features", false, shard.name), 1);
  run("features");
  EXPECT_EQ(read_file(folder_.path() / "features" / shard.name), whole);
  EXPECT_TRUE(data::verify_shards(folder_ / "features", 1).empty());
}

TEST_F(Extract, RefusesWhatItCannotDo) {
  EXPECT_EQ(code_of([&] { extract({}); }), ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { extract({.inputs = {"-"}}); }), ExitCode::kUsage);
  // Before it looks for the recordings.
  const ExtractOptions stems{
      .inputs = {folder_ / "nowhere"}, .output = folder_ / "of-stems", .stems = true};
  EXPECT_EQ(code_of([&] { extract(stems); }), ExitCode::kUsage);
  EXPECT_THAT(message_of([&] { extract(stems); }), HasSubstr("--stems"));
  EXPECT_FALSE(fs::exists(folder_ / "of-stems"));
  EXPECT_EQ(code_of([&] { extract({.inputs = {folder_ / "nowhere"}}); }), ExitCode::kNoInput);
  EXPECT_EQ(code_of([&] { run("features"); }), ExitCode::kNoInput);  // no recordings
  EXPECT_EQ(code_of([&] { run("features", 0); }), ExitCode::kUsage);
  write("low.wav", scale(48, 3));
  fs::create_directories(folder_.path() / "rendered");
  write_file(folder_.path() / "rendered/shards.json", "{}");
  EXPECT_THAT(message_of([&] { run("rendered"); }), HasSubstr("holds other training items"));
  EXPECT_EQ(code_of([&] { extraction_status(folder_ / "nowhere"); }), ExitCode::kNoInput);
  EXPECT_EQ(code_of([&] { requeue(folder_ / "nowhere", false, ""); }), ExitCode::kUsage);
}

TEST_F(Extract, WritesItsFiguresForPrometheus) {
  write_four();
  write("same.wav", scale(48, 8));  // as low.wav
  write_file(folder_ / "music/words.wav", "no sound");
  const fs::path file = folder_.path() / "hum-0.prom";
  ExtractOptions options{.inputs = {folder_ / "music"},
                         .output = folder_ / "features",
                         .metrics_file = file,
                         .weights = folder_.path()};
  extract(options);
  int64_t bytes = 0;
  for (const auto& shard : data::read_manifest(folder_ / "features").shards) bytes += shard.bytes;
  const std::string text = read_file(file);
  for (const auto& [figure, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"table_recordings{worker=\"hum-0\",state=\"done\"}", "4"},
           {"table_recordings{worker=\"hum-0\",state=\"waiting\"}", "0"},
           {"recordings_total{worker=\"hum-0\",outcome=\"done\"}", "4"},
           {"recordings_total{worker=\"hum-0\",outcome=\"failed\"}", "1"},
           {"recordings_total{worker=\"hum-0\",outcome=\"duplicate\"}", "1"},
           {"windows_total{worker=\"hum-0\",outcome=\"kept\"}", "8"},
           {"sound_seconds_total{worker=\"hum-0\"}", "36"},
           {"claimed_recordings{worker=\"hum-0\"}", "0"},
           {"stored_bytes_total{worker=\"hum-0\"}", std::to_string(bytes)}}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("\nhum_extract_{} {}\n", figure, value)));
  }
  options.metrics_file = folder_ / "figures.txt";
  EXPECT_EQ(code_of([&] { extract(options); }), ExitCode::kUsage);
  options.metrics_file = folder_ / "nowhere/figures.prom";
  EXPECT_EQ(code_of([&] { extract(options); }), ExitCode::kCannotCreate);
}

class TrainingOnFeatures : public Extract {
 protected:
  ModelConfiguration configuration(const std::string& model) const {
    ModelConfiguration result{.path = "tiny.yaml", .row = models::find_model(model)};
    result.model = models::tiny_config(model);
    StageConfig& stage = result.stage;
    stage.data = folder_ / "features";
    stage.run = folder_ / (model + "-run");
    stage.output = folder_ / ("trained/" + model);
    stage.weights = folder_.path();
    stage.batch = 2;
    stage.held_out = 1;
    stage.frames = 25;
    stage.compute = Compute::kF32;
    stage.loop.steps = 3;
    stage.loop.optimizer.warm_up_steps = 1;
    return result;
  }
};

TEST_F(TrainingOnFeatures, ReadsThemAsItemsInMonoAndStereo) {
  write_four();
  run("features");
  for (const std::string model : {"upsampler", "coarse"}) {
    EXPECT_EQ(train(configuration(model), {}).summary.at("finished"), true) << model;
  }
  auto stereo = configuration("upsampler");
  stereo.stage.run = folder_ / "stereo-run";
  stereo.model["common"] = {
      {"channels", "left_right"}, {"latent", 16}, {"books", 2 * kBooks}, {"entries", 32}};
  EXPECT_EQ(train(stereo, {}).summary.at("finished"), true);
  stereo.model["common"]["channels"] = "mid_side";
  stereo.stage.run = folder_ / "mid-run";
  EXPECT_THAT(message_of([&] { train(stereo, {}); }), HasSubstr("no tokens of mid and side"));
  for (const std::string model : {"voice", "joint", "codec"}) {
    EXPECT_THAT(message_of([&] { train(configuration(model), {}); }),
                HasSubstr("do not hold the sound that " + model + " learns from"));
  }
}

TEST_F(TrainingOnFeatures, LearnsFromTheSoundThatWasKept) {
  write_four();
  ExtractOptions options{.inputs = {folder_ / "music"},
                         .output = folder_ / "features",
                         .weights = folder_.path(),
                         .keep_audio = true};
  extract(options);
  for (const std::string model : {"voice", "joint", "codec"}) {
    EXPECT_EQ(train(configuration(model), {}).summary.at("finished"), true) << model;
  }
  run("without");
  const auto kept = files_of(folder_ / "features"), without = files_of(folder_ / "without");
  EXPECT_EQ(std::ssize(kept) - std::ssize(without), 8);  // a file of each window
  EXPECT_TRUE(std::ranges::includes(kept, without));
  options.keep_audio = false;
  EXPECT_EQ(code_of([&] { extract(options); }), ExitCode::kUsage);
}

}  // namespace
}  // namespace hum::app
