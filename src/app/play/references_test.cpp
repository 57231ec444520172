// The notes of references, and the part of a recording that is used.
#include "app/play/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

#include "audio/io.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "data/synthesis/timing.h"

namespace hum::app {
namespace {

using audio::Note;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Tones of the given seconds and levels, one after another.
std::vector<float> tones(const std::vector<std::pair<double, float>>& parts) {
  std::vector<float> samples;
  for (const auto& [seconds, level] : parts) {
    const int64_t count = data::sample_of(seconds);
    for (int64_t i = 0; i < count; ++i) {
      samples.push_back(level * std::sin(0.1F * static_cast<float>(i)));
    }
  }
  return samples;
}

double part_s(const std::vector<float>& samples, double seconds) {
  return static_cast<double>(best_part(samples, seconds)) / data::kSampleRate;
}

TEST(References, UseThePartThatSoundsLongest) {
  const auto samples = tones({{1, 0.5F}, {2, 0.0F}, {3, 0.5F}, {1, 0.0F}});
  EXPECT_NEAR(part_s(samples, 3), 3, 0.03);
  EXPECT_NEAR(part_s(samples, 2), 3, 0.03);  // the first of several
  EXPECT_EQ(part_s(samples, 10), 0);
  EXPECT_EQ(part_s(tones({{6, 0.5F}}), 3), 0);
}

TEST(References, UseAPartThatHasAPitch) {
  std::vector<float> samples;
  Rng rng(1, "noise");
  while (std::ssize(samples) < data::sample_of(3)) {
    samples.push_back(static_cast<float>(0.3 * rng.normal()));
  }
  EXPECT_EQ(part_s(samples, 2), 0);
  const auto notes = tones({{0.5, 0.3F}, {0.5, 0.0F}, {0.5, 0.3F}});
  samples.insert(samples.end(), notes.begin(), notes.end());
  EXPECT_NEAR(part_s(samples, 1.5), 3, 0.1);
}

TEST(References, ShareFairly) {
  const auto shares = [](std::vector<int64_t> sizes) { return fair_shares(sizes, 250); };
  EXPECT_THAT(shares({250}), ElementsAre(250));
  EXPECT_THAT(shares({60}), ElementsAre(60));
  EXPECT_THAT(shares({250, 250, 250}), ElementsAre(83, 83, 84));
  EXPECT_THAT(shares({200, 50, 200}), ElementsAre(100, 50, 100));
  EXPECT_THAT(shares({60, 50, 70}), ElementsAre(60, 50, 70));
}

class Clips : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::vector<float>& samples) const {
    audio::write_audio(folder_ / name, {data::kSampleRate, 1, samples});
    return folder_ / name;
  }
  std::vector<Clip> read(const std::vector<std::string>& files) {
    return read_clips(files, 2000, warnings_);
  }

  const ScratchFolder folder_;
  std::vector<std::string> warnings_;
};

double used_s(const ClipPart& part) { return part.to_s - part.from_s; }
double read_s(const ClipPart& part) { return part.read_to_s - part.read_from_s; }

TEST_F(Clips, GiveTheirBestSecondsAndShareWhatTheModelsRead) {
  const auto clips = read({write("late.wav", tones({{1, 0.5F}, {2, 0.0F}, {8, 0.5F}})),
                           write("short.wav", tones({{1.5, 0.2F}}))});
  ASSERT_EQ(clips.size(), 2U);
  const auto& [late, late_samples] = clips[0];
  EXPECT_NEAR(late.from_s, 3, 0.03);
  EXPECT_NEAR(used_s(late), 5, 1e-3);
  EXPECT_EQ(std::ssize(late_samples), data::sample_of(5));
  EXPECT_NEAR(late.recording_s, 11, 1e-3);
  EXPECT_NEAR(read_s(late), 3.5, 0.03);
  EXPECT_NEAR(used_s(clips[1].part), 1.5, 1e-3);
  EXPECT_NEAR(read_s(clips[1].part), 1.5, 0.03);
}

TEST_F(Clips, AreThirtySecondsInAllAtMost) {
  std::vector<std::string> files;
  for (int i = 0; i < 10; ++i) files.push_back(write(fmt::format("{}.wav", i), tones({{6, 0.5F}})));
  double all_used_s = 0, all_read_s = 0;
  for (const Clip& clip : read(files)) {
    EXPECT_NEAR(used_s(clip.part), 3, 1e-3);
    all_used_s += used_s(clip.part);
    all_read_s += read_s(clip.part);
  }
  EXPECT_NEAR(all_used_s, 30, 0.01);
  EXPECT_NEAR(all_read_s, 5, 0.01);
}

TEST_F(Clips, AreRefusedByName) {
  const std::string good = write("good.wav", tones({{2, 0.5F}}));
  const auto refused = [&](const std::string& file) {
    return hum::testing::message_of([&] { read({good, file}); });
  };
  EXPECT_THAT(refused(write("brief.wav", tones({{0.1, 0.5F}}))), HasSubstr("brief.wav: 0.10 s"));
  EXPECT_THAT(refused(write("still.wav", tones({{3, 0.0F}, {0.5, 0.5F}}))),
              HasSubstr("still.wav: 0.50 s of sound is too little"));
  EXPECT_THAT(refused(write("silent.wav", tones({{3, 0.0F}}))), HasSubstr("silent.wav: is silent"));
  EXPECT_THAT(refused(folder_ / "none.wav"), HasSubstr("none.wav: no such file"));
}

// The most memory that the process has had.
int64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * int64_t{1024};
}

TEST_F(Clips, OfTwentyMinutesAreInMemoryOneAtATime) {
  const std::string file = write("long.wav", tones({{20.0 * 60, 0.5F}}));
  read({file});
  const int64_t one = peak_bytes();
  const auto clips = read({file, file, file, file});
  EXPECT_EQ(std::ssize(clips[3].samples), data::sample_of(5));
  const int64_t recording = 20 * 60 * data::kSampleRate * int64_t{sizeof(float)};
  EXPECT_LT(peak_bytes() - one, recording);
}

TEST(References, CountQuietSoundAsARest) {
  // 40 dB below the loudest, then 20 dB below.
  EXPECT_NEAR(part_s(tones({{2, 0.005F}, {1, 0.5F}, {2, 0.05F}}), 2), 2, 0.05);
}

TEST(References, CoverTheRangeOfAPresetSoftlyAndLoudly) {
  const auto& violin = data::find_preset("violin");
  const auto notes = single_notes(violin);
  ASSERT_EQ(notes.size(), 16U);
  EXPECT_EQ(notes.front().pitch, violin.low);
  EXPECT_EQ(notes.back().pitch, violin.high);
  for (size_t i = 0; i < notes.size(); i += 2) {
    EXPECT_EQ(notes[i].pitch, notes[i + 1].pitch);
    EXPECT_LT(notes[i].amplitude, notes[i + 1].amplitude);
    EXPECT_EQ(notes[i].start_s, static_cast<double>(i));
    EXPECT_TRUE(i == 0 || notes[i].pitch > notes[i - 1].pitch);
  }
}

TEST(References, KeepTheSurestOfNotesThatSoundTogether) {
  const Note base{.start_s = 0, .end_s = 1, .pitch = 60, .amplitude = 0.8};
  const Note overtone{.start_s = 0.1, .end_s = 0.9, .pitch = 72, .amplitude = 0.4};
  const Note next{.start_s = 0.95, .end_s = 1.5, .pitch = 62, .amplitude = 0.5};
  EXPECT_THAT(one_line({overtone, next, base}), ElementsAre(base, next));
  EXPECT_TRUE(one_line({}).empty());
}

TEST(References, KnowFramesOfChords) {
  const std::vector<Note> notes = {{.start_s = 0, .end_s = 0.06, .pitch = 60},
                                   {.start_s = 0.04, .end_s = 0.10, .pitch = 64}};
  EXPECT_THAT(frames_of_one_note(notes, 6), ElementsAre(1, 1, 0, 1, 1, 1));
  EXPECT_THAT(frames_of_one_note(notes, 2), ElementsAre(1, 1));
  const std::vector<Note> touching = {{.start_s = 0, .end_s = 0.05, .pitch = 60},
                                      {.start_s = 0.05, .end_s = 0.10, .pitch = 64}};
  EXPECT_THAT(frames_of_one_note(touching, 6), ElementsAre(1, 1, 1, 1, 1, 1));
}

}  // namespace
}  // namespace hum::app
