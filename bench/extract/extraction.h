// `hum data extract` as the bars run it, and music for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hum::bench {

struct MusicFile {
  double seconds = 0;
  std::string extension = ".wav";  // .wav, .flac or .mp3
  int channels = 2;
};

// Writes 000.wav, 001.flac, ... into `folder`. In each, FluidSynth plays a melody, chords and a
// bass, at 44,100 Hz. The same files give the same sound. Returns their paths.
std::vector<std::filesystem::path> write_music(const std::filesystem::path& folder,
                                               std::span<const MusicFile> files);

// Writes a mono wav at 44,100 Hz that repeats a file of write_music, without holding it in memory.
void write_repeated(const std::filesystem::path& path, const std::filesystem::path& piece,
                    int repeats);

// Runs `hum data extract ARGUMENTS` in this many processes at once, to their end. Throws: kFailure
// with its log if one fails.
void extract_in(int processes, const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& environment = {});

// How many files of samples differ: those of one folder alone, and those with other hashes.
int64_t differing_files(const std::map<std::string, std::string>& expected,
                        const std::map<std::string, std::string>& files);

}  // namespace hum::bench
