#include "decode/confined.h"

#include <gmock/gmock.h>
#include <sndfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/scratch_folder.h"
#include "base/testing/mutation.h"
#include "base/testing/refusal.h"
#include "decode/handover_impl.h"
#include "decode/sandbox.h"

namespace hum::decode {
namespace {
namespace fs = std::filesystem;
using audio::AudioBuffer;
using audio::SampleFormat;
using ::testing::HasSubstr;

int64_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// Every test ends without a child, an open file or another file than those it made.
class Confined : public ::testing::Test {
 protected:
  void SetUp() override { open_files_ = entries("/proc/self/fd"); }
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_EQ(entries("/proc/self/fd"), open_files_);
    EXPECT_EQ(entries(out_.path()), 0);
  }

  fs::path upload(const std::string& name) { return folder_.path() / name; }
  fs::path write(const std::string& name, const AudioBuffer& sound,
                 SampleFormat format = SampleFormat::k16) {
    audio::write_audio(upload(name), sound, format);
    return upload(name);
  }
  fs::path write_bytes(const std::string& name, const std::string& bytes) {
    std::ofstream(upload(name), std::ios::binary) << bytes;
    return upload(name);
  }

  // Decodes, reads the result and removes it.
  AudioBuffer decode(const fs::path& file, const DecodeLimits& limits = {}) {
    const fs::path wav = out_.path() / "sound.wav";
    decoded_ = decode_confined(file, wav, limits);
    EXPECT_EQ(entries(out_.path()), 1);
    AudioBuffer sound = audio::read_audio(wav, 1e6);
    fs::remove(wav);
    EXPECT_EQ(sound.rate_hz, decoded_.rate_hz);
    EXPECT_EQ(sound.channels, decoded_.channels);
    EXPECT_EQ(sound.seconds(), decoded_.seconds);
    return sound;
  }
  std::string error_of(const fs::path& file, const DecodeLimits& limits = {}) {
    code_ = ExitCode::kOk;
    try {
      decode(file, limits);
    } catch (const Error& error) {
      code_ = error.code();
      return error.what();
    }
    return "nothing was thrown";
  }
  void expect_bad(const fs::path& file, const std::string& reason,
                  const DecodeLimits& limits = {}) {
    EXPECT_THAT(error_of(file, limits), HasSubstr(reason)) << file;
    EXPECT_EQ(code_, ExitCode::kBadData) << file;
  }
  void expect_as_read_mono(const fs::path& file) {
    audio::SourceFormat source;
    const AudioBuffer expected = audio::read_mono(file, 600, &source);
    const AudioBuffer sound = decode(file);
    EXPECT_EQ(sound.channels, 1);
    EXPECT_EQ(sound.rate_hz, expected.rate_hz);
    EXPECT_TRUE(sound.samples == expected.samples) << file;
    EXPECT_EQ(decoded_.source.rate_hz, source.rate_hz);
    EXPECT_EQ(decoded_.source.channels, source.channels);
    EXPECT_EQ(decoded_.source.clipped_fraction, source.clipped_fraction);
    EXPECT_EQ(decoded_.source.only_channel, source.only_channel);
  }
  void expect_as_read_audio(const fs::path& file) {
    const AudioBuffer expected = audio::read_audio(file);
    const AudioBuffer sound = decode(file, {.mono = false});
    EXPECT_EQ(sound.channels, expected.channels);
    EXPECT_EQ(sound.rate_hz, expected.rate_hz);
    EXPECT_TRUE(sound.samples == expected.samples) << file;
  }

  ScratchFolder folder_, out_;
  Decoded decoded_;
  ExitCode code_ = ExitCode::kOk;
  int64_t open_files_ = 0;
};

AudioBuffer sweep(double seconds, int rate_hz = 22050, int channels = 1) {
  const auto samples = static_cast<int64_t>(seconds * rate_hz);
  return audio::from_mono(audio::test_signal(samples, rate_hz), rate_hz, channels);
}

void write_opus(const fs::path& path, const AudioBuffer& sound) {
  SF_INFO info{};
  info.samplerate = sound.rate_hz;
  info.channels = sound.channels;
  info.format = SF_FORMAT_OGG | SF_FORMAT_OPUS;
  SNDFILE* file = ::sf_open(path.c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(::sf_writef_float(file, sound.samples.data(), sound.frames()), sound.frames());
  ::sf_close(file);
}

TEST_F(Confined, EveryFormatGivesTheSamplesThatHumReads) {
  const struct {
    const char* name;
    SampleFormat format;
  } rows[] = {{"a.wav", SampleFormat::k16},    {"b.wav", SampleFormat::k24},
              {"c.wav", SampleFormat::kFloat}, {"d.flac", SampleFormat::k16},
              {"e.flac", SampleFormat::k24},   {"f.ogg", SampleFormat::k16},
              {"g.mp3", SampleFormat::k16}};
  for (const auto& row : rows) {
    for (const int channels : {1, 2}) {
      const fs::path file = write(row.name, sweep(1.3, 44100, channels), row.format);
      expect_as_read_mono(file);
      expect_as_read_audio(file);
    }
  }
  write_opus(upload("h.opus"), sweep(1.3, 48000));
  expect_as_read_mono(upload("h.opus"));
}

TEST_F(Confined, TheContentDecidesNotTheName) {
  const AudioBuffer expected = audio::read_audio(write("a.flac", sweep(1)));
  fs::rename(upload("a.flac"), upload("a.mp3"));
  EXPECT_TRUE(decode(upload("a.mp3")).samples == expected.samples);
  const std::string words(3000, 'x');
  for (const char* head : {"", "RIFFxxxxAVI ", "FORMxxxx8SVX", "ID3xxxxxxx", "NIST_1A", "riff"}) {
    expect_bad(write_bytes("text.mp3", head + words), "the recording is not a sound file");
  }
  for (const char* head : {"RIFFxxxxWAVE", "FORMxxxxAIFF", "fLaC", "OggS", "caff", ".snd"}) {
    expect_bad(write_bytes("text.wav", head + words), "the recording ");
  }
}

TEST_F(Confined, ManyChannelsAtAHighRateBecomeOne) {
  const fs::path file = write("a.wav", sweep(0.5, 192000, 8), SampleFormat::k24);
  expect_as_read_mono(file);
  EXPECT_EQ(decoded_.source.channels, 8);
  EXPECT_EQ(decoded_.rate_hz, 192000);
  const AudioBuffer sound = decode(file, {.mono = false});
  EXPECT_TRUE(sound.samples == audio::to_mono(audio::read_audio(file)).samples);
}

TEST_F(Confined, OfChannelsThatCancelEachOtherTheLoudestIsUsed) {
  AudioBuffer sound{22050, 2, {}};
  for (const float sample : audio::tone(220, 2, 22050, 0.4)) {
    sound.samples.insert(sound.samples.end(), {-0.9F * sample, sample});
  }
  expect_as_read_mono(write("a.wav", sound, SampleFormat::kFloat));
  EXPECT_EQ(decoded_.source.only_channel, 1);
}

TEST_F(Confined, ClippingIsMeasured) {
  std::vector<float> hot = audio::tone(220, 1, 22050, 1.5);
  for (float& sample : hot) sample = std::clamp(sample, -1.0F, 1.0F);
  expect_as_read_mono(write("a.wav", audio::from_mono(hot, 22050, 2)));
  EXPECT_GT(decoded_.source.clipped_fraction, 0.4);
}

TEST_F(Confined, EmptyTruncatedSilentAndShortFilesAreRefused) {
  expect_bad(write_bytes("empty.wav", ""), "the recording is empty");
  for (const char* name : {"a.wav", "a.flac", "a.ogg", "a.mp3"}) {
    const std::string bytes = read_file(write(name, sweep(3)));
    for (const double part : {0.3, 0.7, 0.98}) {
      const auto size = static_cast<size_t>(part * static_cast<double>(bytes.size()));
      expect_bad(write_bytes(name, bytes.substr(0, size)), "the recording is truncated");
    }
  }
  expect_bad(write("silent.wav", {22050, 1, std::vector<float>(22050)}), "the recording is silent");
  expect_bad(write("level.wav", {22050, 2, std::vector<float>(44100, 0.25F)}),
             "the recording is silent");
  expect_bad(write("short.wav", sweep(0.1)), "the recording is only 0.10 s long");
  EXPECT_EQ(decode(write("short.wav", sweep(0.1)), {.min_seconds = 0}).frames(), 2205);
  expect_bad(write("none.wav", {22050, 1, {}}), "no sound", {.name = "the backing track"});
  EXPECT_THAT(error_of(upload("none.wav"), {.name = "the backing track"}),
              HasSubstr("the backing track holds no sound"));
  const std::string name = "M\xc3\xbcller-" + std::string(1000, 'x');
  EXPECT_THAT(error_of(upload("none.wav"), {.name = name}), HasSubstr(name + " holds no sound"));
}

TEST_F(Confined, SamplesThatAreNotFiniteAreRefused) {
  AudioBuffer sound = sweep(1);
  sound.samples[3] = std::numeric_limits<float>::quiet_NaN();
  sound.samples[7] = std::numeric_limits<float>::infinity();
  expect_bad(write("a.wav", sound, SampleFormat::kFloat), "2 of 22050 samples");
}

TEST_F(Confined, OverLongFilesAreRefusedHoweverTheyAreWritten) {
  expect_bad(write("a.wav", sweep(3)), "3.0 s long, the limit is 2 s", {.max_seconds = 2});
  // An mp3 without the frame that states its length: the limit acts while it is decoded.
  std::string mp3 = read_file(write("a.mp3", sweep(20)));
  for (const char* tag : {"Xing", "Info"}) {
    if (const size_t at = mp3.find(tag); at < 500) mp3.replace(at, 4, 4, '\0');
  }
  expect_bad(write_bytes("b.mp3", mp3), "the recording is longer than the limit of 2 s",
             {.max_seconds = 2});
  // Twenty minutes in a few kilobytes.
  const fs::path ogg = write("a.ogg", {8000, 1, std::vector<float>(20 * 60 * 8000)});
  EXPECT_LT(fs::file_size(ogg), 200'000u);
  expect_bad(ogg, "1200.0 s long, the limit is 600 s");
  EXPECT_THAT(error_of(ogg), HasSubstr("hint: upload a shorter one"));
}

TEST_F(Confined, AWavThatLiesAboutItselfIsRefused) {
  const std::string bytes = read_file(write("a.wav", sweep(1)));
  const size_t data = bytes.find("data");
  std::string longer = bytes;
  longer.replace(data + 4, 4, "\xff\xef\xff\x7f", 4);  // from 0x7ffff000 on: a pipe, see below
  expect_bad(write_bytes("longer.wav", longer), "the recording is truncated");
  std::string fast = bytes;
  fast.replace(24, 4, "\x00\xca\x9a\x3b", 4);  // 1 GHz
  expect_bad(write_bytes("fast.wav", fast), "the recording has a sample rate of 1000000000 Hz",
             {.min_seconds = 0});
  std::string slow = bytes;
  slow.replace(24, 4, "\x01\0\0\0", 4);
  expect_bad(write_bytes("slow.wav", slow), "sample rate of 1 Hz", {.max_seconds = 1e6});
  std::string channels = bytes;
  channels.replace(22, 2, "\xff\xff", 2);
  expect_bad(write_bytes("channels.wav", channels), "the recording is not a sound file");
  // Programs that write to a pipe do not know the length.
  std::string open_end = bytes;
  open_end.replace(data + 4, 4, 4, '\xff');
  EXPECT_EQ(decode(write_bytes("open.wav", open_end)).frames(), 22050);
}

TEST_F(Confined, SamplesAndMemoryAndTimeAreLimited) {
  expect_bad(write("a.wav", sweep(3, 96000)), "more than 1 MiB of samples",
             {.result_bytes = 1 << 20});
  EXPECT_THAT(error_of(upload("a.wav"), {.wall_time = std::chrono::milliseconds(1)}),
              HasSubstr("not decoded within 1 s"));
  EXPECT_EQ(code_, ExitCode::kTemporary);
  if (kHasSanitizer) return;
  // A block of it takes 32 MiB.
  expect_bad(write("wide.wav", sweep(0.3, 8000, 512)), "more than 8 MiB to decode",
             {.memory_bytes = 8 << 20});
}

TEST_F(Confined, MissingFilesAndUnwritablePlacesAreNamed) {
  error_of(upload("none.wav"));
  EXPECT_EQ(code_, ExitCode::kNoInput);
  error_of(folder_.path());
  EXPECT_EQ(code_, ExitCode::kNoInput);
  const fs::path file = write("a.wav", sweep(1));
  const auto decode_nowhere = [&] { decode_confined(file, upload("none") / "sound.wav"); };
  EXPECT_EQ(testing::code_of(decode_nowhere), ExitCode::kCannotCreate);
}

TEST_F(Confined, AnErrorLeavesAnOlderResultAlone) {
  const fs::path wav = folder_.path() / "sound.wav";
  write_file(wav, "older");
  EXPECT_EQ(testing::code_of([&] { decode_confined(write_bytes("a.wav", "no"), wav); }),
            ExitCode::kBadData);
  EXPECT_EQ(read_file(wav), "older");
}

TEST_F(Confined, ManyAtOnceDoNotDisturbEachOther) {
  std::vector<fs::path> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(write(fmt::format("{}.flac", i), sweep(1 + 0.1 * i)));
  }
  std::vector<AudioBuffer> sounds(files.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < files.size(); ++i) {
      threads.emplace_back([&, i] {
        const fs::path wav = upload(fmt::format("{}.wav", i));
        decode_confined(files[i], wav);
        sounds[i] = audio::read_audio(wav);
      });
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_TRUE(sounds[i].samples == audio::read_audio(files[i]).samples) << i;
  }
}

TEST_F(Confined, DamagedFilesAreDecodedOrRefused) {
  constexpr int kRounds = 25;
  write_opus(upload("a.opus"), sweep(0.5, 48000));
  for (const char* name : {"a.wav", "a.flac", "a.ogg", "a.mp3", "a.opus"}) {
    if (std::string_view(name) != "a.opus") write(name, sweep(0.5, 22050, 2));
    const std::string whole = read_file(upload(name));
    Rng rng(7, name);
    for (int round = 0; round < kRounds; ++round) {
      const std::string error =
          error_of(write_bytes("damaged", mutation::damaged(whole, rng)), {.max_seconds = 20});
      EXPECT_TRUE(code_ == ExitCode::kOk || code_ == ExitCode::kBadData) << name << ": " << error;
      // The sandbox lets through what decoders need.
      EXPECT_THAT(error, ::testing::Not(HasSubstr("what no sound file needs"))) << name << round;
    }
  }
}

// A child that a malicious file has taken over. It can write any result.
class Malicious : public Confined {
 protected:
  // Shell commands in place of the decoder; descriptor 4 is the result.
  DecodeLimits limits(const std::string& commands) {
    const fs::path program = write_bytes("child.sh", "#!/bin/sh\n" + commands + "\n");
    fs::permissions(program, fs::perms::owner_all);
    DecodeLimits limits;
    limits.program = program;
    return limits;
  }
  void expect_refused(const ResultHeader& header, const std::string& rest) {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    write_bytes("forged", bytes + rest);
    expect_bad(file_, "", limits("cat " + upload("forged").string() + " >&4"));
  }
  static ResultHeader sound(int frames) {
    return {.rate_hz = 8000, .channels = 1, .source_channels = 1, .frames = frames};
  }

  fs::path file_ = write("a.wav", sweep(1));
};

TEST_F(Malicious, AResultIsCheckedNotTrusted) {
  const std::string samples(400, '\0');
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Unharmed, it is taken, so that the other rows test what they change.
  ResultHeader header = sound(100);
  write_bytes("forged",
              std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + samples);
  const std::string hand_over = "cat " + upload("forged").string() + " >&4";
  DecodeLimits child = limits(hand_over);
  EXPECT_EQ(decode(file_, child).samples, std::vector<float>(100));
  child.max_seconds = 0.012;
  expect_bad(file_, "nonsense", child);

  expect_refused(sound(101), samples);
  expect_refused(sound(0), samples);
  expect_refused(sound(-1), samples);
  std::string poisoned = samples;
  poisoned.replace(40, 4, reinterpret_cast<const char*>(&nan), 4);
  expect_refused(sound(100), poisoned);
  for (const int channels : {0, -1, 2, 1 << 30}) {
    header = sound(50);
    header.channels = channels;
    expect_refused(header, samples);
  }
  for (const int rate_hz : {0, -8000, 999, 1 << 30}) {
    header = sound(100);
    header.rate_hz = rate_hz;
    expect_refused(header, samples);
  }
  header = sound(std::numeric_limits<int>::max());
  header.frames = std::numeric_limits<int64_t>::max();
  expect_refused(header, samples);
  header = sound(100);
  header.only_channel = 1;
  expect_refused(header, samples);
  header = {.exit_code = 65, .message_bytes = 0xffffffff, .hint_bytes = 0xffffffff};
  expect_refused(header, samples);
}

TEST_F(Malicious, ErrorsAreMadePrintable) {
  const std::string text = "a\x1b[31m\nb";
  const ResultHeader header{.exit_code = 65, .message_bytes = static_cast<uint32_t>(text.size())};
  write_bytes("forged", std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + text);
  const DecodeLimits child = limits("cat " + upload("forged").string() + " >&4");
  EXPECT_THAT(error_of(file_, child), HasSubstr("a [31m b"));
}

TEST_F(Malicious, EveryEndOfAChildHasItsReason) {
  const struct {
    const char* commands;
    const char* reason;
    ExitCode code;
  } rows[] = {{"exit 0", "nonsense", ExitCode::kBadData},
              {"exit 3", "code 3", ExitCode::kUnavailable},
              {"kill -SEGV $$", "crashed", ExitCode::kBadData},
              {"kill -SYS $$", "what no sound file needs", ExitCode::kBadData},
              {"kill -XCPU $$", "more than 60 s", ExitCode::kBadData},
              {"kill -XFSZ $$", "of samples", ExitCode::kBadData},
              {"kill -KILL $$", "the machine", ExitCode::kTemporary}};
  for (const auto& row : rows) {
    EXPECT_THAT(error_of(file_, limits(row.commands)), HasSubstr(row.reason)) << row.commands;
    EXPECT_EQ(code_, row.code) << row.commands;
  }
}

TEST_F(Malicious, AChildIsGoneAfterItsTime) {
  DecodeLimits slow = limits("exec sleep 60");
  slow.wall_time = std::chrono::milliseconds(300);
  EXPECT_THAT(error_of(file_, slow), HasSubstr("not decoded within"));
  EXPECT_EQ(code_, ExitCode::kTemporary);
}

}  // namespace
}  // namespace hum::decode
