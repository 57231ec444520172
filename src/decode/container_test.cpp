#include "decode/container.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "audio/test_signal.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "decode/confined.h"
#include "decode/read.h"

namespace hum::decode {
namespace {
namespace fs = std::filesystem;
using audio::AudioBuffer;
using ::testing::HasSubstr;

std::string box(const std::string& type, const std::string& content) {
  std::string size(4, '\0');
  for (size_t i = 0; i < 4; ++i) size[3 - i] = static_cast<char>((content.size() + 8) >> (8 * i));
  return size + type + content;
}

TEST(Container, IsKnownByItsFirstBytes) {
  EXPECT_EQ(container_of(box("ftyp", "M4A aaaa")), Container::kMp4);
  EXPECT_EQ(container_of("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81"), Container::kMatroska);
  EXPECT_EQ(container_of("RIFFaaaaWAVE"), Container::kNone);
  EXPECT_EQ(container_of("ftyp"), Container::kNone);
  EXPECT_EQ(container_of(""), Container::kNone);
}

TEST(Container, AnMp4WithoutItsEndOrIndexIsCutOff) {
  const std::string head = box("ftyp", "M4A aaaa"), index = box("moov", "index"),
                    sound = box("mdat", "the sound itself");
  const std::string whole = head + index + sound;
  EXPECT_FALSE(is_cut_off(Container::kMp4, whole));
  EXPECT_FALSE(is_cut_off(Container::kMp4, head + sound + index));
  for (size_t size = head.size(); size < whole.size(); ++size) {
    const bool is_at_border = size == head.size() + index.size();
    const std::string cut = whole.substr(0, size);
    // Less than a header behind the index may be padding.
    if (size > head.size() + index.size() && size < head.size() + index.size() + 8) continue;
    EXPECT_EQ(is_cut_off(Container::kMp4, cut), !is_at_border) << size;
  }
  EXPECT_TRUE(is_cut_off(Container::kMp4, head + sound));
  const std::string open_end("\0\0\0\0mdat the rest", 17);
  EXPECT_FALSE(is_cut_off(Container::kMp4, head + index + open_end));
  EXPECT_TRUE(is_cut_off(Container::kMp4, head + open_end));
  const std::string long_size("\0\0\0\1mdat\0\0\0\0\0\0\0\x12zz", 18);
  EXPECT_FALSE(is_cut_off(Container::kMp4, head + index + long_size));
  EXPECT_TRUE(is_cut_off(Container::kMp4, head + index + long_size.substr(0, 17)));
  const std::string endless("\0\0\0\1mdat\0\0\0\0\0\0\0\0zz", 18);  // a size of zero never ends
  EXPECT_FALSE(is_cut_off(Container::kMp4, head + index + endless));
}

TEST(Container, AWebmIsCutOffInsideAnElement) {
  const std::string header("\x1a\x45\xdf\xa3\x84wxyz", 9);
  const std::string block("\xa3\x86sounds", 8);
  const std::string open_segment("\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff", 12);
  const std::string open_cluster("\x1f\x43\xb6\x75\xff", 5);
  const std::string live = header + open_segment + open_cluster + block + block;
  EXPECT_FALSE(is_cut_off(Container::kMatroska, live));
  for (size_t left = 1; left < block.size(); ++left) {
    EXPECT_TRUE(is_cut_off(Container::kMatroska, live.substr(0, live.size() - left))) << left;
  }
  const std::string sized_segment("\x18\x53\x80\x67\x95", 5);
  const std::string sized = header + sized_segment + open_cluster + block + block;
  EXPECT_FALSE(is_cut_off(Container::kMatroska, sized));
  // Between two blocks, too, for the segment states its size.
  EXPECT_TRUE(is_cut_off(Container::kMatroska, sized.substr(0, sized.size() - block.size())));
  EXPECT_FALSE(is_cut_off(Container::kMatroska, header + std::string(20, '\0')));
}

// Files that the installed ffmpeg makes.
class Ffmpeg : public ::testing::Test {
 protected:
  void SetUp() override {
    const AudioBuffer sound = audio::from_mono(audio::tone(220, 3, 48000), 48000, 2);
    audio::write_audio(file("sound.wav"), sound);
  }
  void TearDown() override {
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    EXPECT_TRUE(fs::is_empty(out_.path()));
  }

  std::string file(const std::string& name) { return folder_ / name; }
  // Runs ffmpeg outside any sandbox.
  std::string convert(const std::string& from, const std::string& options, const std::string& to) {
    const std::string command = fmt::format("ffmpeg -v error -y {} {} {}", from, options, file(to));
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return file(to);
  }
  std::string sound_as(const std::string& options, const std::string& to) {
    return convert("-i " + file("sound.wav"), options, to);
  }
  AudioBuffer decode(const fs::path& path, const DecodeLimits& limits = {}) {
    const fs::path wav = out_.path() / "sound.wav";
    decode_confined(path, wav, limits);
    AudioBuffer sound = audio::read_audio(wav);
    fs::remove(wav);
    return sound;
  }
  void expect_error(const fs::path& path, ExitCode code, const std::string& reason,
                    const DecodeLimits& limits = {}) {
    try {
      decode(path, limits);
      ADD_FAILURE() << path << ": nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), HasSubstr(reason)) << path;
    }
  }

  ScratchFolder folder_, out_;
};

TEST_F(Ffmpeg, WebmAndM4aGiveTheSamplesThatFfmpegDecodes) {
  const std::string files[] = {sound_as("-c:a libopus", "a.webm"),
                               sound_as("-c:a libopus -f webm -live 1", "b.webm"),
                               sound_as("-c:a aac", "c.m4a"),
                               sound_as("-c:a aac -movflags +faststart", "d.mp4"),
                               sound_as("-c:a aac -ac 1 -ar 22050", "e.m4a"),
                               sound_as("-c:a alac", "f.m4a"),
                               sound_as("-c:a libvorbis", "g.mkv")};
  for (const std::string& path : files) {
    const std::string plain = convert("-i " + path, "-c:a pcm_f32le", "plain.wav");
    const AudioBuffer expected = audio::read_audio(plain), sound = decode(path, {.mono = false});
    EXPECT_EQ(sound.rate_hz, expected.rate_hz) << path;
    EXPECT_EQ(sound.channels, expected.channels) << path;
    EXPECT_TRUE(sound.samples == expected.samples) << path;
    EXPECT_NEAR(sound.seconds(), 3, 0.1) << path;
    EXPECT_TRUE(decode(path).samples == audio::read_mono(plain).samples) << path;
  }
}

TEST_F(Ffmpeg, CutOffAndDamagedFilesAreRefused) {
  for (const std::string& path : {sound_as("-c:a libopus", "a.webm"), sound_as("-c:a aac", "b.m4a"),
                                  sound_as("-c:a aac -movflags +faststart", "c.mp4")}) {
    const std::string bytes = read_file(path);
    for (const double part : {0.1, 0.5, 0.95}) {
      const auto size = static_cast<size_t>(part * static_cast<double>(bytes.size()));
      write_file(file("cut"), bytes.substr(0, size));
      expect_error(file("cut"), ExitCode::kBadData, "the recording is truncated");
    }
  }
  write_file(file("junk"), box("ftyp", "M4A aaaa") + box("moov", std::string(500, 'x')));
  expect_error(file("junk"), ExitCode::kBadData, "a damaged m4a file");
}

TEST_F(Ffmpeg, WithoutSoundOrTooLongFilesAreRefused) {
  const std::string film = convert("-f lavfi -i color=c=red:s=64x64:d=1", "-c:v mpeg4", "a.mp4");
  expect_error(film, ExitCode::kBadData, "without sound");
  expect_error(sound_as("-c:a aac", "b.m4a"), ExitCode::kBadData, "longer than the limit of 2 s",
               {.max_seconds = 2});
  expect_error(file("b.m4a"), ExitCode::kBadData, "of samples", {.result_bytes = 100'000});
}

TEST_F(Ffmpeg, AFileCannotMakeItReadAnother) {
  // A playlist is no mp4, whatever ffmpeg would take it for.
  write_file(file("list"),
             box("ftyp", "M4A aaaa") + "#EXTM3U\n#EXTINF:1,\nfile://" + file("sound.wav") + "\n");
  expect_error(file("list"), ExitCode::kBadData, "");
  write_file(file("concat"), "ffconcat version 1.0\nfile '" + file("sound.wav") + "'\n");
  expect_error(file("concat"), ExitCode::kBadData, "not a sound file");
}

TEST_F(Ffmpeg, FilesOfCommandsAreReadAsWavFilesAre) {
  constexpr double kMost_s = 10;
  for (const std::string& path :
       {sound_as("-c:a aac", "a.m4a"), sound_as("-c:a libopus", "b.webm")}) {
    const std::string plain = convert("-i " + path, "-c:a pcm_f32le", "plain.wav");
    EXPECT_TRUE(read_audio(path, kMost_s).samples == audio::read_audio(plain).samples) << path;
    audio::SourceFormat source, expected;
    const AudioBuffer mono = hum::decode::read_mono(path, kMost_s, &source);
    EXPECT_TRUE(mono.samples == audio::read_mono(plain, kMost_s, &expected).samples) << path;
    EXPECT_EQ(mono.rate_hz, expected.rate_hz) << path;
    EXPECT_EQ(source.channels, expected.channels) << path;
    EXPECT_TRUE(read_recording(path, kMost_s).samples == read_recording(plain, kMost_s).samples)
        << path;
    fs::path copy;
    {
      const ReadableFile readable(path, kMost_s);
      copy = readable.path();
      EXPECT_NE(copy, path);
      EXPECT_TRUE(fs::exists(copy));
    }
    EXPECT_FALSE(fs::exists(copy));
  }
  EXPECT_EQ(ReadableFile(file("sound.wav"), kMost_s).path(), file("sound.wav"));
  EXPECT_THAT([&] { read_recording(file("a.m4a"), 2); },
              ::testing::Throws<Error>(::testing::Property(
                  &Error::what, ::testing::AllOf(HasSubstr("a.m4a"), HasSubstr("limit of 2 s"),
                                                 HasSubstr("raise --max-seconds")))));
}

TEST_F(Ffmpeg, WithoutItTheErrorSaysWhatToDo) {
  const std::string path = sound_as("-c:a libopus", "a.webm");
  for (const char* ffmpeg : {"/nonexistent/ffmpeg", "no-such-ffmpeg"}) {
    expect_error(path, ExitCode::kUnavailable, "only the ffmpeg program can read",
                 {.ffmpeg = ffmpeg});
    expect_error(path, ExitCode::kUnavailable, "use wav, flac, ogg or mp3", {.ffmpeg = ffmpeg});
  }
  // Other formats do not need it.
  EXPECT_EQ(decode(file("sound.wav"), {.ffmpeg = "no-such-ffmpeg"}).frames(), 3 * 48000);
}

}  // namespace
}  // namespace hum::decode
