#include "pipeline/recording.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "audio/test_signal.h"
#include "base/error.h"
#include "data/synthesis/timing.h"

namespace hum::pipeline {
namespace {

namespace fs = std::filesystem;

class Recordings : public testing::Test {
 protected:
  Recordings() : folder_(fs::temp_directory_path() / fmt::format("hum-recording-{}", getpid())) {
    fs::create_directories(folder_);
  }
  ~Recordings() override { fs::remove_all(folder_); }

  fs::path write(const std::vector<float>& mono, int rate_hz, int channels = 1) {
    const fs::path path = folder_ / "sound.wav";
    audio::write_audio(path, audio::from_mono(mono, rate_hz, channels),
                       audio::SampleFormat::kFloat);
    return path;
  }
  static Recording read(const fs::path& path) {
    audio::SourceFormat source;
    auto mono = audio::read_mono(path, audio::kDefaultMaxSeconds, &source);
    return checked_recording(std::move(mono), source, path.string());
  }
  ExitCode code_of(const fs::path& path) {
    try {
      read(path);
    } catch (const Error& error) {
      message_ = error.what();
      return error.code();
    }
    return ExitCode::kOk;
  }

  fs::path folder_;
  std::string message_;
};

TEST_F(Recordings, ArriveAsMonoAt22050Hz) {
  const auto recording = read(write(audio::tone(220, 1, 44100), 44100, 2));
  EXPECT_EQ(recording.samples.size(), 22050U);
  EXPECT_DOUBLE_EQ(recording.seconds, 1);
  EXPECT_TRUE(recording.warnings.empty());
}

TEST_F(Recordings, OfATenthOfASecondAreRefused) {
  EXPECT_EQ(code_of(write(audio::tone(220, 0.1, 22050), 22050)), ExitCode::kBadData);
  EXPECT_THAT(message_, testing::HasSubstr("only 0.10 s long"));
}

TEST_F(Recordings, OfSilenceAreRefused) {
  EXPECT_EQ(code_of(write(audio::tone(220, 1, 22050, 5e-5), 22050)), ExitCode::kBadData);
  EXPECT_THAT(message_, testing::HasSubstr("is silent"));
}

TEST_F(Recordings, OfAConstantLevelAreSilent) {
  EXPECT_EQ(code_of(write(std::vector<float>(22050, 0.25F), 22050)), ExitCode::kBadData);
  EXPECT_THAT(message_, testing::HasSubstr("is silent, at a constant level of 0.25"));
}

TEST_F(Recordings, LoseAConstantOffset) {
  const auto tone = audio::tone(220, 1, 22050, 0.3);
  auto raised = tone;
  for (float& sample : raised) sample += 0.25F;
  const auto recording = read(write(raised, 22050));
  for (size_t i = 0; i < tone.size(); ++i) ASSERT_NEAR(recording.samples[i], tone[i], 1e-4) << i;
}

TEST_F(Recordings, InOppositePhaseAreHeardThroughOneChannel) {
  const auto left = audio::tone(220, 1, 22050, 0.3);
  audio::AudioBuffer stereo{22050, 2, {}};
  for (const float sample : left) stereo.samples.insert(stereo.samples.end(), {sample, -sample});
  const fs::path path = folder_ / "stereo.wav";
  audio::write_audio(path, stereo, audio::SampleFormat::kFloat);
  const auto recording = read(path);
  EXPECT_EQ(recording.samples, left);
  EXPECT_THAT(recording.warnings,
              testing::ElementsAre(testing::HasSubstr("opposite phase and cancel each other; only "
                                                      "the left one is used")));
}

TEST_F(Recordings, ThatAreClippedWorkWithAWarning) {
  auto samples = audio::tone(220, 1, 22050, 3);
  for (float& sample : samples) sample = std::clamp(sample, -1.0F, 1.0F);
  const auto recording = read(write(samples, 22050));
  EXPECT_THAT(recording.warnings, testing::ElementsAre(testing::HasSubstr("is clipped")));
}

TEST_F(Recordings, OfEightChannelsAt192KHzWorkWithAWarning) {
  const auto recording = read(write(audio::tone(220, 1, 192000), 192000, 8));
  EXPECT_EQ(recording.samples.size(), 22050U);
  EXPECT_THAT(recording.warnings, testing::ElementsAre(testing::HasSubstr("8 channels"),
                                                       testing::HasSubstr("192000 Hz")));
}

TEST_F(Recordings, LeaveOutputsAloneThatAreOnlyChecked) {
  const fs::path path = folder_ / "out.wav";
  std::ofstream(path) << "old";
  require_output(path, {".wav"});
  EXPECT_EQ(fs::file_size(path), 3U);
  EXPECT_THROW(require_output(folder_ / "out.mp3", {".wav", ".flac"}), Error);
  EXPECT_THROW(require_output(folder_ / "missing" / "out.wav", {".wav"}), Error);
  EXPECT_NO_THROW(require_output(folder_ / "OUT.WAV", {".wav"}));
}

}  // namespace
}  // namespace hum::pipeline
