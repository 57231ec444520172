#include "bench/extract/extraction.h"

#include <array>
#include <fstream>
#include <memory>

#include "audio/io.h"
#include "audio/resample.h"
#include "base/error.h"
#include "base/files.h"
#include "base/scratch_folder.h"
#include "base/testing/process.h"
#include "bench/locations.h"
#include "data/shards/array_files.h"
#include "data/synthesis/fluid.h"
#include "data/synthesis/melody.h"
#include "data/synthesis/timing.h"

namespace hum::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRate_hz = 44100;
constexpr uint64_t kSeed = 29;

struct Player {
  const char* preset;
  float left, right;  // gains
};
// Who plays together.
using Band = std::array<Player, 3>;
constexpr std::array<Band, 4> kBands = {{
    {{{"violin", 0.6F, 0.3F}, {"acoustic-grand-piano", 0.3F, 0.5F}, {"acoustic-bass", 0.4F, 0.4F}}},
    {{{"flute", 0.3F, 0.6F}, {"nylon-guitar", 0.5F, 0.3F}, {"finger-bass", 0.4F, 0.4F}}},
    {{{"trumpet", 0.5F, 0.4F}, {"drawbar-organ", 0.2F, 0.4F}, {"pick-bass", 0.4F, 0.4F}}},
    {{{"choir-aahs", 0.4F, 0.4F}, {"harp", 0.5F, 0.2F}, {"cello", 0.3F, 0.5F}}},
}};

// Stereo at 22,050 Hz.
audio::AudioBuffer play(data::FluidRenderer& renderer, const Band& band, uint64_t index,
                        double seconds) {
  audio::AudioBuffer music{data::kSampleRate, 2, {}};
  for (size_t i = 0; i < band.size(); ++i) {
    const data::Preset& preset = data::find_preset(band[i].preset);
    const auto melody =
        data::make_melody(kSeed, band.size() * index + i, preset, {.seconds = seconds});
    const auto sound = renderer.render(melody.notes, preset.program, seconds);
    music.samples.resize(2 * sound.size());
    for (size_t at = 0; at < sound.size(); ++at) {
      music.samples[2 * at] += band[i].left * sound[at];
      music.samples[2 * at + 1] += band[i].right * sound[at];
    }
  }
  return music;
}

// The 44 bytes before the samples of a mono file in 16 bits. Throws if it would be too long.
std::string wav_header(uint64_t data_bytes) {
  constexpr uint32_t kSampleBytes = 2, kHeaderBytes = 36;
  HUM_REQUIRE(data_bytes + kHeaderBytes < (uint64_t{1} << 32), "a wav of {} bytes", data_bytes);
  std::string header;
  const auto add = [&](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) header += static_cast<char>(value >> (8 * i) & 0xff);
  };
  header += "RIFF";
  add(data_bytes + kHeaderBytes, 4);
  header += "WAVEfmt ";
  add(16, 4);
  add(1, 2);  // PCM
  add(1, 2);  // channels
  add(kRate_hz, 4);
  add(uint64_t{kRate_hz} * kSampleBytes, 4);
  add(kSampleBytes, 2);
  add(8 * kSampleBytes, 2);
  header += "data";
  add(data_bytes, 4);
  return header;
}

}  // namespace

std::vector<fs::path> write_music(const fs::path& folder, std::span<const MusicFile> files) {
  create_folder(folder);
  data::FluidRenderer renderer;
  std::vector<fs::path> paths;
  for (size_t i = 0; i < files.size(); ++i) {
    const MusicFile& file = files[i];
    audio::AudioBuffer music = play(renderer, kBands[i % kBands.size()], i, file.seconds);
    if (file.channels == 1) music = audio::to_mono(music);
    paths.push_back(folder / fmt::format("{:03}{}", i, file.extension));
    audio::write_audio(paths.back(), audio::resample(music, kRate_hz));
  }
  return paths;
}

void write_repeated(const fs::path& path, const fs::path& piece, int repeats) {
  const audio::AudioBuffer sound = audio::to_mono(audio::read_audio(piece));
  HUM_REQUIRE(sound.rate_hz == kRate_hz, "{} has {} Hz", piece.string(), sound.rate_hz);
  const std::vector<int16_t> samples = data::to_int16(sound.samples);
  const auto bytes = static_cast<std::streamsize>(samples.size() * sizeof(int16_t));
  std::ofstream out(path, std::ios::binary);
  out << wav_header(static_cast<uint64_t>(bytes) * static_cast<uint64_t>(repeats));
  for (int i = 0; i < repeats; ++i) {
    out.write(reinterpret_cast<const char*>(samples.data()), bytes);
  }
  out.close();
  HUM_REQUIRE(out.good(), "{} cannot be written", path.string());
}

void extract_in(int processes, const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& environment) {
  const ScratchFolder folder;
  const fs::path log = folder.path() / "log";
  std::vector<std::string> command = {kHumProgram, "data", "extract"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::unique_ptr<testing::Process>> running;
  for (int i = 0; i < processes; ++i) {
    running.push_back(std::make_unique<testing::Process>(
        command, testing::ProcessOptions{.environment = environment, .err = log}));
  }
  for (const auto& process : running) {
    process->rest();
    if (process->wait() != 0) fail(ExitCode::kFailure, "hum data extract: " + read_file(log));
  }
}

int64_t differing_files(const std::map<std::string, std::string>& expected,
                        const std::map<std::string, std::string>& files) {
  int64_t count = 0;
  for (const auto& [name, hash] : expected) {
    const auto found = files.find(name);
    count += found == files.end() || found->second != hash ? 1 : 0;
  }
  for (const auto& [name, hash] : files) count += expected.contains(name) ? 0 : 1;
  return count;
}

}  // namespace hum::bench
