// Long recordings are heard and encoded in parts, with the windows of the whole.
#include "app/extraction/recording_parts.h"

#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <limits>
#include <map>

#include "app/extraction/extract.h"
#include "app/extraction/shard_store.h"
#include "app/extraction/sqlite_table.h"
#include "app/extraction/test_recordings.h"
#include "app/extraction/worker.h"
#include "app/play/synthesizer.h"
#include "app/session_options.h"
#include "app/training/inputs.h"
#include "audio/io.h"
#include "base/testing/refusal.h"
#include "data/shards/item_folder.h"
#include "decode/testing.h"

namespace hum::app {
namespace {

namespace fs = std::filesystem;
using data::kItemSamples;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Parts : public ::testing::Test {
 protected:
  // Samples that tell where they are, in stereo.
  static std::vector<float> counted(int64_t frames) {
    std::vector<float> samples;
    for (int64_t i = 0; i < frames; ++i) {
      const float value = static_cast<float>(i) / 4e6F;
      samples.insert(samples.end(), {value, -value});
    }
    return samples;
  }
  std::string write(const std::string& name, const audio::AudioBuffer& sound) const {
    audio::write_audio(folder_.path() / name, sound, audio::SampleFormat::kFloat);
    return folder_ / name;
  }

  ScratchFolder folder_;
  decode::Decoders decoders_{decoding_limits()};
};

TEST_F(Parts, HoldEveryWindowOnceAndItsNeighbours) {
  constexpr int64_t kFrames = 13 * kItemSamples - 100, kReferenceFrames = 7 * kItemSamples;
  const std::string reference =
      write("mono.wav", {data::kSampleRate, 1, std::vector<float>(kReferenceFrames, 0.5F)});
  RecordingParts parts({.number = 1,
                        .location = write("a.wav", {data::kSampleRate, 2, counted(kFrames)}),
                        .reference = reference,
                        .licence = "CC0"},
                       decoders_, kLongestRecording_s, 5);
  const int64_t windows[] = {5, 5, 3};
  int64_t first = 0;
  for (const int64_t count : windows) {
    const auto part = parts.next();
    ASSERT_TRUE(part);
    EXPECT_EQ(part->first_window, first);
    EXPECT_EQ(part->windows, count);
    EXPECT_EQ(part->lead_windows, first > 0 ? 1 : 0);
    EXPECT_EQ(part->is_last, first == 10);
    EXPECT_EQ(part->licence, "CC0");
    const int64_t begin = (first - part->lead_windows) * kItemSamples;
    const int64_t end = std::min(kFrames, (first + count + 1) * kItemSamples);
    ASSERT_EQ(part->channels.size(), 2U);
    ASSERT_EQ(std::ssize(part->channels[1]), end - begin);
    ASSERT_EQ(std::ssize(part->reference), end - begin);
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i - begin);
      ASSERT_EQ(part->channels[1][at], -static_cast<float>(i) / 4e6F) << i;
      ASSERT_EQ(part->reference[at], i < kReferenceFrames ? 0.5F : 0) << i;
    }
    first += count;
  }
  EXPECT_FALSE(parts.next());
}

TEST_F(Parts, AreOneForARecordingOfATenthMore) {
  const auto parts_of = [&](int64_t frames) {
    RecordingParts parts(
        {.number = 1, .location = write("a.wav", {data::kSampleRate, 2, counted(frames)})},
        decoders_, kLongestRecording_s, 5);
    int64_t count = 0;
    while (parts.next()) ++count;
    return count;
  };
  EXPECT_EQ(parts_of(6 * kItemSamples), 1);
  EXPECT_EQ(parts_of(6 * kItemSamples + 1), 2);
}

TEST_F(Parts, NoticeAFileThatChangesAndAShortReference) {
  const std::string sound = write("a.wav", {data::kSampleRate, 2, counted(13 * kItemSamples)});
  RecordingParts parts({.number = 1, .location = sound}, decoders_, kLongestRecording_s, 5);
  EXPECT_TRUE(parts.next());
  fs::last_write_time(sound, fs::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_THAT(message_of([&] {
                while (parts.next()) {
                }
              }),
              HasSubstr("changed while it was read"));
  RecordingParts with({.number = 1,
                       .location = sound,
                       .reference = write("b.wav", {data::kSampleRate, 2, counted(10)})},
                      decoders_, kLongestRecording_s);
  EXPECT_THAT(message_of([&] { with.next(); }),
              HasSubstr("its mono reference: the recording: only"));
}

TEST_F(Parts, SayWhatIsTooLong) {
  RecordingParts parts(
      {.number = 1, .location = write("a.wav", {data::kSampleRate, 1, scale(60, 3)})}, decoders_,
      /*max_seconds=*/2);
  EXPECT_THAT(message_of([&] { parts.next(); }),
              AllOf(HasSubstr("the recording: "), HasSubstr("the limit is 2 s"),
                    HasSubstr("raise --max-seconds")));
}

// The files that this thread opens are opened for another user: root may read any.
TEST_F(Parts, SayWhatMayNotBeRead) {
  constexpr uid_t kNobody = 65534;
  const std::string sound = write("a.wav", {data::kSampleRate, 1, scale(60, 3)});
  fs::permissions(folder_.path(), fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
  fs::permissions(sound, fs::perms::none);
  const uid_t user = ::geteuid();
  if (user == 0) ::setfsuid(kNobody);
  const auto read = [&] {
    RecordingParts({.number = 1, .location = sound}, decoders_, kLongestRecording_s);
  };
  const std::string message = message_of(read);
  const ExitCode code = code_of(read);
  ::setfsuid(user);
  EXPECT_EQ(code, ExitCode::kNoPermission);
  EXPECT_THAT(message, AllOf(HasSubstr("a.wav: cannot read"), HasSubstr("check its permissions")));
}

class ExtractInParts : public ExtractionTest {
 protected:
  static constexpr int64_t kPart = 5;

  void write(const std::string& name, const std::vector<float>& samples) const {
    audio::write_audio(folder_.path() / "music" / name, {data::kSampleRate, 1, samples},
                       audio::SampleFormat::kFloat);
  }
  Extraction run(const std::string& output) const {
    return extract(
        {.inputs = {folder_ / "music"}, .output = folder_ / output, .weights = folder_.path()});
  }
  // 13 windows: two parts of 5, and the rest.
  static std::vector<float> long_sound() { return scale(48, 75); }
  // Extracts music/ in parts of five windows, until nothing waits or `should_stop`.
  TableCounts extract_in_parts(
      const std::string& output, const std::function<bool()>& should_stop = [] { return false; }) {
    const fs::path folder = folder_.path() / output;
    fs::create_directories(folder);
    const Json options = SqliteTable(folder_ / "whole/recordings.sqlite", nullptr, 30).options();
    SqliteTable table(folder / "recordings.sqlite", options, 30);
    std::vector<FoundFile> found;
    for (const char* name : {"long.wav", "short.wav"}) {
      found.push_back({folder_.path() / "music" / name, 1});
    }
    table.add(found);
    FolderStore store(folder);
    ExtractionMetrics metrics;
    Worker worker(table, store, tools_, metrics,
                  {.part_windows = kPart, .should_stop = should_stop});
    while (worker.work()) {
    }
    return table.counts();
  }

  runtime::Session session_{session_options()};
  const models::codec::CodecSession codec_{session_, folder_ / "codec"};
  const FeatureTools tools_{transcriber(session_, {}), "basic-pitch", token_encoder(codec_)};
};

// As by a file that its decoder cannot bear.
TEST_F(ExtractInParts, SetsARecordingAsideWhoseDecoderCrashes) {
  write("long.wav", long_sound());
  write("short.wav", scale(60, 8));
  run("whole");
  int asked = 0;
  const auto counts = extract_in_parts("parts", [&] {
    const bool is_after_first_part = ++asked == 3;  // before it claims and before the recording
    for (const pid_t decoder : decode::running_decoders()) {
      if (is_after_first_part) ::kill(decoder, SIGABRT);
    }
    return false;
  });
  EXPECT_EQ(counts.done, 1);
  const auto failed = extraction_status(folder_ / "parts").set_aside;
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_THAT(failed[0].location, HasSubstr("long.wav"));
  EXPECT_THAT(failed[0].reason, HasSubstr("crashes its decoder"));
}

TEST_F(ExtractInParts, MakesTheSameWindowsAsFromTheWhole) {
  write("long.wav", long_sound());
  write("short.wav", scale(60, 8));
  run("whole");
  const auto counts = extract_in_parts("parts");
  EXPECT_EQ(counts.done, 2);
  EXPECT_EQ(counts.seconds, 83);
  run("parts");  // lists the shards
  EXPECT_EQ(data::read_manifest(folder_ / "whole").shards.size(), 1U);
  EXPECT_EQ(data::read_manifest(folder_ / "parts").shards.size(), 2U);  // one of the long recording
  const auto whole = files_of(folder_ / "whole"), parts = files_of(folder_ / "parts");
  ASSERT_EQ(whole.size(), parts.size());
  for (const auto& [name, hash] : whole) {
    ASSERT_TRUE(parts.contains(name)) << name;
    if (name.ends_with(".audio-feature.npy")) {
      EXPECT_EQ(parts.at(name), hash) << name;
    }
  }
  std::map<std::pair<std::string, int64_t>, int64_t> differences;  // by recording and window
  const auto count_notes = [&](const std::string& folder, int sign) {
    const data::ItemFolder items(folder_ / folder);
    for (int64_t i = 0; i < items.size(); ++i) {
      const Json meta = items[i].meta();
      EXPECT_EQ(meta.at("start"), 6.0 * meta.at("window").get<double>());
      differences[{meta.at("recording"), meta.at("window")}] +=
          sign * std::ssize(items[i].notes().melody);
    }
  };
  count_notes("whole", 1);
  count_notes("parts", -1);
  ASSERT_EQ(differences.size(), 15U);
  for (const auto& [window, difference] : differences) {
    EXPECT_LE(std::abs(difference), 2) << window.second;
  }
}

TEST_F(ExtractInParts, ForgetsTheFirstPartsOfARecordingThatFailsLater) {
  auto sound = long_sound();
  write("long.wav", sound);
  write("short.wav", scale(60, 8));
  run("whole");
  sound.back() = std::numeric_limits<float>::quiet_NaN();
  write("long.wav", sound);
  const auto counts = extract_in_parts("parts");
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.failed, 1);
  run("parts");
  EXPECT_EQ(data::read_manifest(folder_ / "parts").items(), 2);
  const auto failed = extraction_status(folder_ / "parts").set_aside;
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_THAT(failed[0].reason, HasSubstr("1 of 1653750 samples are not finite"));
}

TEST_F(ExtractInParts, StopsBetweenParts) {
  write("long.wav", long_sound());
  write("short.wav", scale(60, 8));
  run("whole");
  int asked = 0;
  const auto stopped = extract_in_parts("parts", [&] { return ++asked > 3; });
  EXPECT_EQ(stopped.waiting, 2);
  EXPECT_TRUE(FolderStore(folder_ / "parts").list().empty());
  EXPECT_EQ(extract_in_parts("parts").done, 2);
}

}  // namespace
}  // namespace hum::app
