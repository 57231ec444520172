#include "decode/stream.h"

#include <gmock/gmock.h>

#include <csignal>

#include "base/files.h"
#include "base/sanitizers.h"
#include "base/scratch_folder.h"
#include "base/testing/refusal.h"
#include "decode/child_entry_test.h"
#include "decode/testing.h"

namespace hum::decode {
namespace {

namespace fs = std::filesystem;
using hum::testing::code_of;
using hum::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr double kMost_s = 1000;

StreamLimits limits() {
  return {.words = {.bytes = {},
                    .name = "the sound",
                    .format_hint = "convert it",
                    .length_hint = "split it"}};
}

class StreamTest : public ::testing::Test {
 protected:
  // A rising tone of this length.
  std::string write(const std::string& name, double seconds, int channels = 2) const {
    audio::AudioBuffer sound{22050, channels, {}};
    const auto frames = static_cast<int64_t>(seconds * sound.rate_hz);
    for (int64_t i = 0; i < frames * channels; ++i) {
      sound.samples.push_back(static_cast<float>(i % 1000) / 1000 - 0.5F);
    }
    audio::write_audio(folder_.path() / name, sound);
    return folder_ / name;
  }
  static audio::AudioBuffer all(SoundStream& stream) {
    audio::AudioBuffer sound = stream.next();
    while (true) {
      const audio::AudioBuffer block = stream.next();
      if (block.samples.empty()) return sound;
      EXPECT_EQ(block.rate_hz, sound.rate_hz);
      EXPECT_EQ(block.channels, sound.channels);
      sound.samples.insert(sound.samples.end(), block.samples.begin(), block.samples.end());
    }
  }
  static void expect_whole(Decoders& decoders, const std::string& file) {
    const auto sound = all(*decoders.open(file, kMost_s)), expected = audio::read_audio(file);
    EXPECT_EQ(sound.rate_hz, expected.rate_hz);
    EXPECT_EQ(sound.channels, expected.channels);
    EXPECT_TRUE(sound.samples == expected.samples) << file;
  }
  // A program that answers so in place of a decoder.
  fs::path program(const std::string& lines) const {
    write_file(folder_ / "decoder", "#!/bin/sh\n" + lines);
    fs::permissions(folder_ / "decoder", fs::perms::owner_all);
    return folder_ / "decoder";
  }

  ScratchFolder folder_;
};

TEST_F(StreamTest, PassesOnTheSamplesOfFileAfterFile) {
  Decoders decoders(limits());
  const auto children = running_decoders();
  ASSERT_THAT(children, SizeIs(1));
  for (const char* name : {"a.wav", "b.flac", "c.ogg", "d.mp3"}) {
    expect_whole(decoders, write(name, 30));
  }
  expect_whole(decoders, write("short.wav", 0.01, 1));
  EXPECT_EQ(running_decoders(), children);
}

TEST_F(StreamTest, SeveralAreOpenAtOnce) {
  Decoders decoders(limits());
  const std::string file = write("a.wav", 60);
  const auto first = decoders.open(file, kMost_s), second = decoders.open(file, kMost_s);
  EXPECT_THAT(running_decoders(), SizeIs(2));
  EXPECT_EQ(first->next().samples, second->next().samples);
  EXPECT_EQ(all(*first).samples, all(*second).samples);
  EXPECT_TRUE(first->next().samples.empty());
}

TEST_F(StreamTest, OneThatIsNotReadToItsEndEndsItsChild) {
  Decoders decoders(limits());
  const std::string file = write("a.wav", 200);
  decoders.open(file, kMost_s)->next();
  EXPECT_THAT(running_decoders(), SizeIs(0));
  expect_whole(decoders, file);
}

TEST_F(StreamTest, FaultsOfFilesAreNamedAndCostNoChild) {
  Decoders decoders(limits());
  const auto children = running_decoders();
  const auto fault = [&](const std::string& file, double max_seconds = kMost_s) {
    const auto read = [&] { all(*decoders.open(file, max_seconds)); };
    return fmt::format("{} {}", static_cast<int>(code_of(read)), message_of(read));
  };
  write_file(folder_ / "words", "no sound at all");
  write_file(folder_ / "empty", "");
  const std::string cut = write("cut.wav", 10);
  fs::resize_file(cut, 1000);
  std::string slow = read_file(write("slow.wav", 1));
  write_file(folder_ / "slow.wav", slow.replace(24, 4, "\x01\0\0\0", 4));  // 1 Hz
  EXPECT_THAT(fault(folder_ / "slow.wav", 1e6),
              HasSubstr("65 the sound: has a sample rate of 1 Hz"));
  EXPECT_THAT(fault(folder_ / "words"),
              AllOf(HasSubstr("65 the sound: not a sound file"), HasSubstr("convert it")));
  EXPECT_THAT(fault(folder_ / "empty"), HasSubstr("65 the sound: is empty"));
  EXPECT_THAT(fault(cut), HasSubstr("65 the sound: the file is truncated"));
  EXPECT_THAT(fault(write("long.wav", 10), 5),
              AllOf(HasSubstr("limit is 5 s"), HasSubstr("split")));
  EXPECT_THAT(fault(folder_ / "gone"), HasSubstr("66 the sound: is not a file"));
  EXPECT_THAT(fault(folder_.path()), HasSubstr("66 the sound: is not a file"));
  EXPECT_EQ(running_decoders(), children);
}

TEST_F(StreamTest, ACrashIsAFaultOfTheFileAlone) {
  Decoders decoders(limits());
  const std::string file = write("a.wav", 200);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGSYS, SIGKILL}) {
    const auto stream = decoders.open(file, kMost_s);
    stream->next();
    for (const pid_t decoder : running_decoders()) ::kill(decoder, signal);
    const auto expected = signal == SIGKILL ? ExitCode::kTemporary : ExitCode::kBadData;
    EXPECT_EQ(code_of([&] { all(*stream); }), expected) << signal;
  }
  // Sanitizers handle a SIGSEGV themselves, by calls that the sandbox forbids.
  const auto stream = decoders.open(file, kMost_s);
  for (const pid_t decoder : running_decoders()) ::kill(decoder, SIGABRT);
  EXPECT_THAT(message_of([&] { all(*stream); }), HasSubstr("the sound: crashes its decoder"));
  expect_whole(decoders, file);
  // One that dies between two files.
  for (const pid_t decoder : running_decoders()) {
    ::kill(decoder, SIGKILL);
    EXPECT_TRUE(hum::testing::eventually([&] { return !hum::testing::is_running(decoder); }));
  }
  expect_whole(decoders, file);
}

TEST_F(StreamTest, ADecoderThatHangsIsKilled) {
  StreamLimits short_limits = limits();
  short_limits.wall_time = std::chrono::seconds(1);
  Decoders decoders(short_limits);
  const auto stream = decoders.open(write("a.wav", 200), kMost_s);
  stream->next();
  for (const pid_t decoder : running_decoders()) ::kill(decoder, SIGSTOP);
  EXPECT_THAT(message_of([&] { all(*stream); }), HasSubstr("was not read within 1 s"));
  EXPECT_THAT(running_decoders(), SizeIs(0));
}

// The first block of a decoder that is ready.
constexpr const char* kReady = "printf '\\377hum''d001' >&3\n/usr/bin/head -c 32 /dev/zero >&3\n";

TEST_F(StreamTest, ADecoderThatIsBusyForEverIsKilled) {
  StreamLimits short_limits = limits();
  short_limits.processor_time = std::chrono::seconds(1);
  short_limits.program = program(std::string(kReady) + "while :; do :; done\n");
  Decoders decoders(short_limits);
  const auto stream = decoders.open(write("a.wav", 1), kMost_s);
  EXPECT_THAT(message_of([&] { stream->next(); }), HasSubstr("keeps its decoder busy"));
}

TEST_F(StreamTest, ADecoderThatAnswersNonsenseIsNotBelieved) {
  StreamLimits lied_to = limits();
  lied_to.program =
      program("printf 0123456789012345678901234567890123456789 >&3\nexec /bin/sleep 60\n");
  EXPECT_THAT(message_of([&] { Decoders decoders(lied_to); }), HasSubstr("answer nonsense"));
  // The end of a sound that has not begun.
  lied_to.program = program(std::string(kReady) + kReady + "exec /bin/sleep 60\n");
  Decoders decoders(lied_to);
  const auto stream = decoders.open(write("a.wav", 1), kMost_s);
  EXPECT_THAT(message_of([&] { stream->next(); }), HasSubstr("answer nonsense"));
  lied_to.program = program("exit 3\n");
  EXPECT_THAT(message_of([&] { Decoders other(lied_to); }), HasSubstr("exit code 3"));
}

// Such a program would start itself again and again. These children could decode: they are refused
// only because they have not entered.
TEST(DecoderEntry, IsRequiredOfAProgramThatRunsItself) {
  EXPECT_EQ(try_misdeed("none", "decode without entry").exit_code, kRefused);
  EXPECT_EQ(try_misdeed("none", "decode without entry, by path").exit_code, kRefused);
}

}  // namespace
}  // namespace hum::decode
