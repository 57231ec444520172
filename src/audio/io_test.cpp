#include "audio/io.h"

#include <gmock/gmock.h>
#include <sndfile.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include "audio/sound_blocks.h"
#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/rng.h"

namespace hum::audio {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Io : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  ExitCode code_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      message_ = error.what();
      return error.code();
    }
    return ExitCode::kOk;
  }
  ExitCode code_of_reading(const fs::path& path, double max_seconds = kDefaultMaxSeconds) {
    return code_of([&] { read_audio(path, max_seconds); });
  }
  // Only `names` are left in the folder: no half-written file.
  void expect_only(const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename());
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(names));
  }
  fs::path cut(const fs::path& path, double fraction) {
    const std::string bytes = read_file(path);
    const fs::path result = folder_ / ("cut" + path.extension().string());
    std::ofstream(result, std::ios::binary)
        << bytes.substr(0, static_cast<size_t>(fraction * static_cast<double>(bytes.size())));
    return result;
  }

  // The size of the file and of its samples in a WAV's header.
  static void set_sizes(const fs::path& path, uint32_t size) {
    std::string bytes = read_file(path);
    for (const size_t at : {size_t{4}, bytes.find("data") + 4}) {
      std::memcpy(bytes.data() + at, &size, sizeof size);
    }
    write_file(path, bytes);
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("hum-io-" + std::to_string(::getpid()));
  std::string message_;
};

double largest_difference(const AudioBuffer& a, const AudioBuffer& b) {
  EXPECT_EQ(a.samples.size(), b.samples.size());
  double difference = 0;
  for (size_t i = 0; i < std::min(a.samples.size(), b.samples.size()); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a.samples[i] - b.samples[i])));
  }
  return difference;
}

TEST_F(Io, RoundTripsKeepSamplesRateAndChannels) {
  const struct {
    const char* name;
    SampleFormat format;
    double tolerance;
  } rows[] = {{"a.wav", SampleFormat::k16, 5e-5},  {"b.wav", SampleFormat::k24, 3e-7},
              {"c.wav", SampleFormat::kFloat, 0},  {"d.flac", SampleFormat::k16, 5e-5},
              {"e.flac", SampleFormat::k24, 3e-7}, {"f.ogg", SampleFormat::k16, 0.1},
              {"g.WAV", SampleFormat::k16, 5e-5}};
  for (const auto& row : rows) {
    for (const int channels : {1, 2}) {
      const AudioBuffer sound = from_mono(test_signal(30011, 22050), 22050, channels);
      write_audio(folder_ / row.name, sound, row.format);
      const AudioBuffer read = read_audio(folder_ / row.name);
      EXPECT_EQ(read.rate_hz, 22050);
      EXPECT_EQ(read.channels, channels);
      EXPECT_LE(largest_difference(read, sound), row.tolerance) << row.name;
    }
  }
}

TEST_F(Io, EqualSoundGivesEqualFloatFiles) {
  const AudioBuffer sound = from_mono(test_signal(1000, 22050), 22050);
  write_audio(folder_ / "a.wav", sound, SampleFormat::kFloat);
  ::sleep(1);
  write_audio(folder_ / "b.wav", sound, SampleFormat::kFloat);
  EXPECT_EQ(sha256_file(folder_ / "a.wav"), sha256_file(folder_ / "b.wav"));
}

TEST_F(Io, LoudSamplesAreClippedNotWrapped) {
  write_audio(folder_ / "a.wav", {22050, 1, {1.5f, -1.5f, 0.5f}});
  const AudioBuffer read = read_audio(folder_ / "a.wav");
  EXPECT_NEAR(read.samples[0], 1, 1e-4);
  EXPECT_NEAR(read.samples[1], -1, 1e-4);
}

TEST_F(Io, EightChannelsAt192KilohertzWork) {
  const AudioBuffer sound = from_mono(test_signal(20000, 192000), 192000, 8);
  write_audio(folder_ / "a.wav", sound, SampleFormat::k24);
  const AudioBuffer read = read_audio(folder_ / "a.wav");
  EXPECT_EQ(read.channels, 8);
  EXPECT_EQ(read.rate_hz, 192000);
  const AudioBuffer mono = read_mono(folder_ / "a.wav");
  EXPECT_EQ(mono.channels, 1);
  EXPECT_LT(largest_difference(mono, to_mono(sound)), 1e-6);
}

TEST_F(Io, Mp3IsWrittenAndRead) {
  const fs::path path = folder_ / "a.mp3";
  for (const int rate_hz : {22050, 44100, 48000}) {
    for (const int channels : {1, 2}) {
      const auto signal = tone(440, 1, rate_hz);
      write_audio(path, from_mono(signal, rate_hz, channels));
      const AudioBuffer read = read_audio(path);
      EXPECT_EQ(read.rate_hz, rate_hz);
      EXPECT_EQ(read.channels, channels);
      // No encoder delay: loops and takes stay in time.
      ASSERT_EQ(read.frames(), static_cast<int64_t>(signal.size()));
      EXPECT_LT(largest_difference(read, from_mono(signal, rate_hz, channels)), 0.1);
    }
  }
  EXPECT_EQ(code_of_reading(cut(path, 0.5)), ExitCode::kBadData);
}

TEST_F(Io, ToMonoIsTheMeanOfTheChannels) {
  EXPECT_EQ(to_mono({8000, 2, {1, 0, 0.5f, -0.5f}}).samples, (std::vector<float>{0.5f, 0}));
}

TEST_F(Io, MissingEmptyAndForeignFilesAreToldApart) {
  EXPECT_EQ(code_of_reading(folder_ / "none.wav"), ExitCode::kNoInput);
  EXPECT_EQ(code_of_reading(folder_), ExitCode::kNoInput);
  std::ofstream(folder_ / "empty.wav").close();
  EXPECT_EQ(code_of_reading(folder_ / "empty.wav"), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("empty"));
  std::ofstream(folder_ / "text.wav") << "these are words, not sound, and there are some of them";
  EXPECT_EQ(code_of_reading(folder_ / "text.wav"), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("hint: "));
  write_audio(folder_ / "silent.wav", {22050, 1, {}});
  EXPECT_EQ(code_of_reading(folder_ / "silent.wav"), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("no sound"));
}

TEST_F(Io, FilesThatWereCutOffAreRefused) {
  const AudioBuffer sound = from_mono(test_signal(100000, 22050), 22050);
  for (const char* name : {"a.wav", "a.flac", "a.ogg"}) {
    write_audio(folder_ / name, sound);
    for (const double fraction : {0.0005, 0.3, 0.7, 0.99}) {
      EXPECT_EQ(code_of_reading(cut(folder_ / name, fraction)), ExitCode::kBadData)
          << name << " " << fraction;
    }
    EXPECT_THAT(message_, HasSubstr("truncated"));
  }
}

// As arecord, SoX and ffmpeg write to a pipe.
TEST_F(Io, WavsOfUnknownSizeAreReadToTheirEnd) {
  const AudioBuffer sound = from_mono(test_signal(3000, 22050), 22050);
  for (const uint32_t size : {0x7ffff000U, 0x80000000U, 0xffffffffU}) {
    write_audio(folder_ / "a.wav", sound);
    set_sizes(folder_ / "a.wav", size);
    EXPECT_EQ(read_audio(folder_ / "a.wav").samples.size(), sound.samples.size()) << size;
  }
  set_sizes(folder_ / "a.wav", 0);
  EXPECT_EQ(code_of_reading(folder_ / "a.wav"), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("its recorder was stopped too early"));
}

TEST_F(Io, Mp3FilesThatWereCutOffAreRefusedQuietly) {
  const fs::path path = folder_ / "a.mp3";
  write_audio(path, from_mono(test_signal(100000, 22050), 22050));
  ::testing::internal::CaptureStderr();
  for (const double fraction : {0.001, 0.01, 0.05, 0.5, 0.99}) {
    EXPECT_EQ(code_of_reading(cut(path, fraction)), ExitCode::kBadData) << fraction;
    EXPECT_THAT(message_, HasSubstr("truncated"));
    EXPECT_THAT(message_, ::testing::Not(HasSubstr("exist")));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Io, OfChannelsThatCancelEachOtherTheLoudestIsRead) {
  AudioBuffer sound{22050, 2, {}};
  for (const float sample : tone(220, 1, 22050, 0.4)) {
    sound.samples.insert(sound.samples.end(), {-0.9F * sample, sample});
  }
  write_audio(folder_ / "a.wav", sound, SampleFormat::kFloat);
  SourceFormat format;
  const AudioBuffer mono = read_mono(folder_ / "a.wav", 10, &format);
  EXPECT_EQ(format.only_channel, 1);
  EXPECT_EQ(mono.samples, tone(220, 1, 22050, 0.4));
  // One channel that sounds beside seven that do not is no cancellation.
  AudioBuffer eight{22050, 8, std::vector<float>(8 * 1000)};
  for (size_t i = 0; i < 1000; ++i) eight.samples[8 * i + 3] = 0.5F;
  write_audio(folder_ / "b.wav", eight, SampleFormat::kFloat);
  read_mono(folder_ / "b.wav", 10, &format);
  EXPECT_EQ(format.only_channel, std::nullopt);
}

TEST_F(Io, DamagedFilesAreReadOrRefusedButNeverCrash) {
  Rng rng(5, "sound damage");
  const AudioBuffer sound = from_mono(test_signal(3000, 22050), 22050);
  // Not ogg: libsndfile 1.2 leaks its Vorbis state on damaged headers, which the leak checker would
  // report.
  for (const char* name : {"a.wav", "a.flac"}) {
    write_audio(folder_ / name, sound);
    const std::string whole = read_file(folder_ / name);
    const auto header = std::min<int64_t>(120, static_cast<int64_t>(whole.size()) - 1);
    for (int round = 0; round < 200; ++round) {
      std::string bytes = whole;
      for (int64_t flips = rng.integer(1, 4); flips > 0; --flips) {
        bytes[static_cast<size_t>(rng.integer(0, header))] = static_cast<char>(rng.integer(0, 255));
      }
      const fs::path path = folder_ / ("damaged" + fs::path(name).extension().string());
      std::ofstream(path, std::ios::binary) << bytes;
      const ExitCode code = code_of_reading(path);
      ASSERT_TRUE(code == ExitCode::kOk || code == ExitCode::kBadData) << message_;
    }
  }
}

TEST_F(Io, AFileInMemoryGivesTheSameSamples) {
  for (const char* name : {"a.wav", "a.flac", "a.ogg", "a.mp3"}) {
    write_audio(folder_ / name, from_mono(test_signal(70000, 44100), 44100, 2));
  }
  // An mp3 without the frame that states its length.
  std::string mp3 = read_file(folder_ / "a.mp3");
  for (const char* tag : {"Xing", "Info"}) {
    if (const size_t at = mp3.find(tag); at < 500) mp3.replace(at, 4, 4, '\0');
  }
  std::ofstream(folder_ / "b.mp3", std::ios::binary) << mp3;
  // The sum of its channels is silence, so that one of them is read.
  AudioBuffer opposite{44100, 2, {}};
  for (const float sample : test_signal(70000, 44100)) {
    opposite.samples.insert(opposite.samples.end(), {sample, -sample});
  }
  write_audio(folder_ / "c.flac", opposite);
  for (const char* name : {"a.wav", "a.flac", "a.ogg", "a.mp3", "b.mp3", "c.flac"}) {
    const std::string bytes = read_file(folder_ / name);
    const SoundBytes file{bytes, name, "", ""};
    std::vector<float> samples;
    const SoundSink sink = [&](const AudioBuffer& block) {
      samples.insert(samples.end(), block.samples.begin(), block.samples.end());
    };
    stream_audio(file, 10, sink);
    EXPECT_TRUE(samples == read_audio(folder_ / name).samples) << name;
    samples.clear();
    SourceFormat format;
    const AudioBuffer mono = read_mono(folder_ / name, 10, &format);
    const SourceFormat streamed = stream_mono(file, 10, sink, [&] { samples.clear(); });
    EXPECT_TRUE(samples == mono.samples) << name;
    EXPECT_EQ(streamed.only_channel, format.only_channel) << name;
    EXPECT_EQ(streamed.clipped_fraction, format.clipped_fraction) << name;
  }
}

TEST_F(Io, AFileInMemoryIsRefusedInItsOwnWords) {
  const auto code_of_bytes = [&](std::string_view bytes, double max_seconds) {
    const SoundBytes file{bytes, "the clip", "upload a wav", "upload less"};
    return code_of([&] { stream_audio(file, max_seconds, [](const AudioBuffer&) {}); });
  };
  EXPECT_EQ(code_of_bytes("", 1), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("the clip: is empty"));
  EXPECT_EQ(code_of_bytes("these are words, not sound, and there are some", 1), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("hint: upload a wav"));
  write_audio(folder_ / "a.wav", from_mono(test_signal(22050, 22050), 22050));
  const std::string bytes = read_file(folder_ / "a.wav");
  EXPECT_EQ(code_of_bytes(bytes, 2), ExitCode::kOk);
  EXPECT_EQ(code_of_bytes(bytes, 0.5), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("hint: upload less"));
  EXPECT_EQ(code_of_bytes(std::string_view(bytes).substr(0, 20000), 2), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("the clip: the file is truncated"));
}

TEST_F(Io, StreamedWavWithoutASizeIsRead) {
  write_audio(folder_ / "a.wav", from_mono(test_signal(1000, 22050), 22050));
  std::string bytes = read_file(folder_ / "a.wav");
  for (const size_t field : {size_t{4}, bytes.find("data") + 4}) bytes.replace(field, 4, 4, '\xff');
  std::ofstream(folder_ / "pipe.wav", std::ios::binary) << bytes;
  EXPECT_EQ(read_audio(folder_ / "pipe.wav").frames(), 1000);
}

TEST_F(Io, SamplesThatAreNotFiniteAreCounted) {
  AudioBuffer sound = from_mono(test_signal(1000, 22050), 22050);
  sound.samples[3] = std::numeric_limits<float>::quiet_NaN();
  sound.samples[7] = std::numeric_limits<float>::infinity();
  write_audio(folder_ / "a.wav", sound, SampleFormat::kFloat);
  EXPECT_EQ(code_of_reading(folder_ / "a.wav"), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("2 of 1000 samples"));
}

TEST_F(Io, TheLimitOnLengthNamesItsFlag) {
  write_audio(folder_ / "a.wav", from_mono(test_signal(22050, 22050), 22050));
  EXPECT_EQ(code_of_reading(folder_ / "a.wav", 1), ExitCode::kOk);
  EXPECT_EQ(code_of_reading(folder_ / "a.wav", 0.99), ExitCode::kBadData);
  EXPECT_THAT(message_, HasSubstr("--max-seconds"));
}

TEST_F(Io, OnlyFlatTopsCountAsClipped) {
  auto clean = tone(220, 1, 22050, 1.0), hot = tone(220, 1, 22050, 1.5);
  for (float& sample : hot) sample = std::clamp(sample, -1.0f, 1.0f);
  EXPECT_LT(clipped_fraction(from_mono(clean, 22050)), 1e-3);
  EXPECT_NEAR(clipped_fraction(from_mono(hot, 22050, 2)), 0.53, 0.03);
  EXPECT_EQ(clipped_fraction({22050, 1, {}}), 0);
}

TEST_F(Io, AWavThatIsTooLongIsRefusedAtOnce) {
  constexpr int64_t kFrames = int64_t{1} << 30;  // 4 GiB in stereo with 16 bits
  const auto check = [&](const char* name, std::optional<int64_t> frames) {
    return code_of([&] { require_length(name, 2, SampleFormat::k16, frames); });
  };
  EXPECT_EQ(check("a.wav", kFrames), ExitCode::kUsage);
  EXPECT_EQ(check("a.wav", kFrames - 2048), ExitCode::kOk);
  EXPECT_EQ(check("a.wav", std::nullopt), ExitCode::kOk);
  EXPECT_EQ(check("a.flac", kFrames), ExitCode::kOk);
}

TEST_F(Io, UnknownExtensionsAndFormatsAreRefused) {
  const AudioBuffer sound = from_mono(test_signal(100, 22050), 22050);
  EXPECT_EQ(code_of([&] { write_audio(folder_ / "a.xyz", sound); }), ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { write_audio(folder_ / "a.flac", sound, SampleFormat::kFloat); }),
            ExitCode::kUsage);
  EXPECT_EQ(code_of([&] { write_audio(folder_ / "none" / "a.wav", sound); }),
            ExitCode::kCannotCreate);
  expect_only({});
}

TEST_F(Io, ReadsAndWritesBlockByBlock) {
  const AudioBuffer sound{44100, 2, test_signal(100000, 44100)};
  {
    SoundWriter writer(folder_ / "a.wav", 44100, 2, SampleFormat::kFloat);
    const auto samples = std::span(sound.samples);
    for (size_t at = 0; at < samples.size(); at += 30000) {
      writer.write(samples.subspan(at, std::min<size_t>(30000, samples.size() - at)));
    }
    EXPECT_FALSE(fs::exists(folder_ / "a.wav"));
    writer.commit();
  }
  expect_only({"a.wav"});
  SoundReader reader(folder_ / "a.wav");
  EXPECT_EQ(reader.rate_hz(), 44100);
  EXPECT_EQ(reader.channels(), 2);
  EXPECT_EQ(reader.frames(), 50000);
  std::vector<float> read;
  for (auto block = reader.next(); !block.empty(); block = reader.next()) {
    read.insert(read.end(), block.begin(), block.end());
  }
  EXPECT_EQ(read, sound.samples);
  EXPECT_EQ(code_of([&] { SoundReader(folder_ / "none.wav"); }), ExitCode::kNoInput);
}

TEST_F(Io, LeavesNothingOfAWriterThatIsNotDone) {
  {
    SoundWriter writer(folder_ / "a.flac", 44100, 1);
    writer.write(test_signal(5000, 44100));
  }
  expect_only({});
}

// A limit on file size simulates a full disk: writes fail half way.
TEST_F(Io, AFullDiskLeavesTheOldFileWhole) {
  for (const char* name : {"a.wav", "a.flac", "a.ogg"}) {
    const fs::path path = folder_ / name;
    write_audio(path, from_mono(test_signal(2000, 22050), 22050));
    const std::string before = sha256_file(path);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    struct rlimit old {};
    getrlimit(RLIMIT_FSIZE, &old);
    const struct rlimit small { 20000, old.rlim_max };
    setrlimit(RLIMIT_FSIZE, &small);
    const ExitCode code =
        code_of([&] { write_audio(path, from_mono(test_signal(400000, 22050), 22050)); });
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(code, ExitCode::kCannotCreate) << name;
    EXPECT_EQ(sha256_file(path), before) << name;
  }
  expect_only({"a.wav", "a.flac", "a.ogg"});
}

}  // namespace
}  // namespace hum::audio
